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
    buttons = (
        f'<button value="no" autofocus>{escape(no)}</button>'
        f'<button value="yes" class="stop">{escape(yes)}</button>'
    )
    return _dialog(heading, f"<p>{escape(said)}</p>", buttons)


def entry(heading: str, label: str, value: str, yes: str, no: str) -> str:
    """One that asks for a word; ``typed(event)`` of its ``delete`` event is what was typed."""
    field = (
        f'<label>{escape(label)}<input name="typed" value="{escape(value)}" autofocus '
        'autocomplete="off"></label>'
    )
    # Enter takes the first button.
    buttons = f'<button value="yes">{escape(yes)}</button><button value="no">{escape(no)}</button>'
    return _dialog(heading, f"<p>{field}</p>", buttons)


def typed(told: gr.EventData) -> str:
    return str(told._data.get("typed", ""))


def _dialog(heading: str, body: str, buttons: str) -> str:
    number = next(_NUMBER)  # the same question asked twice is another value
    return (
        f'<dialog class="question" aria-labelledby="question-{number}"><form method="dialog">'
        f'<h2 id="question-{number}">{escape(heading)}</h2>{body}<div>{buttons}</div>'
        "</form></dialog>"
    )
