"""Refuse a file that cannot be learned from before a run exists, not once in every run."""

from __future__ import annotations

from playground.catalog.datasets import DatasetEntry
from playground.config import RunConfig
from playground.data.split import load_split

LARGEST = 16 * 2**20
"""Bytes; about a second's reading. A run judges a larger file, as it does all others."""

_BY_HAND = (".jsonl", ".json", ".csv", ".tsv", ".txt")  # parquet takes a large library to read


def check_rows(entry: DatasetEntry, config: RunConfig) -> None:
    """Reads and divides the rows of a local text file as the run will; loads no large library.

    Raises:
        SettingsError: what the run itself would say: no rows, unknown columns, a row in error.
    """
    path = entry.train_path
    if path is None or path.suffix.lower() not in _BY_HAND or path.stat().st_size > LARGEST:
        return
    load_split(entry, config)
