"""Sentences about settings, in the words of the form."""

from __future__ import annotations

import re

from playground import language
from playground.config.columns import SAID_IN_COLUMNS
from playground.ui import recorded, text
from playground.ui.text import labels as words

_KEYS = "|".join(key for key in words.LABELS if "_" in key)
_KEY = re.compile(rf"( ?)(?:'({_KEYS})'|「({_KEYS})」|(?<![\w.])({_KEYS})(?![\w=]))( ?)", re.ASCII)


def labelled(sentence: str) -> str:
    """A sentence about settings (``max_steps``) with the labels that the form gives them."""
    sentence = recorded.said(sentence.replace(SAID_IN_COLUMNS, words.UNDER_COLUMNS))
    return _KEY.sub(_label, sentence)


def _label(found: re.Match[str]) -> str:
    before, *keys, after = found.groups()
    key = next(filter(None, keys))
    label = text.QUOTED.format(words=words.LABELS[key])
    # Between Chinese words a name in Latin letters has spaces around it, and a quotation none.
    return f"{before}{label}{after}" if language.spoken() == language.ENGLISH else label
