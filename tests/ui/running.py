"""app.py as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playground.launcher import Launcher
from playground.store import RunStore
from tests.ui.waiting import until

ROOT = Path(__file__).parents[2]

App = Callable[..., subprocess.Popen]


@contextmanager
def run_app_in(tmp_path: Path) -> Iterator[App]:
    """Gives ``run_app("--port", "7")``, which starts app.py or another ``program`` like it.

    Whatever it left running is ended afterwards.
    """
    started: list[subprocess.Popen] = []

    def start(
        *flags: str, program: Sequence[str] = ("app.py",), **environment: str
    ) -> subprocess.Popen:
        log = (tmp_path / f"app-{len(started)}.log").open("w+")
        app = subprocess.Popen(
            [sys.executable, *program, "--worker", "tests.ui.scripted_worker", *flags],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PLAYGROUND_HOME": str(tmp_path / "home"), **environment},
        )
        app.log = Path(log.name)
        started.append(app)
        return app

    yield start
    for app in started:
        if app.poll() is None:
            app.kill()
        app.wait()
    if (tmp_path / "home").exists():
        launcher = Launcher(RunStore(tmp_path / "home"))  # adopts what the killed page left
        store = RunStore(tmp_path / "home")
        for run in store.live():
            launcher.stop(run.id)
        until(lambda: not store.live(), "every run to end")
        launcher.close()


def get(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def serving(app: subprocess.Popen) -> bool:
    assert app.poll() is None, app.log.read_text()
    return "Runs are kept in" in app.log.read_text()
