"""Sentences from below the page, which speaks English there, in the language of who looks.

They come as they were written: by a run into the database, by a child as JSON, by an exception. A
table (``text/zh_tw/below/``) has the twin of each by its shape, ``"Preset '{name}' is none of
yours."``; the values are found by the shape and put into the twin. A value may be a sentence
itself, except between quotes: there it is somebody's name.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import NamedTuple

from playground import language
from playground.language import ENGLISH, LANGUAGES
from playground.presets import Preset, list_presets
from playground.ui import text as page
from playground.ui.text import cards as words
from playground.ui.text import labels

OTHERS = tuple(code for code in LANGUAGES if code != ENGLISH)
_BELOW = {code: language.beside(words, "below", code) for code in OTHERS}
_PRESETS = {code: language.beside(words, "presets", code).PRESETS for code in OTHERS}

_CHANGED = re.compile(rf"(^|, )({'|'.join(['model', 'dataset', *labels.LABELS])})=")
_QUOTES = {"'": "'", "“": "”", "`": "`"}
_VAGUE = 16  # characters
_SENTENCES = re.compile(r"(?<=[.?!。？！]) (?=\S)")
_LONGEST = 2_000  # what is longer holds what somebody has sent, and is no sentence
_MOST_WITHIN = 3  # what looks like the end of a sentence may stand in a name
_WIDE_ENDS = "。？！"
_ITEM = r"(?:'[^']*'|[^\s,']+)"
_LIST = re.compile(rf"{_ITEM}(?:(?:, | and |, and | or ){_ITEM})+|'[^']*'")
_BETWEEN = re.compile(r", and |, | and | or ")


def said(sentence: str) -> str:
    """A sentence that was written below the page; one that is in no table stays as it is."""
    if len(sentence) > _LONGEST:
        return sentence
    return language.of_twins(sentence, lambda code: _told(sentence, code))


def titled(title: str) -> str:
    """A comparison's title; what it has of a preset of ours, in the words of the page.

    What was changed since stands behind the preset's title, as ``max_steps=40``, and is told with
    the label that the form has for it.
    """
    own, colon, changes = title.partition(": ")
    if own not in _titles().values():
        return title
    return language.of_twins(f"{own}{colon}{_labelled(changes)}", lambda code: _titled(title, code))


def told(preset: Preset) -> Preset:
    """A preset of ours with its words in the visitor's language; a person's own as it is."""
    if preset.own:
        return preset
    each = {
        part: language.of_twins(getattr(preset, part), partial(_of_preset, preset.name, part))
        for part in ("title", "summary", "expect", "takes")
    }
    return replace(preset, **each)


def _of_preset(name: str, part: str, code: str) -> str:
    return _PRESETS[code][name][part]


def _titled(title: str, code: str) -> str:
    own, colon, changes = title.partition(": ")
    name = next(name for name, known in _titles().items() if known == own)
    with language.speaking(code):
        changes = _labelled(changes)
    twin = _PRESETS[code][name]["title"]
    return f"{twin}{_BELOW[code].COLON}{changes}" if colon else twin


def _labelled(changes: str) -> str:
    names = {"model": page.MODEL, "dataset": page.DATASET, **labels.LABELS}
    return _CHANGED.sub(lambda found: f"{found[1]}{names[found[2]]} ", changes)


@cache
def _titles() -> dict[str, str]:
    return {preset.name: preset.title for preset in list_presets()}


@lru_cache(maxsize=4096)
def _told(sentence: str, code: str) -> str:
    """Sentence by sentence."""
    parts, told = _SENTENCES.split(sentence), ""
    while parts:
        longer = (" ".join(parts[:n]) for n in range(1, min(len(parts), _MOST_WITHIN) + 1))
        n, one = next(
            ((n, twin) for n, each in enumerate(longer, 1) if (twin := _whole(each, code))),
            (1, parts[0]),
        )
        told += f" {one}" if told and told[-1] not in _WIDE_ENDS else one
        parts = parts[n:]
    return told


def _whole(sentence: str, code: str) -> str | None:
    if sentence.endswith(tuple(_WIDE_ENDS)):
        return None  # it is told already
    for pattern, quoted, vague, twin in _shapes(code):
        found = pattern.fullmatch(sentence)
        if not found or vague and not all(_known(value, code) for value in found.groups()):
            continue
        values = found.groupdict().items()
        return twin.format(**{f: v if f in quoted else _value(v, code) for f, v in values})
    head, colon, rest = sentence.partition(": ")
    if colon and (twin := _whole(head, code)) is not None:
        return f"{twin}{_BELOW[code].COLON}{_told(rest, code)}"
    return None


def _known(value: str, code: str) -> bool:
    """A word or two, a list of names, or a sentence of the table."""
    few = value.count(" ") < 2 or _LIST.fullmatch(value)
    return bool(few) or _whole(value, code) is not None


def _value(value: str, code: str) -> str:
    if not _LIST.fullmatch(value) or _whole(value, code) is not None:
        return _told(value, code)
    below = _BELOW[code]
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
def _shapes(code: str) -> list[Shape]:
    """Those with most words of their own first."""
    table: Mapping[str, str] = _BELOW[code].SAID
    own = {shape: len(re.sub("{.*?}", "", shape)) for shape in table}
    most_first = sorted(table, key=lambda shape: -own[shape])
    return [Shape(*_pattern(s), own[s] < _VAGUE, table[s]) for s in most_first]


def _pattern(shape: str) -> tuple[re.Pattern[str], frozenset[str]]:
    parts = list(string.Formatter().parse(shape))
    afters = [text for text, *_ in parts[1:]] + [""]
    pattern, quoted = "", []
    for (text, field, *_), after in zip(parts, afters, strict=True):
        pattern += re.escape(text)
        if field is None:
            continue
        close = _QUOTES.get(text[-1:])
        if close and after.startswith(close):
            quoted.append(field)
            pattern += f"(?P<{field}>[^{close}]*)"
        else:
            pattern += f"(?P<{field}>.*?)"
    return re.compile(pattern, re.DOTALL), frozenset(quoted)
