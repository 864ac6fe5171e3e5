"""Sentences that were recorded in English, in the language of who looks."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from playground import language
from playground.language import ENGLISH, LANGUAGES
from playground.presets import Preset, list_presets
from playground.ui.text import recorded as words


def said(sentence: str) -> str:
    """What a run or the machine said of itself (``text/recorded.py``); else as it is."""
    for shape, pattern in _patterns():
        if found := pattern.fullmatch(sentence):
            others = {
                code: _at(language.twin(words, code), shape).format(**found.groupdict())
                for code in LANGUAGES
                if code != ENGLISH
            }
            return language.either({ENGLISH: sentence} | others)
    return sentence


def titled(title: str) -> str:
    """A comparison's title; one that it has from a preset of ours, in the visitor's language."""
    twins = {
        code: next((t["title"] for n, t in _presets(code).items() if _titles()[n] == title), title)
        for code in LANGUAGES
        if code != ENGLISH
    }
    return language.either({ENGLISH: title} | twins)


def told(preset: Preset) -> Preset:
    """A preset of ours with its words in the visitor's language; a person's own as it is."""
    if preset.own:
        return preset
    english = {part: getattr(preset, part) for part in ("title", "summary", "expect", "takes")}
    twins = {code: _presets(code)[preset.name] for code in LANGUAGES if code != ENGLISH}
    each = {
        part: language.either({ENGLISH: said} | {code: t[part] for code, t in twins.items()})
        for part, said in english.items()
    }
    return replace(preset, **each)


def _presets(code: str) -> Mapping[str, Mapping[str, str]]:
    return language.beside(words, "presets", code).PRESETS


@cache
def _titles() -> dict[str, str]:
    return {preset.name: preset.title for preset in list_presets()}


@cache
def _patterns() -> list[tuple[tuple[str, str], re.Pattern]]:
    """Where each sentence stands, and a pattern that finds the values of its fields."""
    with language.speaking(ENGLISH):
        longest_first = sorted(_templates(), key=lambda one: -len(re.sub("{.*?}", "", one[1])))
        return [(shape, _pattern(template)) for shape, template in longest_first]


def _templates() -> Iterator[tuple[tuple[str, str], str]]:
    for name in ("STAGES", "DEVICE", "HOW", "KEPT", "ENDINGS", "SOURCES"):
        for key, template in getattr(words, name).items():
            yield (name, key), template


def _pattern(template: str) -> re.Pattern:
    parts = [
        re.escape(text) + (f"(?P<{field}>.+?)" if field else "")
        for text, field, *_ in string.Formatter().parse(template)
    ]
    return re.compile("".join(parts))


def _at(module: object, shape: tuple[str, str]) -> str:
    name, key = shape
    return getattr(module, name)[key]
