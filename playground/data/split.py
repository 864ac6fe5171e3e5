"""Rows for training and rows held out: never the same row in both."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import NamedTuple

from playground.catalog.datasets import DatasetEntry
from playground.config import RunConfig, SettingsError
from playground.data.rows import Row, read_hub_rows, read_rows

HELD_OUT_SHARE = 0.1
"""At most this share of a dataset without an evaluation file of its own is held out."""


class Split(NamedTuple):
    """Training rows, held-out rows, and how many were read and left out as duplicates."""

    train: list[Row]
    eval: list[Row]
    counts: dict[str, int]


def load_split(entry: DatasetEntry, config: RunConfig) -> Split:
    """Reads a dataset and divides it, the same way for every run with this configuration.

    A dataset with an evaluation file is taken as it is, less what its evaluation shares with its
    training rows. Any other is shuffled by the seed and split; copies of a row stay on one side.

    Raises:
        SettingsError: it cannot be read, or too few rows are left to hold one out.
    """
    limit, eval_limit = config.data.train_rows, config.data.eval_rows
    if entry.eval_path is not None:
        train = read_rows(entry.train_path, limit=limit)
        held_out = read_rows(entry.eval_path)
        seen = {_identity(row) for row in train}
        evaluation = [row for row in held_out if _identity(row) not in seen]
        if not evaluation:
            raise SettingsError(
                f"Every evaluation row of dataset '{entry.id}' is also a training row; "
                "give it held-out rows of its own."
            )
        read, duplicates = len(train) + len(held_out), len(held_out) - len(evaluation)
        evaluation = evaluation[:eval_limit]
    else:
        rows = _all_rows(entry)
        train, evaluation = hold_out(rows, eval_limit, config.training.seed, entry.id)
        read, duplicates = len(rows), len(rows) - len(train) - len(evaluation)
        train = train[:limit]
    return Split(train, evaluation, {"read": read, "duplicates": duplicates})


def hold_out(
    rows: Sequence[Row], eval_rows: int, seed: int, name: str
) -> tuple[list[Row], list[Row]]:
    """Splits distinct rows by the seed: training rows in their order, then held-out rows.

    Raises:
        SettingsError: there are fewer than two different rows.
    """
    distinct = list({_identity(row): row for row in reversed(rows)}.values())[::-1]
    if len(distinct) < 2:
        raise SettingsError(
            f"Dataset '{name}' has {len(distinct)} different row; "
            "at least 2 are needed, one to learn from and one to hold out."
        )
    count = min(eval_rows, max(1, int(len(distinct) * HELD_OUT_SHARE)))
    chosen = set(random.Random(seed).sample(range(len(distinct)), count))
    train = [row for i, row in enumerate(distinct) if i not in chosen]
    return train, [distinct[i] for i in sorted(chosen)]


def _all_rows(entry: DatasetEntry) -> list[Row]:
    if entry.train_path is not None:
        return read_rows(entry.train_path)
    return read_hub_rows(entry.hub_id, "train")


def _identity(row: Row) -> str:
    return json.dumps(row, sort_keys=True, default=str)
