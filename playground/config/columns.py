"""Which columns of a dataset mean what, said by hand: ``prompt=Frage, answer=Antwort``."""

from __future__ import annotations

import csv
import io

from playground.config.errors import SettingsError, nearest

PARTS = {
    "messages": "messages",
    "conversations": "messages",
    "prompt": "prompt",
    "question": "prompt",
    "instruction": "prompt",
    "input": "input",
    "answer": "answer",
    "completion": "answer",
    "output": "answer",
    "response": "answer",
    "system": "system",
    "text": "text",
}
"""What a column can be to a row, by each of its names."""

SAID_IN_COLUMNS = "in the setting columns, such as prompt=Question, answer=Reply"
"""How a sentence that refuses a dataset ends; the page names the place on its form instead."""

_EXAMPLE = "write it such as prompt=Question, answer=Reply"
_ASKED = {"prompt", "answer", "input", "system"}


def parse_columns(written: str) -> dict[str, str]:
    """The column of each part. A piece that holds a comma stands in quotes: ``"answer=a, b"``.

    A row is made of text, or of messages, or of a prompt and its answer; these may have an input
    (more of the prompt, after an empty line) and a system turn.

    Raises:
        SettingsError: it is not of this form.
    """
    columns = named_columns(written)
    if set(columns) in ({"text"}, {"messages"}) or {"prompt", "answer"} <= set(columns) <= _ASKED:
        return columns
    raise _refused(written, f"a row is text, or messages, or a prompt and its answer; {_EXAMPLE}.")


def named_columns(written: str) -> dict[str, str]:
    """As ``parse_columns``, whether or not these parts make a row."""
    columns: dict[str, str] = {}
    for piece in next(csv.reader([" ".join(written.splitlines())], skipinitialspace=True), []):
        name, _, column = (half.strip() for half in piece.partition("="))
        part = PARTS.get(name.lower())
        if not column:
            raise _refused(written, f"'{piece.strip()}' names no column; {_EXAMPLE}.")
        if part is None:
            known = f"'{name}' is no part of a row; choose from {', '.join(PARTS)}."
            raise _refused(written, known + nearest(name.lower(), list(PARTS)))
        if part in columns:
            raise _refused(written, f"it names two columns for the {part}; keep one.")
        columns[part] = column
    return columns


def write_columns(columns: dict[str, str]) -> str:
    """What ``parse_columns`` reads as these; a piece that needs quotes has them."""
    return ", ".join(_piece(f"{part}={name}") for part, name in columns.items())


def _piece(words: str) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([words])
    return line.getvalue()


def _refused(written: str, why: str) -> SettingsError:
    return SettingsError(f"columns is '{written}': {why}")
