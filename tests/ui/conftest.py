"""A served page over scripted runs, and a browser that notes errors and foreign requests."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from playground import hardware
from playground.launcher import Launcher
from playground.store import RunStore
from tests import browser_setup
from tests.ui.running import App, run_app_in
from tests.ui.waiting import free_port, until

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 30_000
CUT_OFF = re.compile("AbortError|errored out|Failed to fetch")
"""What Gradio's client writes of a request that a click on a link or a reload has cut off."""


@dataclass
class Served:
    """A page in this process, its store and launcher, and the levers of the scripted worker."""

    url: str
    home: Path
    store: RunStore
    launcher: Launcher

    def hold_at(self, step: int) -> None:
        """No run goes past ``step`` of its own until it is told of a later one."""
        later = self.home / "gate.new"
        later.write_text(str(step))
        later.replace(self.home / "gate")  # in one move: a worker never reads half a number

    def script(self, json: str) -> None:
        (self.home / "script.json").write_text(json)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """The page over scripted runs."""
    with serving(tmp_path / "home", "tests.ui.scripted_worker") as page:
        yield page


@pytest.fixture
def served_for_real(tmp_path: Path) -> Iterator[Served]:
    """The page over runs that train."""
    with serving(tmp_path / "home", "playground.worker") as page:
        yield page


@pytest.fixture
def run_app(tmp_path: Path) -> Iterator[App]:
    """``run_app("--port", "7")`` starts app.py; what it left running is ended afterwards."""
    with run_app_in(tmp_path) as start:
        yield start
        close_pages()


NAME, PASSWORD = "ann", "correct horse battery"


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Served]:
    """The page over scripted runs, reached through a link, where ann alone may log in."""
    from playground import users
    from playground.ui.login import Login

    login = Login({NAME: users.hashed(PASSWORD)})
    with serving(tmp_path / "home", "tests.ui.scripted_worker", login, SHARED_AS) as page:
        yield page


SHARED_AS = "0123.gradio.live"


@contextmanager
def serving(
    home: Path,
    worker: str,
    login: Any = None,
    shared_as: str | None = None,
    chat: Any = None,
) -> Iterator[Served]:
    from playground.generate import Chat
    from playground.ui import build_app, launch

    store = RunStore(home)
    launcher = Launcher(store, worker_module=worker)
    chat = chat or Chat(store)
    app = build_app(store, launcher, hardware.detect(), chat)
    port = free_port()
    launch(app, "127.0.0.1", port, home, login, shared_as)
    yield Served(f"http://127.0.0.1:{port}", home, store, launcher)
    close_pages()
    app.close(verbose=False)
    chat.end()

    def all_ended() -> bool:
        # Asked again each time: a last click may have been under way when the browser was closed.
        for run in store.live():
            if not run.stop_requested:
                launcher.stop(run.id)
        return not store.live()

    until(all_ended, "every run to end")
    launcher.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    path = browser_setup.find()
    if path is None:
        sentence = "No Chromium was found; `make browser` installs one."
        if os.environ.get("PLAYGROUND_REQUIRE_BROWSER") == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


_pages: list[Any] = []


def close_pages() -> None:
    """Closes what ``visit`` opened. A server does so before it ends.

    A page that outlives its server asks on, is refused, and logs that as its own error.
    """
    while _pages:
        _pages.pop().close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """``visit(url, width=1400, dark=False)`` opens a page in a new browser context.

    ``ready`` is the button that tells that it is there. When the test ends, no such page may have
    asked another host or logged an error, except one that ``may_fail`` to load something.
    """
    faults: list[str] = []

    def open_page(
        url: str,
        *,
        width: int = 1400,
        height: int = 1000,
        dark: bool = False,
        ready: str | None = "Start comparison",
        may_fail: bool = False,
        locale: str = "en-US",
    ) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            locale=locale,
        )
        _pages.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        if not may_fail:
            page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
            page.on("domcontentloaded", lambda page: _forget_cut_off(faults))
        page.on("pageerror", lambda error: faults.append(f"uncaught: {error}"))
        page.on("request", lambda request: _note_foreign(request.url, faults))
        page.goto(url)
        if ready:
            page.get_by_role("button", name=ready).first.wait_for()
        return page

    yield open_page
    close_pages()
    assert faults == []


def _forget_cut_off(faults: list[str]) -> None:
    """Called when another document is there: what the one before was still asking for, ends so."""
    faults[:] = [fault for fault in faults if not CUT_OFF.search(fault)]


def _note_foreign(url: str, faults: list[str]) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
        faults.append(f"asked another host: {url}")
