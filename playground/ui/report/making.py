"""A report of a comparison in any of its formats, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playground.catalog.names import public_name
from playground.data.uploads import called
from playground.report import Content, csv_parts, gather, json_parts
from playground.store import Group, RunStore
from playground.ui.report.document import document

FORMATS: dict[str, str] = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
}
"""Media types by format, which is also the file's suffix."""

_Maker = Callable[[RunStore, Content], Iterator[str]]
_MAKERS: dict[str, _Maker] = {"html": document, "json": json_parts, "csv": csv_parts}


def parts(store: RunStore, group: Group, kind: str, rows: bool = False) -> Iterator[str]:
    """The whole report, to be written as it comes: a long one is many times what memory it takes.

    Args:
        kind: a key of ``FORMATS``.
        rows: with the held-out rows of the data and their answers.
    """
    return _MAKERS[kind](store, gather(store, group, rows, _public))


def as_text(store: RunStore, group: Group, kind: str, rows: bool = False) -> str:
    """The same in one piece, for who has the memory."""
    return "".join(parts(store, group, kind, rows))


def _public(name: str) -> str:
    """A model or a dataset without the folders it lies in; an upload as its owner knows it."""
    return public_name(called(name))


def file_name(group: Group, kind: str) -> str:
    return f"fp4-report-{group.id}.{kind}"
