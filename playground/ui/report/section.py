"""The section of Compare that offers reports."""

from __future__ import annotations

from html import escape
from typing import Any

import gradio as gr

from playground.ui import guard
from playground.ui.quiet import QUIET
from playground.ui.report.serving import PATH
from playground.ui.text import report as text


def links(group_id: str, rows: bool) -> str:
    """What can be downloaded of a comparison, from the page's own address."""
    if not group_id:
        return ""
    asked = "?rows=yes" if rows else ""
    listed = "".join(
        f'<a href="{escape(PATH.format(group_id=group_id, kind=kind))}{asked}" download>{name}</a>'
        for kind, name in text.FORMATS.items()
    )
    said = text.INTRO_ROWS if rows else text.INTRO
    return f'<h4>{text.HEADING}</h4><p class="soft">{said}</p><p class="reports">{listed}</p>'


def build(shown: gr.Textbox, changed: gr.HTML) -> None:
    """Draws the section and wires it; call it where it belongs inside ``gr.Blocks``.

    Args:
        shown: the id of the comparison that is shown.
        changed: changes its value when another comparison is shown.
    """
    offered = gr.HTML("", elem_id="reports", apply_default_css=False)
    rows = gr.Checkbox(label=text.WITH_ROWS, visible=False, elem_id="report-rows")

    def on_shown(group_id: str, with_rows: bool, request: gr.Request) -> list[Any]:
        allowed = guard.may_change(request)
        ticked = with_rows and allowed
        box = gr.Checkbox(visible=allowed and bool(group_id), value=ticked)
        return [links(group_id, ticked), box]

    quiet = {"queue": False, **QUIET}
    changed.change(on_shown, [shown, rows], [offered, rows], **quiet)
    rows.input(on_shown, [shown, rows], [offered, rows], **quiet)
