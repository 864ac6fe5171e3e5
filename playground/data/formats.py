"""Recognise how rows are written, and turn each into turns of a conversation or plain text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from playground.config import SettingsError, nearest, parse_columns
from playground.config.columns import SAID_IN_COLUMNS
from playground.data.files import Said
from playground.data.rows import Row, unsaid

_LISTED = 20

Message = dict[str, str]
Cells = dict[str, Any]

NULL_WORDS = frozenset({"none", "null", "na", "n/a", "nan"})
"""What other tools write, or read, for no value. Here they are words, and counted."""

_ROLES = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "bot", "model", "chatgpt"), "assistant"),
    "system": "system",
    **dict.fromkeys(("tool", "function", "observation"), "tool"),
}
"""Who speaks in ``conversations``, in the words of the chat templates."""


class Sample(NamedTuple):
    """One row, understood. Either turns of a conversation, or text to be learned whole.

    ``chat`` says the row itself is a conversation, which needs a chat template;
    a prompt and its answer can do without. ``place`` is the row's, for what is wrong with it.
    """

    messages: tuple[Message, ...] = ()
    text: str = ""
    chat: bool = False
    place: str = "A row"


class RowFormat(NamedTuple):
    """A way to write rows: which column holds which part of a row.

    columns: by part (``prompt``, ``input``, ``answer``, ``system``, ``messages``, ``text``), as
        ``column_key`` writes them.
    may_lack: the parts whose column not every row must have.
    """

    name: str
    columns: dict[str, str]
    may_lack: frozenset[str] = frozenset({"input", "system", "answer"})


FORMATS: tuple[RowFormat, ...] = (
    RowFormat("messages", {"messages": "messages"}),
    RowFormat("conversations", {"messages": "conversations"}),
    RowFormat("prompt-completion", {"prompt": "prompt", "answer": "completion"}),
    RowFormat("instruction", {"prompt": "instruction", "input": "input", "answer": "output"}),
    RowFormat("question-answer", {"prompt": "question", "answer": "answer"}),
    RowFormat("text", {"text": "text"}),
)
"""In the order they are tried: a more telling set of columns comes before a mere ``text``."""


def column_key(name: Any) -> str:
    """A column's name whatever its case and the blanks around it."""
    return str(name).strip().lower()


def listed(columns: Iterable[Any]) -> str:
    """Names of columns as a sentence has room for them."""
    names = [str(name).strip() or "(no name)" for name in columns]
    left = len(names) - _LISTED
    more = f" and {left:,} more" if left > 0 else ""
    return ", ".join(names[:_LISTED]) + more or "(none)"


def recognise(first: Row, mapping: str | None = None) -> RowFormat:
    """The format of a source, from the names of its first row's columns (whatever their case).

    Args:
        mapping: the setting ``columns``; None finds the format by the usual names.
    Raises:
        SettingsError: no format has such columns; the message lists those that are known.
    """
    columns = {column_key(name): str(name).strip() for name in first.cells}
    if mapping is not None:
        return _told_apart(_mapped(parse_columns(mapping), columns), first)
    for row_format in FORMATS:
        if required(row_format) <= columns.keys():
            return _told_apart(row_format, first)
    known = "; ".join(" + ".join(sorted(required(f))) for f in FORMATS)
    raise SettingsError(
        f"The columns {listed(first.cells)} are not a known format; "
        f"rename them to one of: {known}; or say which is what {SAID_IN_COLUMNS}."
    )


def required(row_format: RowFormat) -> set[str]:
    """The columns by which a format is known: those of every part but input and system."""
    parts = row_format.columns.items()
    return {column for part, column in parts if part not in ("input", "system")}


def _mapped(by_part: dict[str, str], columns: dict[str, str]) -> RowFormat:
    for part, column in by_part.items():
        if column_key(column) not in columns:
            there = list(columns.values())
            raise SettingsError(
                f"columns takes the {part} from '{column}', and the columns are "
                f"{listed(there)}; name one of these.{nearest(column, there)}"
            )
    keys = [column_key(column) for column in by_part.values()]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        parts = " and the ".join(p for p, key in zip(by_part, keys, strict=True) if key == twice)
        raise SettingsError(
            f"columns takes the {parts} from '{columns[twice]}'; name another column for one."
        )
    return RowFormat("mapped", {part: column_key(column) for part, column in by_part.items()})


def _told_apart(row_format: RowFormat, first: Row) -> RowFormat:
    for column in row_format.columns.values():
        alike = [str(name) for name in first.cells if column_key(name) == column]
        if len(alike) > 1:
            raise SettingsError(
                f"{first.place} has the columns {' and '.join(map(repr, alike))}, which differ "
                "only in capitals and blanks; rename one of them."
            )
    return row_format


class Reader:
    """Turns rows into samples by their format, and keeps count of what became of them.

    no_answer: rows left out because they hold no answer (or no text) to learn.
    tool_calls: of these, conversations in which a reply only calls a tool.
    null_words: rows kept in which a cell says None, NA, NaN or null: words, taken as they stand.
    """

    def __init__(self, row_format: RowFormat, said: Said = unsaid) -> None:
        self.format = row_format
        self.no_answer = 0
        self.tool_calls = 0
        self.null_words = 0
        self._said = said
        self._kinds: dict[str, str] = {}
        self._changed: set[str] = set()

    def sample(self, row: Row) -> Sample | None:
        """The row, understood; None, and counted, if it has nothing to learn.

        Raises:
            SettingsError: it lacks a column, or a cell has the wrong type; the message says where.
        """
        cells = {column_key(name): value for name, value in row.cells.items()}
        if len(cells) < len(row.cells):  # later rows may have other columns than the first
            _told_apart(self.format, row)
        try:
            sample = self._understood(cells, row.place)
        except _BadCell as error:
            raise SettingsError(f"{row.place}: {error}") from None
        if sample is None:
            self.no_answer += 1
            self.tool_calls += any(map(_only_calls, cells.values()))
            return None
        if any(_is_null_word(cells.get(column)) for column in self.format.columns.values()):
            self.null_words += 1
        return sample._replace(place=row.place)

    def _understood(self, cells: Cells, place: str) -> Sample | None:
        self._refuse_lacking(cells)
        columns = self.format.columns
        if "messages" in columns:
            turns = cells[columns["messages"]]
            if turns is None:
                return None
            return _conversation(_turns(turns, columns["messages"]))
        if "text" in columns:
            text = self._text(cells, "text", place) or ""
            return Sample(text=text) if text.strip() else None
        return self._asked(cells, place)

    def _asked(self, cells: Cells, place: str) -> Sample | None:
        columns = self.format.columns
        prompt, answer = cells[columns["prompt"]], cells.get(columns["answer"])
        if isinstance(prompt, list):  # both may be turns themselves
            if answer is None:
                return None
            asked = _turns(prompt, columns["prompt"])
            return _conversation(asked + _turns(answer, columns["answer"]))
        prompt, answer = self._text(cells, "prompt", place), self._text(cells, "answer", place)
        given, system = self._text(cells, "input", place), self._text(cells, "system", place)
        if prompt is None or answer is None or not answer.strip():
            return None
        if given and given.strip():
            prompt = f"{prompt}\n\n{given}"
        turns = (_message("user", prompt), _message("assistant", answer))
        if system and system.strip():
            return Sample((_message("system", system), *turns), chat=True)
        return Sample(turns)

    def _refuse_lacking(self, cells: Cells) -> None:
        needed = {c for part, c in self.format.columns.items() if part not in self.format.may_lack}
        if lacking := sorted(needed - cells.keys()):
            raise _BadCell(
                f"it lacks the column '{lacking[0]}' that the first row has; "
                "add it or remove the row."
            )

    def _text(self, cells: Cells, part: str, place: str) -> str | None:
        column = self.format.columns.get(part, "")
        value = cells.get(column)
        if value is None or value != value:  # NaN is how some tools write nothing
            return None
        kind = "text" if isinstance(value, str) else type(value).__name__
        if not isinstance(value, str | int | float):
            raise _BadCell(f"column '{column}' is {kind}, not text; write it as a string.")
        self._note_change(column, kind if isinstance(value, str | bool) else "number", place)
        return str(value)

    def _note_change(self, column: str, kind: str, place: str) -> None:
        before = self._kinds.setdefault(column, kind)
        if kind != before and column not in self._changed:
            self._changed.add(column)
            self._said(
                f"{place}: column '{column}' is {kind} here and {before} before; "
                "each was read as the text that stands there."
            )


class _BadCell(ValueError):
    pass


def _is_null_word(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() in NULL_WORDS


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _turns(turns: Any, column: str) -> tuple[Message, ...]:
    if isinstance(turns, str):
        raise _BadCell(
            f"column '{column}' is text, not a list of turns; write the list itself, not as text "
            "in quotes, in a .jsonl file."
        )
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise _BadCell(
            f"column '{column}' is no list of turns; write each as "
            '{"role": ..., "content": ...}.'
        )
    return tuple(_turn(turn, column) for turn in turns)


def _turn(turn: dict[str, Any], column: str) -> Message:
    """A turn in either way to write it: role and content, or from and value."""
    if "from" in turn and "role" not in turn:
        speaker, content = turn["from"], turn.get("value")
        role = _ROLES.get(column_key(speaker))
        if role is None:
            raise _BadCell(f"a turn in '{column}' is from {speaker!r}; use human, gpt or system.")
    else:
        role, content = turn.get("role"), turn.get("content")
    if role == "assistant" and content is None:  # it called a tool and said nothing
        content = ""
    if isinstance(content, list):
        content = _joined(content, column)
    if not isinstance(role, str) or not isinstance(content, str):
        raise _BadCell(f"a turn in '{column}' lacks a role or a content that is text; add it.")
    return _message(role, content)


def _joined(parts: list[Any], column: str) -> str:
    """A content in parts, as models that also see images take it; here all must be text."""
    for part in parts:
        kind = part.get("type", "text") if isinstance(part, dict) else type(part).__name__
        if kind != "text" or not isinstance(part.get("text"), str):
            raise _BadCell(
                f"a turn in '{column}' has a part that is no text ({kind}); "
                "only text can be learned here, so remove the row."
            )
    return "".join(part["text"] for part in parts)


def _only_calls(cell: Any) -> bool:
    """Whether a cell holds turns, one of which calls a tool and says nothing."""
    turns = [turn for turn in cell if isinstance(turn, dict)] if isinstance(cell, list) else []
    calls = (turn for turn in turns if turn.get("tool_calls") or turn.get("function_call"))
    return any(not turn.get("content") for turn in calls)


def _conversation(turns: tuple[Message, ...]) -> Sample | None:
    if not any(turn["role"] == "assistant" for turn in turns):
        return None
    silent = any(t["role"] == "assistant" and not t["content"].strip() for t in turns)
    return None if silent else Sample(turns, chat=True)
