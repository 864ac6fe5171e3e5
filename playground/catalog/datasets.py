"""Datasets: which are bundled, and what a name typed by a person stands for."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from playground.catalog.names import ASSETS, as_path, is_hub_id, looks_like_path
from playground.config import SettingsError, nearest

FILE_TYPES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".txt")


class DatasetEntry(BaseModel):
    """A dataset that can be read.

    Attributes:
        id: what a person types and what a run records.
        train_path: the local file to train on; None for a hub dataset.
        eval_path: the file of held-out rows; None when they must be split off the others.
        hub_id: ``owner/name`` on the Hugging Face hub; whether it exists is found on loading.
        licence: an SPDX name, or None when we cannot know.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    title: str
    summary: str
    train_path: Path | None = None
    eval_path: Path | None = None
    hub_id: str | None = None
    licence: str | None = None


def _bundled(id: str, title: str, summary: str) -> DatasetEntry:
    folder = ASSETS / "datasets" / id
    return DatasetEntry(
        id=id,
        title=title,
        summary=summary,
        train_path=folder / "train.jsonl",
        eval_path=folder / "eval.jsonl",
        licence="Apache-2.0",
    )


BUNDLED = (
    _bundled(
        "sentences-to-json",
        "Sentences to JSON",
        "A sentence about someone becomes an object with name, age, job and city.",
    ),
    _bundled(
        "iso-dates",
        "ISO dates",
        "A date in one of many spellings becomes year-month-day.",
    ),
    _bundled(
        "unit-conversion",
        "Unit conversion",
        "An amount in one unit, such as kilometres, in a smaller one, such as metres.",
    ),
)


def list_datasets() -> list[DatasetEntry]:
    """Every bundled dataset."""
    return list(BUNDLED)


def resolve_dataset(name: str) -> DatasetEntry:
    """What ``name`` stands for: a bundled dataset, else a local file, else a hub id.

    Raises:
        SettingsError: it is none of these, or a file of a kind we do not read; with the remedy.
    """
    known = {entry.id: entry for entry in BUNDLED}
    if name in known:
        return known[name]
    path = as_path(name)
    if path is not None:
        return _local(name, path)
    if looks_like_path(name) or name.lower().endswith(FILE_TYPES):
        raise SettingsError(f"Dataset '{name}' does not exist; check the path to the file.")
    if is_hub_id(name):
        return DatasetEntry(
            id=name,
            title=name,
            summary="From the Hugging Face hub; fetched when the run loads it.",
            hub_id=name,
        )
    raise SettingsError(
        f"Dataset '{name}' is neither an id ({', '.join(known)}), nor a local file, nor a hub id "
        f"of the form owner/name; choose one of these.{nearest(name, list(known))}"
    )


def _local(name: str, path: Path) -> DatasetEntry:
    types = ", ".join(FILE_TYPES)
    if not path.is_file():
        raise SettingsError(f"Dataset '{name}' is not a file; give one of the kinds {types}.")
    if path.suffix.lower() not in FILE_TYPES:
        raise SettingsError(
            f"Dataset '{name}' is of a kind that cannot be read; convert it to one of {types}."
        )
    if not os.access(path, os.R_OK):
        raise SettingsError(
            f"Dataset '{name}' may not be read; give yourself permission to read it."
        )
    return DatasetEntry(
        id=name, title=path.name, summary="A file on this machine.", train_path=path
    )
