"""The address at which each report is made, and those that are kept."""

from __future__ import annotations

import gzip
import io
import threading
import time
import weakref
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from tempfile import SpooledTemporaryFile

import gradio as gr
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from playground import language
from playground.config import SettingsError
from playground.store import Group, RunStore
from playground.ui import guard, languages
from playground.ui.report.making import FORMATS, file_name, parts
from playground.ui.scenes import REST
from playground.ui.text import report as text

PATH = "reports/{group_id}.{kind}"
KEPT = 6
LONG_S = 0.5
IN_MEMORY = 4 * 2**20
"""Bytes of a packed report; a longer one goes to a file without a name."""
_CHUNK = 2**17


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
                    packed = Packed(parts(store, group, kind, rows=True))
                else:
                    packed = made.packed(request, group, kind)
        except gr.Error:
            return PlainTextResponse(text.BUSY, 429)
        except OSError:
            return PlainTextResponse(text.NO_ROOM, 507)
        return _response(packed, request, file_name(group, kind), FORMATS[kind])

    return Route(f"/{PATH}", answer, methods=["GET"])


def _response(packed: Packed, request: Request, name: str, media_type: str) -> Response:
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',  # an id: letters, digits, dashes
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Vary": "Accept-Encoding",
    }
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return StreamingResponse(packed.unpacked(), media_type=media_type, headers=headers)
    headers |= {"Content-Encoding": "gzip", "Content-Length": str(packed.size)}
    return StreamingResponse(packed.chunks(), media_type=media_type, headers=headers)


class Packed:
    """A text in parts, packed with gzip as they come; read by any number at once."""

    def __init__(self, made: Iterable[str]) -> None:
        """Raises OSError: the disk has no room for it."""
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - kept while it is read
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        with (
            gzip.GzipFile(fileobj=self._file, mode="wb", compresslevel=4) as packed,
            io.TextIOWrapper(io.BufferedWriter(packed, _CHUNK), "utf-8", newline="") as file,
        ):
            file.writelines(made)
        self.size = self._file.tell()

    def chunks(self) -> Iterator[bytes]:
        for start in range(0, self.size, _CHUNK):
            with self._lock:
                self._file.seek(start)
                chunk = self._file.read(_CHUNK)
            yield chunk

    def unpacked(self) -> Iterator[bytes]:
        stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)  # 16: with gzip's header
        yield from map(stream.decompress, self.chunks())


class _Made:
    """Reports without rows, kept until something has changed in what they are of.

    Those of long runs take seconds of a core. Visitors make few (``guard.sparing``), and after one
    that took long none for ``REST`` times as long; meanwhile they get the newest that was made.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, ...], tuple[int, Packed]] = OrderedDict()
        self._spare = guard.sparing()
        self._rests_until = 0.0

    def packed(self, request: Request, group: Group, kind: str) -> Packed:
        """The report. Raises ``gr.Error`` for a visitor who has to wait."""
        key = (group.id, kind, language.spoken())
        token = self._store.change_token(group.id)
        known, older = self._kept.get(key, (None, None))
        if older and known == token:
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
            newest = Packed(parts(self._store, group, kind))
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
