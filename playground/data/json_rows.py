"""Values of a JSON file one after another, without holding more of it than the next one needs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from playground.config import SettingsError
from playground.data.files import LARGEST_VALUE, TextFile, line_of, too_large

_CHUNK = 2**18
_LONGEST_TOKEN = 16  # -Infinity, or \ud83d\ude00: an error so near the end may be a mere cut


class _Twice(ValueError):
    """An object names a key twice. JSON allows it, and each reader keeps another of the two."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _Twice(key)
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object)
_SPACE = re.compile(r"[ \t\n\r]*")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class Value(NamedTuple):
    """place: where it starts. size: characters it takes in the file."""

    value: Any
    place: str
    size: int


def json_lines(text: TextFile) -> Iterator[Value]:
    """One value from each line that is not blank."""
    for line in text:
        if line.strip():
            yield Value(_line_value(line, text), text.place, len(line))


def json_document(text: TextFile) -> Iterator[Value]:
    """The members of one list, or else the values that stand there, in lines or not."""
    window = _Window(text)
    in_list = window.next() == "["
    if in_list:
        window.skip()
    number = 0
    while (mark := window.next()) and not (in_list and mark == "]"):
        if in_list and number:
            if mark != ",":
                raise window.wrong("Expecting ',' delimiter")
            window.skip()
            window.next()
        number, line = number + 1, window.line
        where = f" (line {line})" if line > 1 else ""
        place = f"Row {number} of '{text.name}'{where}" if in_list else line_of(line, text.name)
        yield window.value(place)
    if in_list:
        if not mark:
            raise window.wrong("Expecting ',' delimiter or ']'")
        window.skip()
        if window.next():
            raise window.wrong("Extra data")


class _Window:
    """The part of a text that is looked at: ``at`` within it, which is on ``line`` of the file."""

    def __init__(self, text: TextFile) -> None:
        self._file, self._text, self._at, self._ended = text, "", 0, False
        self.line, self._column = 1, 1

    def next(self) -> str:
        """The next character that is no white space, not taken; "" at the end."""
        while True:
            self._move(_SPACE.match(self._text, self._at).end())
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._fill()

    def skip(self) -> None:
        self._move(self._at + 1)

    def value(self, place: str) -> Value:
        """The value that begins here, taken."""
        while True:
            try:
                found, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended or not self._may_go_on(error):
                    raise self.wrong(_reason(error), error.pos) from None
            except (RecursionError, ValueError) as error:
                raise _odd(error, place) from None
            else:
                if self._ended or end < len(self._text):  # else a number might go on
                    size = end - self._at
                    _refuse_half_characters(found, self._text[self._at : end], place)
                    self._move(end)
                    return Value(found, place, size)
            if len(self._text) - self._at > LARGEST_VALUE:
                raise too_large(place)
            self._fill()

    def wrong(self, why: str, at: int | None = None) -> SettingsError:
        self._move(self._at if at is None else at)
        return SettingsError(
            f"Dataset file '{self._file.name}' is not JSON ({why} at line {self.line}, column "
            f"{self._column}); mend or remove it."
        )

    def _may_go_on(self, error: json.JSONDecodeError) -> bool:
        cut = error.pos >= len(self._text) - _LONGEST_TOKEN
        return cut or error.msg.startswith("Unterminated string")

    def _move(self, to: int) -> None:
        breaks = self._text.count("\n", self._at, to)
        self.line += breaks
        if breaks:
            self._column = to - self._text.rindex("\n", self._at, to)
        else:
            self._column += to - self._at
        self._at = to

    def _fill(self) -> None:
        # As much again as is left, so that a long value is not begun too often.
        left = self._text[self._at :]
        more = self._file.read(max(_CHUNK, len(left)))
        self._text, self._at, self._ended = left + more, 0, not more


def _reason(error: json.JSONDecodeError) -> str:
    # Some of json's own reasons end in the word that we go on with.
    return error.msg.removesuffix(" at")


def _line_value(line: str, text: TextFile) -> Any:
    try:
        value = _DECODER.decode(line.rstrip())  # else a mistake at its end is one of the next line
    except json.JSONDecodeError as error:
        why = f"{_reason(error)} at column {error.colno}"
        # The first line of one document, laid out for people to read.
        opens = line.strip() in ("[", "{")
        remedy = "name the file .json, if it is one document" if opens else "mend or remove it"
        raise SettingsError(f"{text.place} is not JSON ({why}); {remedy}.") from None
    except (RecursionError, ValueError) as error:
        raise _odd(error, text.place) from None
    _refuse_half_characters(value, line, text.place)
    return value


def _odd(error: Exception, place: str) -> SettingsError:
    """A key twice, nested beyond measure, or a number with thousands of digits."""
    if isinstance(error, _Twice):
        key = str(error) if len(str(error)) <= 60 else f"{str(error)[:60]}…"
        return SettingsError(f"{place} has the key '{key}' twice; remove one of them.")
    deep = isinstance(error, RecursionError)
    why = "it is nested too deeply" if deep else str(error).partition(";")[0]
    return SettingsError(f"{place} is not JSON ({why}); mend or remove it.")


def _refuse_half_characters(value: Any, written: str, place: str) -> None:
    """JSON can write half of a surrogate pair, which no tokenizer and no database can take."""
    if not _HALF.search(written):
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise SettingsError(
            f"{place} holds \\u{code:04x}, which is half of a character; "
            "write the whole character or remove it."
        ) from None
