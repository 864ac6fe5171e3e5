"""The twin of an English sentence in another language, found by the sentence's shape.

A table (``text/zh_tw/below/``) has the twin of each shape, ``"Preset '{name}' is none of yours."``;
the values are found by the shape and put into the twin. A value may be a sentence itself, except
between quotes: there it is somebody's name. ``{count:d}`` is a number, and anything else is not it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from playground import language
from playground.language import ENGLISH, LANGUAGES
from playground.ui.text import cards as words

OTHERS = tuple(code for code in LANGUAGES if code != ENGLISH)
BELOW = {code: language.beside(words, "below", code) for code in OTHERS}

_LETTER = re.compile(r"[\u3400-\u9fff]")
_WIDE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_NARROW = re.compile(r"[A-Za-z0-9]")
_NUMBER = r"[-−]?\d[\d,.]*(?:e[+-]?\d+)?"  # {count:d}
_QUOTES = {"'": "'", "“": "”", "`": "`"}
_VAGUE = 16  # characters
_SENTENCES = re.compile(r"(?<=[.?!。？！]) (?=\S)")
_MOST_WITHIN = 3  # what looks like the end of a sentence may stand in a name
_WIDE_ENDS = "。？！"  # told already
_LONGEST = 800  # characters; with what somebody has sent, patterns would be tried for seconds
_DEEPEST = 5
_ITEM = r"(?:'[^']*'|[^\s,'\[\]]+)"
_LIST = re.compile(rf"{_ITEM}(?:(?:, | and |, and | or ){_ITEM})+|'[^']*'")
_BETWEEN = re.compile(r", and |, | and | or ")


def told(sentence: str, code: str, depth: int = 0) -> str:
    """Sentence by sentence; one that is in no table stays as it is.

    Args:
        depth: of how many values this is a value.
    """
    parts, whole = _SENTENCES.split(sentence), ""
    while parts:
        longer = (" ".join(parts[:n]) for n in range(1, min(len(parts), _MOST_WITHIN) + 1))
        n, one = next(
            ((n, twin) for n, each in enumerate(longer, 1) if (twin := _whole(each, code, depth))),
            (1, parts[0]),
        )
        whole += f" {one}" if whole and whole[-1] not in _WIDE_ENDS else one
        parts = parts[n:]
    return whole


@lru_cache(maxsize=4096)
def _whole(sentence: str, code: str, depth: int) -> str | None:
    already = sentence.endswith(tuple(_WIDE_ENDS))
    if already or len(sentence) > _LONGEST or depth > _DEEPEST:
        return None
    certain, vague = _shapes(code)
    return (
        _found(sentence, certain, code, depth)
        or _led(sentence, code, depth)
        or _found(sentence, vague, code, depth)
    )


def _found(sentence: str, shapes: Sequence[Shape], code: str, depth: int) -> str | None:
    for shape in shapes:
        found = shape.pattern.fullmatch(sentence)
        if not found or shape.vague and not all(_known(v, code, depth) for v in found.groups()):
            continue
        values = found.groupdict().items()
        told = {f: v if f in shape.quoted else _value(v, code, depth) for f, v in values}
        return _put(shape.twin, told)
    return None


def _led(sentence: str, code: str, depth: int) -> str | None:
    """What is led by a place or by what it is about: ``Line 3 of 'a.csv': it lacks ...``."""
    head, colon, rest = sentence.partition(": ")
    twin = _whole(head, code, depth + 1) if colon else None
    return None if twin is None else f"{twin}{BELOW[code].COLON}{told(rest, code, depth + 1)}"


def _put(twin: str, values: Mapping[str, str]) -> str:
    """The twin with its values."""
    said = ""
    for text, field, *_ in string.Formatter().parse(twin):
        said = _beside(_beside(said, text), values[field] if field else "")
    return said


def _beside(left: str, right: str) -> str:
    """No space between wide characters, and one between a wide letter and a narrow one."""
    last, first = left.rstrip(" ")[-1:], right.lstrip(" ")[:1]
    if not last or not first:
        return left + right
    if _WIDE.match(last) and _WIDE.match(first):
        return left.rstrip(" ") + right.lstrip(" ")
    if any(_LETTER.match(a) and _NARROW.match(b) for a, b in ((last, first), (first, last))):
        return f"{left.rstrip(' ')} {right.lstrip(' ')}"
    return left + right


def _known(value: str, code: str, depth: int) -> bool:
    """A word or two, a list of names, or a sentence of the table."""
    few = value.count(" ") < 2 or _LIST.fullmatch(value)
    return bool(few) or _whole(value, code, depth + 1) is not None


def _value(value: str, code: str, depth: int) -> str:
    if not _LIST.fullmatch(value) or _whole(value, code, depth + 1) is not None:
        return told(value, code, depth + 1)
    below = BELOW[code]
    named = re.sub("'([^']*)'", below.QUOTED, value)
    return re.sub(below.CLOSE, "", _BETWEEN.sub(lambda found: below.LISTS[found[0]], named))


class Shape(NamedTuple):
    """What finds a sentence and its values; which of them are quoted; and the twin.

    vague: it has so few words of its own that it could be found in any sentence, so no value may be
    one that is not known.
    """

    pattern: re.Pattern[str]
    quoted: frozenset[str]
    vague: bool
    twin: str


@cache
def _shapes(code: str) -> tuple[list[Shape], list[Shape]]:
    """Those with most words of their own first, and the vague ones apart."""
    table: Mapping[str, str] = BELOW[code].SAID
    own = {shape: len(re.sub("{.*?}", "", shape)) for shape in table}
    shapes = [
        Shape(*_pattern(shape), own[shape] < _VAGUE, table[shape])
        for shape in sorted(table, key=lambda shape: -own[shape])
    ]
    return [s for s in shapes if not s.vague], [s for s in shapes if s.vague]


def _pattern(shape: str) -> tuple[re.Pattern[str], frozenset[str]]:
    parts = list(string.Formatter().parse(shape))
    afters = [text for text, *_ in parts[1:]] + [""]
    pattern, quoted = "", []
    for (text, field, spec, _), after in zip(parts, afters, strict=True):
        pattern += re.escape(text)
        if field is None:
            continue
        close = _QUOTES.get(text[-1:])
        if close and after.startswith(close):
            quoted.append(field)
            pattern += f"(?P<{field}>[^{close}]*)"
        else:
            pattern += f"(?P<{field}>{_NUMBER if spec else '.*?'})"
    return re.compile(pattern, re.DOTALL), frozenset(quoted)
