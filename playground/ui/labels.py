"""Sentences about settings, in the words of the form."""

from __future__ import annotations

import re

from playground.config.columns import SAID_IN_COLUMNS
from playground.ui import text
from playground.ui.text import labels as words

_KEY = re.compile(rf"\b({'|'.join(key for key in words.LABELS if '_' in key)})\b(?!=)")


def labelled(sentence: str) -> str:
    """A sentence about settings (``max_steps``) with the labels that the form gives them."""
    sentence = sentence.replace(SAID_IN_COLUMNS, words.UNDER_COLUMNS)
    return _KEY.sub(lambda found: text.QUOTED.format(words=words.LABELS[found[0]]), sentence)
