"""The language of the page: by the browser's wish, or by what was chosen in the masthead.

The page is built once, with marks where its sentences go; ``Spoken`` fills them in what it sends.
Gradio's own I18n would do so in the browser, for one sentence in a property and not for the choices
of a list; what Gradio itself says (it has a Traditional Chinese of its own) follows our choice.
"""

from __future__ import annotations

import json
from html import escape

import gradio as gr
from gradio.context import LocalContext
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground import language
from playground.language import ENGLISH, LANGUAGES

COOKIE = "language"

_CHOOSE = """
element.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-language]");
  if (!button) return;
  const kept = "path=/; max-age=31536000; samesite=lax";
  document.cookie = `language=${button.dataset.language}; ${kept}`;
  location.reload();
});
"""


def asked(conn: HTTPConnection) -> str:
    """The language that was chosen on the page; else the first the browser wants and we have."""
    chosen = conn.cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    return preferred(conn.headers.get("accept-language", ""))


def preferred(accepted: str) -> str:
    """By an ``Accept-Language`` header.

    Any Chinese is served the one there is: who reads Simplified characters reads Traditional ones
    sooner than English, and the switch is at the top.
    """
    wanted = []
    for part in accepted.split(","):
        tag, _, quality = part.strip().partition(";q=")
        try:
            wanted.append((-float(quality or 1), tag.lower()))
        except ValueError:
            continue
    for _, tag in sorted(wanted, key=lambda one: one[0]):
        for code in LANGUAGES:
            if tag.split("-")[0] == code.split("-")[0]:
                return code
    return ENGLISH


def _of_handler() -> str | None:
    """The language of who is answered by a handler of Gradio's, queued or not."""
    request = LocalContext.request.get(None)
    inner = getattr(request, "request", None)
    return asked(inner) if isinstance(inner, HTTPConnection) else None


language.asked_by(_of_handler)


def switch() -> gr.HTML:
    """The choice of a language, for the masthead."""
    buttons = "".join(
        f'<button type="button" lang="{code}" data-language="{code}" aria-pressed="'
        + language.either({c: str(c == code).lower() for c in LANGUAGES})
        + f'">{escape(name)}</button>'
        for code, name in LANGUAGES.items()
    )
    return gr.HTML(
        f'<div class="languages" role="group" aria-label="Language · 語言">{buttons}</div>',
        js_on_load=_CHOOSE,
        elem_id="languages",
        apply_default_css=False,
    )


class Addressed:
    """For pages of our own beside Gradio's: what answers speaks the language of who asks."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with language.speaking(asked(HTTPConnection(scope))):
            await self.app(scope, receive, send)


ADDRESSED = [Middleware(Addressed)]
"""For the ``middleware`` of a route."""


class Spoken:
    """Fills the sentences of the page into it as it is sent, and says which language it is in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].rstrip("/") not in ("", "/config"):
            await self.app(scope, receive, send)
            return
        code, start, body = asked(HTTPConnection(scope)), None, []

        async def filled(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            body.append(message.get("body", b""))
            if message.get("more_body"):
                return
            whole = b"".join(body)
            if "text/html" in Headers(raw=start["headers"]).get("content-type", ""):
                whole = _declare(whole, code)
            whole = language.fill(whole.decode(), code, _in_json).encode()
            headers = MutableHeaders(raw=start["headers"])
            if "content-length" in headers:
                headers["content-length"] = str(len(whole))
            headers.add_vary_header("Cookie")
            headers.add_vary_header("Accept-Language")
            await send(start)
            await send({"type": "http.response.body", "body": whole})

        await self.app(scope, receive, filled)


def _declare(page: bytes, code: str) -> bytes:
    """Tells browser and Gradio the language; Gradio asks the navigator for it."""
    said = f'<script>Object.defineProperty(navigator,"language",{{value:"{code}"}})</script>'
    page = page.replace(b'lang="en"', f'lang="{code}"'.encode(), 1)
    return page.replace(b"<head>", f"<head>{said}".encode(), 1)


def _in_json(said: str) -> str:
    """Between the quotes of JSON that stands in a script."""
    inside = json.dumps(said, ensure_ascii=False)[1:-1]
    for sign in "<>&'":
        inside = inside.replace(sign, f"\\u{ord(sign):04x}")
    return inside
