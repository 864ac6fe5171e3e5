"""A served page under attack, over HTTP as it is written: paths, bodies, uploads that break off."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from playground.data.uploads import keep, look
from playground.export import archive_of
from playground.ui import data, gate
from tests.generate.finished import finished_group
from tests.ui.conftest import Served, until

API = "/gradio_api"
SECRET = b"not for you"


def answer(url: str, *lines: str, body: bytes = b"") -> tuple[int, bytes]:
    """Status and all that came back for a request whose path no client has made tidy."""
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=30) as line:
        head = [lines[0], "Host: 127.0.0.1", "Connection: close", *lines[1:], "", ""]
        line.sendall("\r\n".join(head).encode("latin-1") + body)
        came = b""
        while more := line.recv(1 << 16):
            came += more
    return int(came.split()[1]), came


def written(path: Path, base: Path) -> list[str]:
    """The ways in which a path may be written so that a server steps out of ``base``."""
    up = os.path.relpath(path, base)
    whole = str(path)
    return [
        *(whole, up, f"{base}/{up}", f"./{up}"),
        *(whole.replace("/", "%2f"), up.replace("/", "%2f"), up.replace("..", "%2e%2e")),
        *(up.replace("..", "%2e%2e").replace("/", "%2f"), up.replace("..", "%252e%252e")),
        *(up.replace("/", "%252f"), up.replace("/", "\\"), up.replace("/", "%5c")),
        *(up.replace("../", "..../"), up.replace("../", "....//"), up.replace("..", "..%00")),
        *(up.replace("..", "%c0%ae%c0%ae"), f"file://{whole}", f"//{whole}", f"~/{up}"),
    ]


def test_no_file_of_the_home_is_fetched_however_its_path_is_written(
    served: Served, tmp_path: Path
) -> None:
    """By any route that serves a file, from folders of ours with links in them."""
    secret = served.home / "secret.zip"
    secret.write_bytes(SECRET)
    given = tmp_path / "in.jsonl"
    given.write_bytes(b'{"text": "' + SECRET + b'"}\n')
    upload = keep(served.home, given, "rows.jsonl", look).path
    (upload.parent / "link.jsonl").symlink_to(secret)
    run_id = finished_group(served.store).run_ids[0]
    archive = archive_of(served.store, run_id, "adapter")
    archive.parent.mkdir(parents=True)
    archive.symlink_to(secret)
    (served.home / "reports").symlink_to(served.home)
    arriving = data.receive_apart()
    (arriving / "link.jsonl").symlink_to(secret)

    routes = {
        **dict.fromkeys((f"{API}/file=", f"{API}/file/", "/file=", "/file/"), arriving),
        **dict.fromkeys(("/static/", "/assets/", "/svelte/", f"{API}/"), Path.cwd()),
        f"{API}/custom_component/0/client/component/": Path.cwd(),
        f"/exports/{run_id}/": archive.parent,
        "/exports/": served.home / "runs",
        "/reports/": served.home,
    }
    asked = 0
    for route, base in routes.items():
        for path in (secret, upload, upload.parent / "link.jsonl", served.home / "playground.db"):
            for way in (*written(path, base), f"{path.stem}{path.suffix}"):
                status, came = answer(served.url, f"GET {route}{way} HTTP/1.1")
                assert status >= 400, (route, way, status)
                assert SECRET not in came and b"SQLite format" not in came, (route, way)
                asked += 1
    for name in ("adapter.zip", "link.jsonl"):
        assert answer(served.url, f"GET /exports/{run_id}/{name} HTTP/1.1")[0] == 404
    link = arriving / "link.jsonl"
    assert answer(served.url, f"GET {API}/file={link} HTTP/1.1")[0] == 404
    assert asked > 500


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that this process looks up; those of other hosts it does not find."""
    found: list[str] = []
    look_up = socket.getaddrinfo

    def noted(host: Any, *others: Any, **more: Any) -> Any:
        if host in (None, "127.0.0.1", "localhost"):
            return look_up(host, *others, **more)
        found.append(str(host))
        raise socket.gaierror("no such host")

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    return found


ADDRESS = "https://elsewhere.example/rows.jsonl"
FILE = {"path": ADDRESS, "url": ADDRESS, "meta": {"_type": "gradio.FileData"}}
"""What a browser sends for a file that lies on another host."""


def test_the_server_fetches_nothing_from_elsewhere_for_anybody(
    served: Served, hosts: list[str]
) -> None:
    with httpx.Client(base_url=served.url) as client:
        config = client.get("/config").json()
        takes = next(
            d for d in config["dependencies"] if d["inputs"] and not d["queue"] and d["backend_fn"]
        )
        for given in (FILE, {"a": [{"b": FILE | {"path": ADDRESS.upper()}}]}):
            asked = {
                "data": [given] * len(takes["inputs"]),
                "fn_index": takes["id"],
                "session_hash": "s",
            }
            for encoding in ("utf-8", "utf-16"):
                body = json.dumps(asked).encode(encoding)
                for path in ("run/predict", "queue/join", "component_server", "call/x"):
                    kind = {"Content-Type": "application/json"}
                    reply = client.post(f"{API}/{path}", content=body, headers=kind)
                    assert reply.status_code == 400, path
        for path in ("file=", "file/", "proxy="):
            assert client.get(f"{API}/{path}{ADDRESS}").status_code == 404, path
    assert hosts == []


def test_what_is_asked_is_short_and_says_its_length(served: Served) -> None:
    post = f"POST {API}/run/predict HTTP/1.1"
    long = f"Content-Length: {gate.LONGEST_ASKED + 1}"
    assert answer(served.url, post, "Content-Type: application/json", long)[0] == 413
    chunks = b"2\r\n{}\r\n0\r\n\r\n"
    assert answer(served.url, post, "Transfer-Encoding: chunked", body=chunks)[0] == 413
    deep = b"[" * 100_000
    assert answer(served.url, post, f"Content-Length: {len(deep)}", body=deep)[0] == 400
    # A form would be kept on the disk as it comes, for anybody.
    form = {"files": ("x.bin", b"x" * 1000)}
    assert httpx.post(f"{served.url}{API}/component_server", files=form).status_code == 400


def begun(url: str, length: int = 10**6) -> socket.socket:
    """An upload of which the first half has been sent."""
    line = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=30)
    head = [f"POST {API}/upload HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {length}"]
    head += ["Content-Type: multipart/form-data; boundary=edge", "", ""]
    part = b'--edge\r\nContent-Disposition: form-data; name="files"; filename="a.jsonl"\r\n\r\n'
    line.sendall("\r\n".join(head).encode() + part + b"x" * (length // 2))
    return line


def test_an_upload_that_breaks_off_leaves_nothing(served: Served) -> None:
    arriving = data.receive_apart()
    before = set(arriving.iterdir())

    def came() -> list[Path]:
        return [path for path in arriving.iterdir() if path not in before]

    first, second = begun(served.url), begun(served.url)
    until(lambda: sum(path.stat().st_size for path in came()) > 2**17, "the first half of both")
    first.close()
    # What is still on its way is not taken for what broke off.
    whole = httpx.post(f"{served.url}{API}/upload", files={"files": ("b.jsonl", b"{}")}).json()
    assert Path(whole[0]).read_bytes() == b"{}"
    second.close()
    until(lambda: [path for path in came() if path.is_file()] == [], "nothing of the halves")
    assert Path(whole[0]).exists()
    assert not (served.home / "uploads").exists()


@pytest.mark.parametrize("path", ["/", "/login"])
def test_a_browser_is_told_to_ask_no_other_host_and_to_be_in_no_frame(
    shared: Served, path: str
) -> None:
    policy = httpx.get(f"{shared.url}{path}").headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["frame-ancestors"] == rules["form-action"] == "'self'"
    for sources in rules.values():
        assert "http" not in sources and "*" not in sources
