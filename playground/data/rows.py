"""Read rows from a file or the hub: a list of plain dictionaries, in the order of the source."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from playground.config import SettingsError
from playground.data.hub import hub_files

Row = dict[str, Any]


def read_rows(path: Path, *, limit: int | None = None) -> list[Row]:
    """The rows of a local file, in order.

    Args:
        path: .jsonl (one JSON object a line), .json (a list of objects, or what .jsonl holds),
            .csv, .tsv, .parquet, or .txt (a row for each paragraph, in the column ``text``).
        limit: read only the first so many.
    Raises:
        SettingsError: the file cannot be read as what its name says, or holds no row.
    """
    kind = path.suffix.lower()
    if kind == ".jsonl":
        rows = _json_lines(path)
    elif kind == ".txt":
        paragraphs = path.read_text(encoding="utf-8-sig").split("\n\n")
        rows = [{"text": text.strip()} for text in paragraphs if text.strip()]
    elif kind in _READERS:
        rows = _through_datasets(path, kind)
    else:
        known = ", ".join([".jsonl", ".txt", *_READERS])
        raise SettingsError(f"Dataset file '{path.name}' is of an unknown kind; use {known}.")
    if not rows:
        raise SettingsError(f"Dataset file '{path.name}' has no rows; add some or pick another.")
    return rows[:limit]


def read_hub_rows(hub_id: str, split: str, *, limit: int | None = None) -> list[Row]:
    """The rows of one split of a dataset on the hub.

    Raises:
        SettingsError: it cannot be reached, or there is no such dataset or split.
    """
    import datasets

    hub_files("dataset", hub_id)
    try:
        return list(datasets.load_dataset(hub_id, split=f"{split}[:{limit}]" if limit else split))
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SettingsError(
            f"Dataset '{hub_id}' could not be loaded from the hub ({reason}); "
            f"check that it has a split '{split}', or use a file."
        ) from error


_READERS = {".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}


def _json_lines(path: Path) -> list[Row]:
    # By hand: it starts in no time, and names the line that is wrong.
    rows = []
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise SettingsError(
                    f"Line {number} of '{path.name}' is not JSON ({error}); mend or remove it."
                ) from None
            if not isinstance(row, dict):
                raise SettingsError(
                    f"Line {number} of '{path.name}' is {type(row).__name__}, not an object with "
                    'named columns; write it as {"prompt": ..., "completion": ...}.'
                )
            rows.append(row)
    return rows


def _through_datasets(path: Path, kind: str) -> list[Row]:
    import datasets

    options: dict[str, Any] = {}
    if _READERS[kind] == "csv":
        # A cell that says None or NA is text that someone wrote, not a missing value.
        options = {"keep_default_na": False, "sep": "\t" if kind == ".tsv" else ","}
    read = getattr(datasets.Dataset, f"from_{_READERS[kind]}")
    datasets.disable_progress_bars()
    try:
        # The cache goes with this block: rows stay in memory, and no copy of them on this machine.
        with tempfile.TemporaryDirectory() as cache:
            return list(read(str(path), cache_dir=cache, keep_in_memory=True, **options))
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        if "corresponds to no data" in str(error):
            return []  # a header and nothing below it
        # datasets wraps the cause in a type of its own.
        cause = error.__cause__ or error
        reason = str(cause).splitlines()[0] if str(cause) else type(cause).__name__
        raise SettingsError(
            f"Dataset file '{path.name}' could not be read as {kind[1:]} ({reason}); check it."
        ) from error
