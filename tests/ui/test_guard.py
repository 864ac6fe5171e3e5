"""Requests the page must not answer, and what a guarded handler is to Gradio."""

from __future__ import annotations

import inspect
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import gradio as gr
import httpx
import pytest

from playground import hardware
from playground.data.uploads import MAX_BYTES
from playground.launcher import Launcher
from playground.store import RunStore
from playground.ui import build_app, guard
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


def test_a_guarded_handler_keeps_its_own_parameters() -> None:
    def plain(first: str, request: gr.Request, *rest: str) -> str:
        return f"{first} {rest} {request.session_hash}"

    def streaming(first: str):
        yield first

    asker = gr.Request(session_hash="s")
    asker.request = _Through()
    assert guard.changes(plain)(asker, "a", asker, "b") == "a ('b',) s"
    assert list(guard.changes(streaming)(asker, "a")) == ["a"]
    with pytest.raises(gr.Error):
        next(guard.changes(streaming)(gr.Request(session_hash="s"), "a"))


class _Through:
    """A request that the gate lets change things."""

    class auth:
        scopes = [guard.MAY_CHANGE]

    scope = {"auth": auth}


def test_costly_questions_of_visitors_are_counted(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(guard.time, "monotonic", lambda: now[0])
    ask = guard.costly(lambda value: value)
    visitor, owner = gr.Request(), gr.Request(request=_Through())
    for number in range(guard.VISITORS_A_MINUTE):
        assert ask(visitor, number) == number
    with pytest.raises(gr.Error):
        ask(visitor, 0)
    assert ask(owner, 1) == 1
    now[0] = 60.0
    assert ask(visitor, 2) == 2


def test_a_generator_with_nothing_to_say_leaves_all_as_it_is() -> None:
    def nothing() -> Iterator[str]:
        yield from ()

    for guarded in (guard.costly(nothing), guard.changes(nothing)):
        assert list(guarded(gr.Request(request=_Through()))) == [gr.skip()]


def test_every_generator_of_the_page_is_guarded(tmp_path: Path) -> None:
    """And so has something to say."""
    store = RunStore(tmp_path / "home")
    with closing(Launcher(store)) as launcher:
        app = build_app(store, launcher, hardware.detect())
    generators = [d.fn for d in app.fns.values() if inspect.isgeneratorfunction(d.fn)]
    assert len(generators) > 5
    assert [fn.__name__ for fn in generators if not fn.__qualname__.endswith(".streamed")] == []


def test_one_costly_question_of_a_visitor_at_a_time() -> None:
    def slowly(value: int):
        yield value
        yield value + 1

    ask = guard.costly(slowly)
    first = ask(gr.Request(), 1)
    assert next(first) == 1
    with pytest.raises(gr.Error):
        next(ask(gr.Request(), 5))
    first.close()  # the browser went away
    assert list(ask(gr.Request(), 5)) == [5, 6]
