"""Rows of a table in text: comma, semicolon or tab, told by its header."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from playground.config import SettingsError
from playground.data.files import LARGEST_VALUE, Said, TextFile, line_of

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}


class Cells(NamedTuple):
    """One row: cells by column, the line it starts on, and about how many characters it takes."""

    cells: dict[str, str]
    place: str
    size: int


def table_rows(text: TextFile, separator: str, said: Said) -> Iterator[Cells]:
    """The rows below the header. A cell is the text that stands there, whatever it says.

    Args:
        text: opened with ``newline=""``, for a quoted cell may hold line ends.
        separator: what the file's name promises; another is taken if the header has it instead.
    """
    # By hand: pandas takes a line with one cell too many for a row with a name, and shifts it.
    csv.field_size_limit(LARGEST_VALUE)
    lines = iter(text)
    blank, head = _first_line(lines)
    chosen = _separator(head, separator)
    if chosen != separator:
        said(
            f"The cells of '{text.name}' are parted by a {_SEPARATORS[chosen]}, not a "
            f"{_SEPARATORS[separator]}, and were read so."
        )
    if _SEP.fullmatch(head.strip("\r\n ")):  # Excel's way to say it, above the header
        head = "\n"
    reader = csv.reader(chain(blank, [head], lines), delimiter=chosen, strict=True)
    columns: list[str] = []
    place, size = line_of(1, text.name), 0
    try:
        for cells in reader:
            if columns and cells:
                _refuse_ragged(cells, columns, place, _SEPARATORS[chosen])
                size = sum(map(len, cells))
                yield Cells(dict(zip(columns, cells, strict=True)), place, size)
            elif cells:
                columns = cells
                refuse_repeated(columns, place)
            # A row may span lines; this is where the next one starts.
            place = line_of(reader.line_num + 1, text.name)
    except csv.Error as error:
        raise SettingsError(
            f"{place} is not a row of a table ({error}); "
            'check its quotes: a " within a quoted cell is written "".'
        ) from None


_SEP = re.compile(r"sep=(.)", re.IGNORECASE)


def _first_line(lines: Iterator[str]) -> tuple[list[str], str]:
    blank = []
    for line in lines:
        if line.strip():
            return blank, line
        blank.append(line)
    return blank, ""


def _separator(head: str, promised: str) -> str:
    """The one that parts the header into most columns; what the file's name says, if it is even."""
    if told := _SEP.fullmatch(head.strip("\r\n ")):
        return told[1] if told[1] in _SEPARATORS else promised
    counts = {each: len(next(csv.reader([head], delimiter=each), [])) for each in _SEPARATORS}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > counts[promised] else promised


def _refuse_ragged(cells: list[str], columns: list[str], place: str, called: str) -> None:
    if len(cells) != len(columns):
        raise SettingsError(
            f"{place} has {len(cells)} cell{'s' * (len(cells) != 1)} and the header "
            f"{len(columns)}; mend the line: a cell that holds a {called} must be quoted."
        )


def refuse_repeated(columns: list[str], place: str) -> None:
    """Raises SettingsError: of two columns of a name, ``place`` is where, one would be lost."""
    named = [name.strip().lower() for name in columns if name.strip()]
    seen: set[str] = set()
    for name in named:
        if name in seen:
            raise SettingsError(f"{place} names the column '{name}' twice; rename one of them.")
        seen.add(name)
