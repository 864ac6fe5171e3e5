"""What was written in English below the page, in the language of who looks.

Sentences come as they were written: by a run into the database, by a child as JSON, by an
exception (``twins`` finds what another language says for them). Of a comparison's title and of a
preset, our own words are told.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, partial

from playground import language
from playground.presets import Preset, list_presets
from playground.ui import text as page
from playground.ui import twins
from playground.ui.text import cards as words
from playground.ui.text import labels

_PRESETS = {code: language.beside(words, "presets", code).PRESETS for code in twins.OTHERS}

_CHANGED = re.compile(rf"(^|, )({'|'.join(['model', 'dataset', *labels.LABELS])})=")
_LONGEST = 2_000  # characters; what is longer is what somebody has sent


def said(sentence: str) -> str:
    """A sentence that was written below the page; one that is in no table stays as it is."""
    if len(sentence) > _LONGEST:
        return sentence
    return language.of_twins(sentence, partial(twins.told, sentence))


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
    return f"{twin}{twins.BELOW[code].COLON}{changes}" if colon else twin


def _labelled(changes: str) -> str:
    names = {"model": page.MODEL, "dataset": page.DATASET, **labels.LABELS}
    return _CHANGED.sub(lambda found: f"{found[1]}{names[found[2]]} ", changes)


@cache
def _titles() -> dict[str, str]:
    return {preset.name: preset.title for preset in list_presets()}
