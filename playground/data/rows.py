"""Read rows from a file or the hub, in the order of the source; each knows where it stands."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from playground.config import SettingsError
from playground.data.hub import hub_files

LARGEST_CELL = 2**31 - 1
"""Python's csv stops at 128 KiB unless told otherwise; a long text is no mistake."""


class Row(NamedTuple):
    """cells: values by column. place: where a person finds it, such as ``Line 7 of 'a.csv'``."""

    cells: dict[str, Any]
    place: str


def read_rows(path: Path, *, limit: int | None = None) -> list[Row]:
    """The rows of a local file, in order.

    Args:
        path: .jsonl (one JSON object a line), .json (a list of objects, or what .jsonl holds),
            .csv, .tsv, .parquet, or .txt (a row for each paragraph, in the column ``text``).
            Text is UTF-8. A cell of .csv or .tsv is the text that stands there: None and NA are
            words, and 007 keeps its noughts.
        limit: read only the first so many.
    Raises:
        SettingsError: the file cannot be read as what its name says, or holds no row.
    """
    kind = path.suffix.lower()
    if kind not in _READERS:
        known = ", ".join(_READERS)
        raise SettingsError(f"Dataset file '{path.name}' is of an unknown kind; use {known}.")
    rows = _READERS[kind](path)
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
        found = datasets.load_dataset(hub_id, split=f"{split}[:{limit}]" if limit else split)
        return _numbered(found, hub_id)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SettingsError(
            f"Dataset '{hub_id}' could not be loaded from the hub ({reason}); "
            f"check that it has a split '{split}', or use a file."
        ) from error


def _numbered(rows: Iterable[Any], name: str) -> list[Row]:
    numbered = []
    for number, row in enumerate(rows, start=1):
        place = f"Row {number} of '{name}'"
        numbered.append(Row(_object(row, place), place))
    return numbered


def _line(number: int, name: str) -> str:
    return f"Line {number} of '{name}'"


def _text(path: Path) -> str:
    """What the file says. Line ends are left as they are."""
    content = path.read_bytes()
    try:
        # A NUL byte is in no text, but in every ASCII character of UTF-16.
        at, why = content.find(b"\0"), "it holds NUL bytes, as UTF-16 does"
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at, why = error.start, f"byte 0x{content[error.start]:02x} has no place there"
    if at >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise SettingsError(
            f"{_line(line, path.name)} is not UTF-8 text ({why}); save the file again as UTF-8."
        )
    return text


def _json_lines(path: Path) -> list[Row]:
    return _rows_of_lines(_text(path), path.name)


def _rows_of_lines(text: str, name: str) -> list[Row]:
    # By hand: it starts in no time, and names the line that is wrong.
    rows = []
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if line.strip():
            place = _line(number, name)
            rows.append(Row(_object(_parsed(line, place), place), place))
    _refuse_half_characters(rows, text)
    return rows


def _json(path: Path) -> list[Row]:
    text = _text(path)
    try:
        value = _parsed(text, f"Dataset file '{path.name}'")
    except _MoreFollows:
        return _rows_of_lines(text, path.name)
    rows = _numbered(value if isinstance(value, list) else [value], path.name)
    _refuse_half_characters(rows, text)
    return rows


class _MoreFollows(SettingsError):
    """A complete JSON value, and something after it."""


def _parsed(text: str, place: str) -> Any:
    kind: type[SettingsError] = SettingsError
    try:
        return json.loads(text)
    except RecursionError:
        why = "it is nested too deeply"
    except json.JSONDecodeError as error:
        kind = _MoreFollows if error.msg == "Extra data" else kind
        where = f"line {error.lineno}, " if "\n" in text.strip() else ""
        why = f"{error.msg} at {where}column {error.colno}"
    except ValueError as error:  # a number with thousands of digits
        why = str(error).partition(";")[0]
    raise kind(f"{place} is not JSON ({why}); mend or remove it.")


def _refuse_half_characters(rows: list[Row], text: str) -> None:
    """JSON can write half of a surrogate pair, which no tokenizer and no database can take."""
    if "\\u" not in text:
        return
    for row in rows:
        try:
            json.dumps(row.cells, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            raise SettingsError(
                f"{row.place} holds \\u{code:04x}, which is half of a character; "
                "write the whole character or remove it."
            ) from None


def _object(row: Any, place: str) -> dict[str, Any]:
    if isinstance(row, dict):
        return row
    raise SettingsError(
        f"{place} is {type(row).__name__}, not an object with named columns; "
        'write it as {"prompt": ..., "completion": ...}.'
    )


def _csv(path: Path) -> list[Row]:
    return _separated(path, ",", "comma")


def _tsv(path: Path) -> list[Row]:
    return _separated(path, "\t", "tab")


def _separated(path: Path, separator: str, called: str) -> list[Row]:
    # By hand: pandas takes a line with one cell too many for a row with a name, and shifts it.
    csv.field_size_limit(LARGEST_CELL)
    reader = csv.reader(io.StringIO(_text(path), newline=""), delimiter=separator, strict=True)
    rows: list[Row] = []
    columns: list[str] = []
    place = _line(1, path.name)
    try:
        for cells in reader:
            if columns and cells:
                _refuse_ragged(cells, columns, place, called)
                rows.append(Row(dict(zip(columns, cells, strict=True)), place))
            elif cells:
                columns = cells
                _refuse_repeated(columns, place)
            # A row may span lines; this is where the next one starts.
            place = _line(reader.line_num + 1, path.name)
    except csv.Error as error:
        raise SettingsError(
            f"{place} is not {path.suffix[1:].lower()} ({error}); "
            'check its quotes: a " within a quoted cell is written "".'
        ) from None
    return rows


def _refuse_ragged(cells: list[str], columns: list[str], place: str, called: str) -> None:
    if len(cells) != len(columns):
        raise SettingsError(
            f"{place} has {len(cells)} cell{'s' * (len(cells) != 1)} and the header "
            f"{len(columns)}; mend the line: a cell that holds a {called} must be quoted."
        )


def _refuse_repeated(columns: list[str], place: str) -> None:
    named = [name.strip().lower() for name in columns if name.strip()]
    repeated = [name for name in named if named.count(name) > 1]
    if repeated:
        raise SettingsError(f"{place} names the column '{repeated[0]}' twice; rename one of them.")


def _paragraphs(path: Path) -> list[Row]:
    rows, line = [], 1
    for part in io.StringIO(_text(path), newline=None).read().split("\n\n"):
        if part.strip():
            blank = part[: len(part) - len(part.lstrip())].count("\n")
            rows.append(Row({"text": part.strip()}, _line(line + blank, path.name)))
        line += part.count("\n") + 2
    return rows


def _parquet(path: Path) -> list[Row]:
    import datasets

    datasets.disable_progress_bars()
    try:
        # The cache goes with this block: rows stay in memory, and no copy of them on this machine.
        with tempfile.TemporaryDirectory() as cache:
            read = datasets.Dataset.from_parquet
            return _numbered(read(str(path), cache_dir=cache, keep_in_memory=True), path.name)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        if "corresponds to no data" in str(error):
            return []
        # datasets wraps the cause in a type of its own.
        cause = error.__cause__ or error
        reason = str(cause).splitlines()[0] if str(cause) else type(cause).__name__
        raise SettingsError(
            f"Dataset file '{path.name}' could not be read as parquet ({reason}); check it."
        ) from error


_READERS = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _tsv,
    ".parquet": _parquet,
    ".txt": _paragraphs,
}
