"""What reaches the page at all: requests that name this host, come from it, and ask what it serves.

Foreign names    a page on the loopback address answers to loopback names, and to its share link's.
                 Otherwise any web site could point a name of its own at 127.0.0.1 and have a
                 visitor's browser start runs here (DNS rebinding).
Foreign sites    a browser says with ``Sec-Fetch-Site`` that another site's page sends something.
Gradio's extras  what the page does not use is closed; some of it writes files for anybody, serves
                 files, or fetches what lies on other hosts.
Length           what is asked is short; answers of handlers are packed.
Other hosts      are asked for nothing, by the server or by the browser.
Visitors         may send what handlers answer, each of which ``guard`` judges, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.authentication import (
    AuthCredentials,
    AuthenticationBackend,
    BaseUser,
    SimpleUser,
    UnauthenticatedUser,
)
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.config import SettingsError
from playground.data.uploads import MAX_BYTES
from playground.ui.data import forget_halves
from playground.ui.guard import MAY_CHANGE, may_change
from playground.ui.languages import Spoken
from playground.ui.login import Login
from playground.ui.text import share as text

LOOPBACK = {"127.0.0.1", "localhost", "::1"}

_API = "/gradio_api"
_UPLOAD = f"{_API}/upload"
_CLOSED = tuple(
    f"{_API}/{name}"
    for name in (
        *("deep_link", "dev", "vibe-", "undo-vibe", "process_recording", "profiling", "proxy="),
        *("file=", "file/", "run-history", "runs", "stream", "token"),
    )
) + ("/monitoring", "/pwa_icon")
_FOR_VISITORS = tuple(
    f"{_API}/{name}"
    for name in ("queue/join", "run/", "api/", "call/", "component_server", "cancel", "reset")
) + ("/login", "/logout")
_READS = ("GET", "HEAD", "OPTIONS")

LONGEST_ASKED = 2**20
"""Bytes of a request that is no upload: what the page asks its handlers is far shorter."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
    "form-action 'self'; frame-ancestors 'self'; object-src 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Whatever stands in a page, the browser loads it from here alone, and shows it in no other's."""


def app_kwargs(host: str, login: Login | None = None, shared_as: str | None = None) -> dict:
    """FastAPI settings for a page served on ``host``.

    Args:
        login: who may change things; None for a page that only this machine reaches.
        shared_as: the host name of its share link, if there is one.
    Raises:
        ValueError: others reach the page, and no login is asked for.
    """
    if login is None and (host not in LOOPBACK or shared_as):
        raise ValueError("a page that others reach needs a login")
    checks = [
        Middleware(AuthenticationMiddleware, backend=_Who(login)),
        Middleware(Gate),
        Middleware(Whole),
        Middleware(Packed),
        Middleware(Spoken),
    ]
    if host in LOOPBACK:  # served for others, the names by which it is reached are not known here
        allowed = sorted(LOOPBACK | {"[::1]"} | ({shared_as} if shared_as else set()))
        checks.insert(0, Middleware(TrustedHostMiddleware, allowed_hosts=allowed))
    return {"middleware": checks, "routes": login.routes() if login else []}


class _Who(AuthenticationBackend):
    """Notes with a request who sends it, by its cookie, and whether that may change something."""

    def __init__(self, login: Login | None) -> None:
        self.login = login

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser] | None:
        if self.login is None:
            return AuthCredentials([MAY_CHANGE]), UnauthenticatedUser()
        name = self.login.name_of(conn)
        return (AuthCredentials([MAY_CHANGE]), SimpleUser(name)) if name else None


class Gate:
    """Refuses what no handler is to see; after authentication, before Gradio."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        refused = _refusal(request)
        if not refused and _asks_a_handler(request):
            asked = await request.body()
            refused, receive = _refusal_of(asked), _again(asked, receive)
        if scope["path"].rstrip("/") in ("", "/config"):
            # ``?page=history`` is for our own handlers: Gradio takes it for one of its own pages,
            # and would look for the file of a ``?deep_link=``.
            scope = {**scope, "query_string": b""}

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(raw=message["headers"]).update(_HEADERS)
            await send(message)

        await (refused or self.app)(scope, receive, with_headers)


class Whole:
    """Keeps nothing of uploads that break off."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.on_their_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope.get("path", "").startswith(_UPLOAD):
            await self.app(scope, receive, send)
            return
        self.on_their_way += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.on_their_way -= 1
            if not self.on_their_way:
                forget_halves()


class Packed:
    """Packs what handlers answer: Gradio packs its files alone, and charts are long."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.packed = GZipMiddleware(app, minimum_size=2000, compresslevel=4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handler = scope.get("path", "").startswith((f"{_API}/run/", f"{_API}/component_server"))
        await (self.packed if handler else self.app)(scope, receive, send)


def _refusal(request: Request) -> Response | None:
    path = request.url.path
    if path.startswith(_CLOSED):
        return PlainTextResponse(text.NOT_SERVED, 404)
    if request.method in _READS:
        return None
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return PlainTextResponse(text.CROSS_SITE, 403)
    if path.startswith(_UPLOAD):
        if not _fits(request, MAX_BYTES + 2**16):  # one file, with what is sent around it
            return PlainTextResponse(text.TOO_LARGE.format(most=MAX_BYTES // 2**20), 413)
    elif not _fits(request, LONGEST_ASKED):
        return PlainTextResponse(text.TOO_LONG.format(most=LONGEST_ASKED // 2**10), 413)
    if not may_change(request) and not path.startswith(_FOR_VISITORS):
        return PlainTextResponse(text.REFUSED, 403)
    return None


def _fits(request: Request, most: int) -> bool:
    """Whether a request says its length, and it is ``most`` bytes or fewer."""
    said = request.headers.get("content-length", "")
    return said.isascii() and said.isdigit() and int(said) <= most


def _asks_a_handler(request: Request) -> bool:
    path = request.url.path
    return (
        request.method not in _READS
        and path.startswith(f"{_API}/")
        and not path.startswith(_UPLOAD)
    )


def _refusal_of(asked: bytes) -> Response | None:
    """What is asked of a handler is JSON: forms with files would be kept on the disk for anybody.

    A file that it names by its address would be fetched by Gradio, for anybody.
    """
    try:
        elsewhere = _names_an_address(json.loads(asked))
    except (ValueError, RecursionError):
        return PlainTextResponse(text.NOT_JSON, 400)
    return PlainTextResponse(text.ELSEWHERE, 400) if elsewhere else None


def _names_an_address(value: Any) -> bool:
    """Whether there is a ``path`` with a scheme, however deep."""
    if isinstance(value, dict):
        path = value.get("path")
        named = isinstance(path, str) and "://" in path
        return named or any(map(_names_an_address, value.values()))
    return isinstance(value, list) and any(map(_names_an_address, value))


def _again(body: bytes, receive: Receive) -> Receive:
    """``receive`` of a request whose whole body was read already: that first."""
    unread = [body]

    async def first() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return first


def file_route(path: str, find: Callable[..., Path], inside: Path) -> Route:
    """A file to download, for who may change things: ``path`` with ``{names}`` as Starlette's.

    Args:
        find: gets the names of the path; raises SettingsError if there is no such file.
        inside: the folder that the file must lie in, links followed.
    """

    def answer(request: Request) -> Response:
        if not may_change(request):
            return PlainTextResponse(text.REFUSED, 403)
        try:
            file = find(**request.path_params).resolve(strict=True)
        except (SettingsError, OSError):
            return PlainTextResponse(text.NOT_SERVED, 404)
        if not file.is_relative_to(inside.resolve()) or not file.is_file():
            return PlainTextResponse(text.NOT_SERVED, 404)
        return FileResponse(file, filename=file.name, content_disposition_type="attachment")

    return Route(path, answer, methods=["GET"])
