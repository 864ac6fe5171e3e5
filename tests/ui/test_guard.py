"""Requests the page must not answer: another host's name, and files that nothing takes."""

from __future__ import annotations

import socket

import httpx

from playground.data.uploads import MAX_BYTES
from tests.ui.conftest import Served


def test_only_requests_that_name_this_host_are_answered(served: Served) -> None:
    assert httpx.get(f"{served.url}/config").status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        reply = httpx.get(f"{served.url}/config", headers={"Host": host})
        assert reply.status_code == 400, host
    reply = httpx.post(
        f"{served.url}/gradio_api/queue/join", headers={"Host": "evil.example"}, json={}
    )
    assert reply.status_code == 400


def test_what_is_too_large_is_not_taken_in(served: Served) -> None:
    length = str(MAX_BYTES + 2**20)
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": length}
    with socket.create_connection(("127.0.0.1", int(served.url.rpartition(":")[2]))) as line:
        lines = [f"{name}: {value}" for name, value in {"Host": "127.0.0.1", **headers}.items()]
        request = "\r\n".join(["POST /gradio_api/upload HTTP/1.1", *lines, "", ""])
        line.sendall(request.encode())
        assert line.recv(64).split()[1] == b"413"  # refused by its length, before it has come
