"""A report of a comparison in any of its formats, as text."""

from __future__ import annotations

from collections.abc import Callable

from playground.data.uploads import called
from playground.report import Content, csv_text, gather, json_text
from playground.store import Group, RunStore
from playground.ui.report.document import document

FORMATS: dict[str, str] = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
}
"""Media types by format, which is also the file's suffix."""


def as_text(store: RunStore, group: Group, kind: str, rows: bool = False) -> str:
    """The whole report.

    Args:
        kind: a key of ``FORMATS``.
        rows: with the held-out rows of the data and their answers.
    """
    content = gather(store, group, rows, called(group.runs[0].config.dataset))
    makers: dict[str, Callable[[Content], str]] = {
        "html": lambda content: document(store, content),
        "json": json_text,
        "csv": csv_text,
    }
    return makers[kind](content)


def file_name(group: Group, kind: str) -> str:
    return f"fp4-report-{group.id}.{kind}"
