"""The section of Compare that offers reports, and the address at which each is made."""

from __future__ import annotations

import gzip
import time
from collections import OrderedDict
from collections.abc import Callable
from html import escape
from typing import Any

import gradio as gr
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from playground import language
from playground.config import SettingsError
from playground.store import Group, RunStore
from playground.ui import guard, languages
from playground.ui.report.making import FORMATS, as_text, file_name
from playground.ui.scenes import REST
from playground.ui.text import report as text
from playground.ui.watch import Seen

KEPT = 6
LONG_S = 0.5
_PATH = "reports/{group_id}.{kind}"


def download(store: RunStore) -> Route:
    """Makes the report that is asked for, and nothing else; with rows for who may change things."""
    made = _Made(store)

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
            # Programs read the others: those say the same to everybody.
            code = languages.asked(request) if kind == "html" else language.ENGLISH
            with language.speaking(code):
                if rows:
                    packed = _pack(as_text(store, group, kind, rows=True))
                else:
                    packed = made.packed(request, group, kind)
        except gr.Error:
            return PlainTextResponse(text.BUSY, 429)
        headers = _headers(file_name(group, kind))
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        else:
            packed = gzip.decompress(packed)
        return Response(packed, media_type=FORMATS[kind], headers=headers)

    return Route(f"/{_PATH}", answer, methods=["GET"])


class _Made:
    """Reports without rows, kept until something has changed in what they are of.

    Those of long runs take seconds of a core. Visitors make few (``guard.sparing``), and after one
    that took long none for ``REST`` times as long; meanwhile they get the newest that was made.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, ...], tuple[int, bytes]] = OrderedDict()
        self._spare = guard.sparing()
        self._rests_until = 0.0

    def packed(self, request: Request, group: Group, kind: str) -> bytes:
        """The report, packed with gzip. Raises ``gr.Error`` for a visitor who has to wait."""
        key = (group.id, kind, language.spoken())
        token = self._store.change_token(group.id)
        known, older = self._kept.get(key, (None, b""))
        if known == token:
            return older
        group = self._store.get_group(group.id)  # after the token: never older than that says
        try:
            done = self._begin(request)
        except gr.Error:
            if older:
                return older
            raise
        began = time.monotonic()
        try:
            newest = _pack(as_text(self._store, group, kind))
        finally:
            took = time.monotonic() - began
            if took > LONG_S:
                self._rests_until = time.monotonic() + REST * took
            if done:
                done()
        self._kept[key] = token, newest
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return newest

    def _begin(self, request: Request) -> Callable[[], None] | None:
        if time.monotonic() < self._rests_until and not guard.may_change(request):
            raise gr.Error(text.BUSY, print_exception=False)
        return self._spare(request)


def _pack(made: str) -> bytes:
    return gzip.compress(made.encode(), compresslevel=4)


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
