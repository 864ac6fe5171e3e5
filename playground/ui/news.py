"""What is new of the comparison that a page shows: a small question, asked past Gradio's handlers.

A handler of Gradio's costs milliseconds even if it answers nothing, and each of twenty pages asks
every second. Here all of them are answered from the same drawing, packed once (``scenes.py``), and
a page that has it gets an empty answer. What the page does with news is Gradio's again: a handler
in the browser puts the parts into the widgets, as if the server had sent them.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from playground.ui import guard, languages
from playground.ui.quiet import QUIET
from playground.ui.scenes import Scenes

_PATH = "/news"


def shown(group_id: str | None, stamp: str) -> dict[str, Any]:
    """The component's value once the page shows a comparison as ``Scenes.show`` has it."""
    return {"of": {"group": group_id or "", "stamp": stamp}}


def build(outputs: list[Any]) -> gr.HTML:
    """What asks, and fills ``outputs``; everything that shows a comparison gives it ``shown``."""
    asker = gr.HTML(
        value=None,
        html_template="",
        js_on_load=(Path(__file__).parent / "news.js").read_text(encoding="utf-8"),
        apply_default_css=False,
        visible="hidden",
        elem_id="news",
    )
    asker.news(None, asker, outputs, js="(news) => news.parts", **QUIET)
    asker.away(lambda: None, None, None, queue=False, **QUIET)
    return asker


def route(scenes: Scenes) -> Route:
    """Answers what ``news.js`` asks: anybody, with what they may see."""

    async def answer(request: Request) -> Response:
        asked = request.query_params
        group_id, stamp = asked.get("group") or None, asked.get("stamp", "")
        packed = None
        if not scenes.is_newest(group_id, stamp):  # one number; a thread would cost more than that
            may_change = guard.may_change(request)
            packed = await run_in_threadpool(scenes.news, group_id, stamp, may_change)
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        if packed is None:
            return Response(status_code=204, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
        else:
            packed = gzip.decompress(packed)
        return Response(packed, media_type="application/json", headers=headers)

    return Route(_PATH, answer, methods=["GET"], middleware=languages.ADDRESSED)
