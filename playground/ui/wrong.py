"""What is wrong with the form, said beside the fields that it is wrong with (``wrong.js``)."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import gradio as gr

from playground.config import SECTIONS
from playground.ui import form, panels, recorded
from playground.ui.labels import labelled

_NAMES = "|".join(sorted(form.KEYS, key=len, reverse=True))
# Each sentence begins with what it is about: "Max_steps is ...", "Model 'x' is ...", "'seeds' is".
_ABOUT = re.compile(rf"(?:^|(?<=[.?!] ))(?:Setting )?'?({_NAMES})'? (?:is\b|takes\b|')", re.I)


def build() -> gr.HTML:
    """The form's notice; its value is ``told`` or any other HTML, which marks no field."""
    script = (Path(__file__).parent / "wrong.js").read_text(encoding="utf-8")
    return gr.HTML("", js_on_load=script, elem_id="notice", apply_default_css=False)


def told(sentences: str, said: str) -> str:
    """The notice ``said``, and for the browser which fields ``sentences`` are about."""
    marks = {
        key: [_fold(key), recorded.said(labelled(sentence))]
        for key, sentence in fields(sentences).items()
    }
    written = escape(json.dumps(marks, ensure_ascii=False))
    return f'{panels.notice(said)}<i hidden data-wrong="{written}"></i>'


def fields(sentences: str) -> dict[str, str]:
    """By the key of a field, the sentences about it."""
    starts = list(_ABOUT.finditer(sentences))
    ends = [*(found.start() for found in starts), len(sentences)][1:]
    return {
        found[1].lower(): sentences[found.start() : end].strip()
        for found, end in zip(starts, ends, strict=True)
    }


def _fold(key: str) -> str:
    """The section that the field is folded into; none for those that are always seen."""
    return next((section for section in SECTIONS if key in form.advanced(section)), "")
