"""Read rows from files or the hub, in the order of the source; each knows where it stands.

Rows come one at a time and only as they are asked for: the first of a large file is there at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from playground.catalog.datasets import DatasetEntry, kind_of
from playground.config import SettingsError
from playground.data.files import LARGEST_VALUE, Said, TextFile, line_of, too_large
from playground.data.hub import hub_files
from playground.data.json_rows import Value, json_document, json_lines
from playground.data.tables import refuse_repeated, table_rows

_BATCH = 256  # rows of Parquet decoded at a time


class Row(NamedTuple):
    """cells: values by column. place: where a person finds it, such as ``Line 7 of 'a.csv'``.

    size: about how many characters it takes, to know how much was read.
    """

    cells: dict[str, Any]
    place: str
    size: int = 0


def unsaid(sentence: str) -> None:
    """For a caller who does not ask how a file was read."""


def stream_rows(paths: Iterable[Path], said: Said = unsaid) -> Iterator[Row]:
    """The rows of local files, one file after the other.

    Args:
        paths: .jsonl (one JSON object a line), .json (a list of objects, or what .jsonl holds),
            .csv, .tsv, .parquet, or .txt (a row for each paragraph, in the column ``text``); all
            but .parquet may be packed, then with .gz or .zst after that. Text is UTF-8, or UTF-16
            that says so. A cell of .csv or .tsv is the text that stands there: None and NA are
            words, and 007 keeps its noughts.
        said: told what a person should know of how a file was read.
    Raises:
        SettingsError: on the way, at the first row that is not what the file's name says; or in
            the end, where a file holds no row.
    """
    for path in paths:
        row = None
        for row in _READERS[kind_of(path)](path, said):
            yield row
        if row is None:
            raise SettingsError(
                f"Dataset file '{path.name}' has no rows; add some or pick another."
            )


def read_rows(path: Path, *, limit: int | None = None, said: Said = unsaid) -> list[Row]:
    """The first ``limit`` rows of a local file, or all; the rest is not read.

    Raises:
        SettingsError: the file cannot be read as what its name says, or holds no row.
    """
    if kind_of(path) not in _READERS:
        known = ", ".join(_READERS)
        raise SettingsError(f"Dataset file '{path.name}' is of an unknown kind; use {known}.")
    return list(islice(stream_rows([path], said), limit))


def stream_entry(entry: DatasetEntry, said: Said = unsaid) -> Iterator[Row]:
    """The rows to train on of a dataset, wherever it is."""
    return stream_hub_rows(entry) if entry.hub_id else stream_rows(entry.train_files, said)


def first_row(entry: DatasetEntry) -> Row:
    """Raises SettingsError: there is none, or it cannot be read."""
    for row in stream_entry(entry):
        return row
    raise SettingsError(f"Dataset '{entry.id}' has no rows; pick another.")


def stream_hub_rows(entry: DatasetEntry) -> Iterator[Row]:
    """The rows of one split of a dataset on the hub, fetched as they are asked for.

    Raises:
        SettingsError: it cannot be reached, or there is no such dataset, config or split.
    """
    import datasets
    from huggingface_hub.errors import HTTPError

    hub_files("dataset", entry.hub_id)
    try:
        found = datasets.load_dataset(
            entry.hub_id, entry.hub_config, split=entry.hub_split, streaming=True
        )
        yield from _numbered(found, entry.id)
    except SettingsError:
        raise
    except (OSError, ValueError, HTTPError, datasets.exceptions.DatasetsError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SettingsError(
            f"Dataset '{entry.id}' could not be loaded from the hub ({reason}); check that it has "
            f"a split '{entry.hub_split}', name its part as in {entry.hub_id}:config[split], or "
            "use a file."
        ) from error


def _numbered(rows: Iterable[Any], name: str) -> Iterator[Row]:
    for number, row in enumerate(rows, start=1):
        place = f"Row {number} of '{name}'"
        yield Row(_object(row, place), place, len(str(row)))


def _object(row: Any, place: str) -> dict[str, Any]:
    if isinstance(row, dict):
        return row
    hint = " (one list of all rows belongs in a .json file)" if isinstance(row, list) else ""
    raise SettingsError(
        f"{place} is {type(row).__name__}, not an object with named columns; "
        f'write it as {{"prompt": ..., "completion": ...}}{hint}.'
    )


def _objects(values: Iterable[Value]) -> Iterator[Row]:
    for value, place, size in values:
        yield Row(_object(value, place), place, size)


def _json_lines(path: Path, said: Said) -> Iterator[Row]:
    with TextFile(path, said) as text:
        yield from _objects(json_lines(text))


def _json(path: Path, said: Said) -> Iterator[Row]:
    with TextFile(path, said) as text:
        yield from _objects(json_document(text))


def _csv(path: Path, said: Said) -> Iterator[Row]:
    with TextFile(path, said, newline="") as text:
        yield from (Row(*cells) for cells in table_rows(text, ",", said))


def _tsv(path: Path, said: Said) -> Iterator[Row]:
    with TextFile(path, said, newline="") as text:
        yield from (Row(*cells) for cells in table_rows(text, "\t", said))


def _paragraphs(path: Path, said: Said) -> Iterator[Row]:
    with TextFile(path, said) as text:
        lines: list[str] = []
        size = 0
        for line in text:
            if line.strip():
                lines.append(line)
                size += len(line)
                if size > LARGEST_VALUE:
                    raise too_large(line_of(text.line - len(lines) + 1, text.name))
            elif lines:
                yield _paragraph(lines, text.line - len(lines), text.name)
                lines, size = [], 0
        if lines:
            yield _paragraph(lines, text.line - len(lines) + 1, text.name)


def _paragraph(lines: list[str], first: int, name: str) -> Row:
    text = "".join(lines).strip()
    return Row({"text": text}, line_of(first, name), len(text))


def _parquet(path: Path, said: Said) -> Iterator[Row]:
    import pyarrow
    import pyarrow.parquet

    try:
        # A buffer of its own size for each column: else a whole row group would be fetched.
        with pyarrow.parquet.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
            refuse_repeated(file.schema_arrow.names, f"Dataset file '{path.name}'")
            number = 0
            for batch in file.iter_batches(_BATCH):
                size = batch.nbytes // max(1, batch.num_rows)
                for cells in batch.to_pylist():
                    number += 1
                    yield Row(cells, f"Row {number} of '{path.name}'", size)
    except SettingsError:
        raise
    except (OSError, ValueError, OverflowError, pyarrow.ArrowException) as error:
        # A string that is no UTF-8, and a date beyond Python's, show only when they are taken out.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SettingsError(
            f"Dataset file '{path.name}' could not be read as parquet ({reason}); "
            "write it again, unpacked, or as .jsonl."
        ) from error


_READERS = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _tsv,
    ".parquet": _parquet,
    ".txt": _paragraphs,
}
