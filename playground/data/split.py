"""Rows for training and rows held out: nothing that is learned is also asked."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import NamedTuple

from playground.catalog.datasets import DatasetEntry
from playground.config import RunConfig, SettingsError
from playground.data.formats import RowFormat, Sample, recognise, samples
from playground.data.rows import Row, read_hub_rows, read_rows

HELD_OUT_SHARE = 0.1
"""At most this share of a dataset without an evaluation file of its own is held out."""


class Split(NamedTuple):
    """Training rows and held-out rows, understood.

    counts: ``read``, and of these the ``duplicates`` and those with ``no_answer``, left out.
    """

    train: list[Sample]
    eval: list[Sample]
    counts: dict[str, int]


def load_split(entry: DatasetEntry, config: RunConfig) -> Split:
    """Reads a dataset and divides it, the same way for every run with this configuration.

    A dataset with an evaluation file is taken as it is, less what its evaluation shares with its
    training rows. Any other is shuffled by ``split_seed`` and split; copies of a row stay on one
    side. Rows are copies when they say the same, whatever else their columns hold.

    Raises:
        SettingsError: it cannot be read or understood, or too few rows are left to hold one out.
    """
    limit, eval_limit = config.data.train_rows, config.data.eval_rows
    rows = _all_rows(entry)
    row_format = recognise(rows)  # before anything is left out: a person looks at the first row
    if entry.eval_path is not None:
        rows, asked = rows[:limit], read_rows(entry.eval_path)
        train, unanswered = _answered(rows, row_format, entry.id)
        held_out, unasked = _answered(asked, row_format, entry.id)
        seen = {_identity(sample) for sample in train}
        evaluation = [sample for sample in held_out if _identity(sample) not in seen]
        if not evaluation:
            raise SettingsError(
                f"Every evaluation row of dataset '{entry.id}' is also a training row; "
                "give it held-out rows of its own."
            )
        read, no_answer = len(rows) + len(asked), unanswered + unasked
        duplicates = len(held_out) - len(evaluation)
        evaluation = evaluation[:eval_limit]
    else:
        answered, no_answer = _answered(rows, row_format, entry.id)
        train, evaluation = hold_out(answered, eval_limit, config.data.split_seed, entry.id)
        read, duplicates = len(rows), len(answered) - len(train) - len(evaluation)
        train = train[:limit]
    counts = {"read": read, "duplicates": duplicates, "no_answer": no_answer}
    return Split(train, evaluation, counts)


def hold_out(
    rows: Sequence[Sample], eval_rows: int, seed: int, name: str
) -> tuple[list[Sample], list[Sample]]:
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


def _answered(rows: list[Row], row_format: RowFormat, name: str) -> tuple[list[Sample], int]:
    found, without = samples(rows, row_format)
    if not found:
        columns = " + ".join(sorted(row_format.columns))
        raise SettingsError(
            f"None of {without} rows of dataset '{name}' ({rows[0].place} is the first) holds "
            f"anything to learn; fill its columns {columns}."
        )
    return found, without


def _identity(sample: Sample) -> str:
    return json.dumps((sample.messages, sample.text))
