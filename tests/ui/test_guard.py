"""Requests the page must not answer: another host's name, and files that nothing takes."""

from __future__ import annotations

import httpx

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


def test_nothing_can_be_uploaded(served: Served) -> None:
    files = {"files": ("x.html", b"<script>" * 1000)}
    reply = httpx.post(f"{served.url}/gradio_api/upload", files=files)
    assert reply.status_code == 413
