"""A small server that answers as the Hugging Face hub does, from folders, well or badly.

A repository is a folder; how it behaves is said by a word: see ``Repo``. It serves what the hub's
client asks: a repository's description, its tree, and its files, with ranges.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

COMMIT = "b" * 40
_CHUNK = 2**14

Mood = Literal["well", "gated", "error", "silent", "busy", "refuses token", "portal"]


@dataclass
class Repo:
    """A repository: ``folder`` has its files; ``mood`` says how it answers.

    gate: files named here are sent only to their middle until ``Hub.go_on`` is set.
    """

    folder: Path
    kind: Literal["model", "dataset"] = "model"
    mood: Mood = "well"
    gate: tuple[str, ...] = ()


@dataclass
class Hub:
    """What is served, and what was asked: (method, path) in order."""

    repos: dict[str, Repo] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    half_sent: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def fetched(self, name: str) -> int:
        """How often a file's content was asked for."""
        return sum(method == "GET" and path.endswith(f"/{name}") for method, path in self.asked)


@contextmanager
def serving_hub() -> Iterator[Hub]:
    """Serves until the block is left."""
    hub = Hub()

    class Handler(_Handler):
        served = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    served: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.served.asked.append((self.command, path))
        self.with_body = with_body
        api = re.fullmatch(r"/api/(model|dataset)s/([^/]+/[^/]+)(?:/(revision|tree)/[^/]+)?", path)
        file = re.fullmatch(r"/(datasets/)?([^/]+/[^/]+)/resolve/[^/]+/(.+)", path)
        try:
            if api:
                self._about(api[1], api[2], api[3] == "tree")
            elif file:
                self._file("dataset" if file[1] else "model", file[2], file[3])
            else:
                self._send(404, {"error": "no such page"})
        except (BrokenPipeError, ConnectionResetError):  # who asked has gone
            self.close_connection = True

    def _repo(self, kind: str, hub_id: str) -> Repo | None:
        repo = self.served.repos.get(hub_id)
        if repo is None or repo.kind != kind:
            self._send(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
            return None
        if repo.mood == "silent":
            self.served.go_on.wait()
            self.close_connection = True
            return None
        if repo.mood == "portal":
            self._send(200, b"<html>log in to this network</html>")
            return None
        status = {"error": 500, "busy": 429, "refuses token": 401}.get(repo.mood)
        if status:
            said = "Invalid credentials in Authorization header" if status == 401 else "trouble"
            headers = {"X-Error-Message": said, "Retry-After": "0"}
            self._send(status, {"error": said}, headers)
            return None
        return repo

    def _about(self, kind: str, hub_id: str, tree: bool) -> None:
        repo = self._repo(kind, hub_id)
        if repo is None:
            return
        names = sorted(p.relative_to(repo.folder) for p in repo.folder.rglob("*") if p.is_file())
        if tree:
            self._send(200, [_in_tree(repo.folder / name, str(name)) for name in names])
            return
        about = {
            "id": hub_id,
            "sha": COMMIT,
            "gated": "manual" if repo.mood == "gated" else False,
            "private": False,
            "tags": [],
            "downloads": 0,
            "siblings": [
                {"rfilename": str(name), "size": (repo.folder / name).stat().st_size}
                for name in names
            ],
        }
        self._send(200, about)

    def _file(self, kind: str, hub_id: str, name: str) -> None:
        repo = self._repo(kind, hub_id)
        if repo is None:
            return
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if repo.mood == "gated" and token not in self.served.tokens:
            status = 403 if token else 401
            self._send(status, {"error": "gated"}, {"X-Error-Code": "GatedRepo"})
            return
        path = repo.folder / name
        if not path.is_file():
            self._send(404, {"error": "no file"}, {"X-Error-Code": "EntryNotFound"})
            return
        self._send_file(path.read_bytes(), held=name in repo.gate)

    def _send_file(self, content: bytes, *, held: bool) -> None:
        etag = hashlib.sha256(content).hexdigest()
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        start = int(part[1]) if part else 0
        body = content[start : int(part[2]) + 1 if part and part[2] else None]
        self.send_response(206 if part else 200)
        self.send_header("ETag", f'"{etag}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(body)))
        if part:
            end = start + len(body) - 1
            self.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
        self.end_headers()
        if not self.with_body:
            return
        half = len(body) // 2 if held else len(body)
        self.wfile.write(body[:half])
        if held:
            self.wfile.flush()
            self.served.half_sent.set()
            self.served.go_on.wait()
            self.wfile.write(body[half:])

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        written = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.with_body:
            self.wfile.write(written)


def _in_tree(path: Path, name: str) -> dict[str, Any]:
    content = path.read_bytes()
    oid = hashlib.sha1(content).hexdigest()
    return {"type": "file", "path": name, "size": len(content), "oid": oid}
