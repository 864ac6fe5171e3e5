"""app.py as people run it, without a browser: what it binds, what it serves, how it ends.

One process for each test: importing gradio takes seconds, so a test asks everything it can of one.
"""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path

import psutil
import pytest

from playground import hardware
from playground.config import SettingsError
from playground.launcher import Launcher
from playground.store import RunStore
from playground.ui import build_app
from tests.ui.conftest import Served, free_port, until
from tests.ui.running import ROOT, App, get, serving


@pytest.mark.slow
def test_serve_start_and_end(run_app: App, tmp_path: Path) -> None:
    port = free_port()
    home = tmp_path / "home"
    home.mkdir()
    (home / "gate").write_text("5")
    app = run_app("--port", str(port), "--start", "quick", "--open", DISPLAY="", WAYLAND_DISPLAY="")
    until(lambda: serving(app), "the page", 60)
    assert f"http://127.0.0.1:{port}" in app.log.read_text()

    status, page = get(f"http://127.0.0.1:{port}/")
    assert status == 200 and b"FP4 Playground" in page

    # Only the loopback address listens, and nothing else is opened.
    listening = [c.laddr for c in psutil.Process(app.pid).net_connections() if c.status == "LISTEN"]
    assert [(address.ip, address.port) for address in listening] == [("127.0.0.1", port)]

    store = RunStore(home)
    until(lambda: store.live() and store.last_step(store.live()[0].id), "the first step")
    [group] = store.list_groups()
    assert group.preset == "quick"

    # A second one on the same port says so in one sentence, and starts nothing.
    second = run_app("--port", str(port), "--start", "quick")
    assert second.wait(60) == 1
    said = second.log.read_text()
    assert said.count("\n") == 1 and f"Port {port}" in said and f"--port {port + 1}" in said
    assert len(store.list_groups()) == 1

    app.send_signal(signal.SIGTERM)
    assert app.wait(20) == 0
    said = app.log.read_text()
    stop = f".venv/bin/python -m playground stop {group.id} --home {home}"
    assert stop in said and "Traceback" not in said
    assert store.live()[0].status == "running", "the run goes on without the page"

    # Started again: the live run is found, and --start does not start another.
    again = run_app("--start", "quick", PLAYGROUND_PORT=str(port))
    until(lambda: serving(again) and "already running" in again.log.read_text(), "the page", 60)
    assert len(store.list_groups()) == 1
    again.send_signal(signal.SIGINT)
    assert again.wait(20) == 0
    assert "Traceback" not in again.log.read_text()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--port", "70000"], "Port is '70000'; it must be"),
        (["--port", "web"], "Port is 'web'; it must be"),
        (["--start", "quik"], "Did you mean 'quick'?"),
        (["--host", "203.0.113.9"], "no address of this machine"),
    ],
)
def test_wrong_flags_are_one_sentence(flags: list[str], said: str, tmp_path, capsys) -> None:
    import app

    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        asked = ["--home", str(tmp_path), "--port", str(free_port()), *flags]
        assert app.main(asked) == 1
    finally:
        signal.signal(signal.SIGINT, handlers[0])
        signal.signal(signal.SIGTERM, handlers[1])
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_taken_port_is_found_before_anything_starts() -> None:
    import app

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f"Port {port} .* in use"):
            app.check_free("127.0.0.1", port)


def test_nothing_of_the_runs_can_be_fetched(served: Served) -> None:
    folder = served.home / "runs" / "r-1"
    folder.mkdir(parents=True)
    secret = folder / "worker.log"
    secret.write_text("SECRET")
    link = served.home / "link.txt"
    link.symlink_to(secret)
    inside = f"{served.url}/gradio_api/file="
    paths = [secret, link, served.home / "playground.db", ROOT / "pyproject.toml", "/etc/passwd"]
    paths += [f"{ROOT}/playground/ui/../../pyproject.toml", "playground.db"]
    paths += [str(secret).replace("/", "%2F"), f"{served.home}/runs/%2e%2e/runs/r-1/worker.log"]
    for path in paths:
        for url in (f"{inside}{path}", f"{served.url}/file={path}", f"{served.url}/static/{path}"):
            status, body = get(url)
            assert status >= 400, f"{url} answered {status}"
            assert b"SECRET" not in body


def test_handlers_are_no_public_endpoints(served: Served) -> None:
    status, body = get(f"{served.url}/gradio_api/info")
    assert status == 200
    assert json.loads(body)["named_endpoints"] == {}


def test_the_page_mentions_no_other_host(served: Served) -> None:
    """What a browser would load from: Gradio's own index names only preview images for bots."""
    config = json.loads(get(f"{served.url}/config")[1])
    assert config["stylesheets"] == []
    assert config["analytics_enabled"] is False


def test_building_the_page_starts_no_run_and_binds_every_event_quietly(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    launcher = Launcher(store)
    app = build_app(store, launcher, hardware.detect())
    assert store.list_groups() == []
    launcher.close()
    # Else a browser copies, at each event, all that is shown in what any event fills (ui/quiet.py).
    loud = [fn.name for fn in app.fns.values() if fn.outputs and fn.show_progress_on != []]
    assert loud == []
