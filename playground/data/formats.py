"""Recognise how rows are written, and turn each into turns of a conversation or plain text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from playground.config import SettingsError
from playground.data.rows import Row

Message = dict[str, str]


class Sample(NamedTuple):
    """One row, understood. Either turns of a conversation, or text to be learned whole.

    ``chat`` says the row itself is a conversation, which needs a model with a chat template;
    a prompt and its answer can do without.
    """

    messages: tuple[Message, ...] = ()
    text: str = ""
    chat: bool = False


class RowFormat(NamedTuple):
    """A way to write rows: the columns it needs, and how a row becomes a Sample."""

    name: str
    columns: frozenset[str]
    sample: Callable[[Row], Sample]


def recognise(rows: list[Row]) -> RowFormat:
    """The format of these rows, from the names of their columns (whatever their case).

    Raises:
        SettingsError: no format has such columns; the message lists those that are known.
    """
    columns = {_key(name) for name in rows[0]}
    for row_format in FORMATS:
        if row_format.columns <= columns:
            return row_format
    known = "; ".join(" + ".join(sorted(f.columns)) for f in FORMATS)
    raise SettingsError(
        f"The columns {', '.join(map(str, rows[0])) or '(none)'} are not a known format; "
        f"rename them to one of: {known}."
    )


def samples(rows: list[Row], row_format: RowFormat) -> list[Sample]:
    """Every row understood in ``row_format``.

    Raises:
        SettingsError: a cell has the wrong type; the message names the row, counted from 1.
    """
    found = []
    for number, row in enumerate(rows, start=1):
        cells = {_key(name): value for name, value in row.items()}
        try:
            found.append(row_format.sample(cells))
        except _BadCell as error:
            raise SettingsError(f"Row {number}: {error}") from None
    return found


class _BadCell(ValueError):
    pass


def _key(name: Any) -> str:
    return str(name).strip().lower()


def _text(cells: Row, column: str) -> str:
    value = cells.get(column)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    raise _BadCell(f"column '{column}' is {type(value).__name__}, not text; write it as a string.")


def _asked(question: str, answer: str) -> Sample:
    return Sample((_message("user", question), _message("assistant", answer)))


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _from_messages(cells: Row) -> Sample:
    return Sample(_turns(cells["messages"], "messages"), chat=True)


def _turns(turns: Any, column: str) -> tuple[Message, ...]:
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise _BadCell(f"column '{column}' is no list of turns with a role and a content.")
    for turn in turns:
        if not isinstance(turn.get("role"), str) or not isinstance(turn.get("content"), str):
            raise _BadCell(f"a turn in '{column}' lacks a role or a content that is text.")
    return tuple(_message(turn["role"], turn["content"]) for turn in turns)


def _from_prompt(cells: Row) -> Sample:
    if isinstance(cells["prompt"], list):  # both may be turns themselves
        turns = _turns(cells["prompt"], "prompt") + _turns(cells["completion"], "completion")
        return Sample(turns, chat=True)
    return _asked(_text(cells, "prompt"), _text(cells, "completion"))


def _from_instruction(cells: Row) -> Sample:
    instruction, given = _text(cells, "instruction"), _text(cells, "input")
    question = f"{instruction}\n\n{given}" if given else instruction
    return _asked(question, _text(cells, "output"))


FORMATS: tuple[RowFormat, ...] = (
    RowFormat("messages", frozenset({"messages"}), _from_messages),
    RowFormat("prompt-completion", frozenset({"prompt", "completion"}), _from_prompt),
    RowFormat("instruction", frozenset({"instruction", "output"}), _from_instruction),
    RowFormat(
        "question-answer",
        frozenset({"question", "answer"}),
        lambda cells: _asked(_text(cells, "question"), _text(cells, "answer")),
    ),
    RowFormat("text", frozenset({"text"}), lambda cells: Sample(text=_text(cells, "text"))),
)
"""In the order they are tried: a more telling set of columns comes before a mere ``text``."""
