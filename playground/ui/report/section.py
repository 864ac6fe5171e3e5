"""The section of Compare that offers reports, and the address at which each is made."""

from __future__ import annotations

from html import escape
from typing import Any

import gradio as gr
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from playground.config import SettingsError
from playground.store import RunStore
from playground.ui import guard
from playground.ui.report.making import FORMATS, as_text, file_name
from playground.ui.text import report as text
from playground.ui.watch import Seen

_PATH = "reports/{group_id}.{kind}"


def download(store: RunStore) -> Route:
    """Makes the report that is asked for, and nothing else; with rows for who may change things."""
    spare = guard.sparing()

    def answer(request: Request) -> Response:
        rows, kind = request.query_params.get("rows") == "yes", request.path_params["kind"]
        if rows and not guard.may_change(request):
            return PlainTextResponse(text.ROWS_FOR_OWNERS, 403)
        try:
            group = store.get_group(request.path_params["group_id"])
        except SettingsError:
            return PlainTextResponse(text.UNKNOWN, 404)
        if kind not in FORMATS:
            return PlainTextResponse(text.UNKNOWN, 404)
        try:
            done = spare(request)
        except gr.Error:
            return PlainTextResponse(text.BUSY, 429)
        try:
            made = as_text(store, group, kind, rows)
        finally:
            if done:
                done()
        return Response(made, media_type=FORMATS[kind], headers=_headers(file_name(group, kind)))

    return Route(f"/{_PATH}", answer, methods=["GET"])


def _headers(name: str) -> dict[str, str]:
    return {
        "Content-Disposition": f'attachment; filename="{name}"',  # an id: letters, digits, dashes
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }


def links(group_id: str | None, rows: bool) -> str:
    """What can be downloaded of a comparison, from the page's own address."""
    if not group_id:
        return ""
    asked = "?rows=yes" if rows else ""
    listed = "".join(
        f'<a href="{escape(_PATH.format(group_id=group_id, kind=kind))}{asked}" download>{name}</a>'
        for kind, name in text.FORMATS.items()
    )
    said = text.INTRO_ROWS if rows else text.INTRO
    return f'<h4>{text.HEADING}</h4><p class="soft">{said}</p><p class="reports">{listed}</p>'


def build(seen: gr.State, changed: gr.HTML) -> None:
    """Draws the section and wires it; call it where it belongs inside ``gr.Blocks``.

    Args:
        seen: which comparison is shown (``watch.Seen``).
        changed: changes its value when another comparison is shown.
    """
    offered = gr.HTML("", elem_id="reports", apply_default_css=False)
    rows = gr.Checkbox(label=text.WITH_ROWS, visible=False, elem_id="report-rows")

    def on_shown(shown: Seen, with_rows: bool, request: gr.Request) -> list[Any]:
        allowed = guard.may_change(request)
        ticked = with_rows and allowed
        box = gr.Checkbox(visible=allowed and bool(shown.group_id), value=ticked)
        return [links(shown.group_id, ticked), box]

    quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    changed.change(on_shown, [seen, rows], [offered, rows], **quiet)
    rows.input(on_shown, [seen, rows], [offered, rows], **quiet)
