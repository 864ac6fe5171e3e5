"""A question that has to be answered before something is done that cannot be undone.

Put ``question(...)`` into the component as its value and it opens; its ``delete`` event says yes.
"""

from __future__ import annotations

import itertools
from html import escape
from pathlib import Path

import gradio as gr

_NUMBER = itertools.count()


def build(elem_id: str) -> gr.HTML:
    """The component, closed. Wire ``.delete(guard.changes(handler), ...)``."""
    script = (Path(__file__).parent / "dialog.js").read_text(encoding="utf-8")
    return gr.HTML("", js_on_load=script, elem_id=elem_id, apply_default_css=False)


def question(heading: str, said: str, yes: str, no: str) -> str:
    """The dialog as HTML. The answer that changes nothing has the focus."""
    number = next(_NUMBER)  # the same question asked twice is another value
    return (
        f'<dialog class="question" aria-labelledby="question-{number}"><form method="dialog">'
        f'<h2 id="question-{number}">{escape(heading)}</h2><p>{escape(said)}</p><div>'
        f'<button value="no" autofocus>{escape(no)}</button>'
        f'<button value="yes" class="stop">{escape(yes)}</button></div></form></dialog>'
    )
