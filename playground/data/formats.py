"""Recognise how rows are written, and turn each into turns of a conversation or plain text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from playground.config import SettingsError
from playground.data.rows import Row

Message = dict[str, str]
Cells = dict[str, Any]


class Sample(NamedTuple):
    """One row, understood. Either turns of a conversation, or text to be learned whole.

    ``chat`` says the row itself is a conversation, which needs a model with a chat template;
    a prompt and its answer can do without. ``place`` is the row's, for what is wrong with it.
    """

    messages: tuple[Message, ...] = ()
    text: str = ""
    chat: bool = False
    place: str = "A row"


class RowFormat(NamedTuple):
    """A way to write rows: the columns it needs, and how a row becomes a Sample.

    sample: gives None for a row that holds no answer (or no text) to learn.
    may_lack: the column that a row may leave out, being then one without an answer.
    """

    name: str
    columns: frozenset[str]
    sample: Callable[[Cells], Sample | None]
    may_lack: str = ""


def recognise(rows: list[Row]) -> RowFormat:
    """The format of a source, from the names of its first row's columns (whatever their case).

    Raises:
        SettingsError: no format has such columns; the message lists those that are known.
    """
    first = rows[0].cells
    columns = {_key(name) for name in first}
    for row_format in FORMATS:
        if row_format.columns <= columns:
            return row_format
    known = "; ".join(" + ".join(sorted(f.columns)) for f in FORMATS)
    raise SettingsError(
        f"The columns {', '.join(map(str, first)) or '(none)'} are not a known format; "
        f"rename them to one of: {known}."
    )


def samples(rows: list[Row], row_format: RowFormat) -> tuple[list[Sample], int]:
    """Every row understood in ``row_format``, and how many were left out for want of an answer.

    Raises:
        SettingsError: a row lacks a column, or a cell has the wrong type; the message says where.
    """
    found = []
    for row in rows:
        cells = {_key(name): value for name, value in row.cells.items()}
        try:
            _refuse_lacking(cells, row_format)
            sample = row_format.sample(cells)
        except _BadCell as error:
            raise SettingsError(f"{row.place}: {error}") from None
        if sample:
            found.append(sample._replace(place=row.place))
    return found, len(rows) - len(found)


def _refuse_lacking(cells: Cells, row_format: RowFormat) -> None:
    lacking = sorted(row_format.columns - cells.keys() - {row_format.may_lack})
    if lacking:
        raise _BadCell(
            f"it lacks the column '{lacking[0]}' that the first row has; add it or remove the row."
        )


class _BadCell(ValueError):
    pass


def _key(name: Any) -> str:
    return str(name).strip().lower()


def _text(cells: Cells, column: str) -> str | None:
    value = cells.get(column)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return None if value != value else str(value)  # NaN is how some tools write nothing
    raise _BadCell(f"column '{column}' is {type(value).__name__}, not text; write it as a string.")


def _asked(question: str | None, answer: str | None) -> Sample | None:
    if question is None or answer is None or not answer.strip():
        return None
    return Sample((_message("user", question), _message("assistant", answer)))


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _turns(turns: Any, column: str) -> tuple[Message, ...]:
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise _BadCell(
            f"column '{column}' is no list of turns; write each as "
            '{"role": ..., "content": ...}.'
        )
    return tuple(_turn(turn, column) for turn in turns)


def _turn(turn: dict[str, Any], column: str) -> Message:
    role, content = turn.get("role"), turn.get("content")
    if role == "assistant" and content is None:  # it called a tool and said nothing
        content = ""
    if not isinstance(role, str) or not isinstance(content, str):
        raise _BadCell(f"a turn in '{column}' lacks a role or a content that is text; add it.")
    return _message(role, content)


def _conversation(turns: tuple[Message, ...]) -> Sample | None:
    silent = any(t["role"] == "assistant" and not t["content"].strip() for t in turns)
    return Sample(turns, chat=True) if turns and not silent else None


def _from_messages(cells: Cells) -> Sample | None:
    turns = cells["messages"]
    return None if turns is None else _conversation(_turns(turns, "messages"))


def _from_prompt(cells: Cells) -> Sample | None:
    prompt, completion = cells["prompt"], cells.get("completion")
    if not isinstance(prompt, list):  # both may be turns themselves
        return _asked(_text(cells, "prompt"), _text(cells, "completion"))
    if completion is None:
        return None
    return _conversation(_turns(prompt, "prompt") + _turns(completion, "completion"))


def _from_instruction(cells: Cells) -> Sample | None:
    instruction, given = _text(cells, "instruction"), _text(cells, "input")
    question = f"{instruction}\n\n{given}" if instruction is not None and given else instruction
    return _asked(question, _text(cells, "output"))


def _from_text(cells: Cells) -> Sample | None:
    text = _text(cells, "text") or ""
    return Sample(text=text) if text.strip() else None


FORMATS: tuple[RowFormat, ...] = (
    RowFormat("messages", frozenset({"messages"}), _from_messages),
    RowFormat("prompt-completion", frozenset({"prompt", "completion"}), _from_prompt, "completion"),
    RowFormat("instruction", frozenset({"instruction", "output"}), _from_instruction, "output"),
    RowFormat(
        "question-answer",
        frozenset({"question", "answer"}),
        lambda cells: _asked(_text(cells, "question"), _text(cells, "answer")),
        "answer",
    ),
    RowFormat("text", frozenset({"text"}), _from_text),
)
"""In the order they are tried: a more telling set of columns comes before a mere ``text``."""
