"""Who holds models is ended before a run; nobody else is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from playground.processes import ProcessId
from playground.residents import enter, evict, resident

Spawn = Callable[[str], subprocess.Popen[bytes]]
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
SLEEP = "print(1, flush=True); import time; time.sleep(600)"


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    made: list[subprocess.Popen[bytes]] = []

    def start(code: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", code]
        made.append(subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True))
        assert made[-1].stdout.readline()  # it is what it will be
        return made[-1]

    yield start
    for process in made:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("code", [SLEEP, DEAF + SLEEP], ids=["heeds SIGTERM", "ignores it"])
def test_it_is_gone_when_evict_returns(code: str, spawn: Spawn, home: Path) -> None:
    process = ProcessId.of(spawn(code).pid)
    enter(home, "try-it", process)
    assert resident(home, "try-it") == process
    assert evict(home) == ["try-it"]
    assert not process.is_alive() and resident(home, "try-it") is None
    assert evict(home) == []


def test_every_kind_and_only_those_of_this_home(spawn: Spawn, home: Path, tmp_path: Path) -> None:
    mine = [ProcessId.of(spawn(SLEEP).pid) for _ in range(2)]
    other = ProcessId.of(spawn(SLEEP).pid)
    for kind, process in zip(("export", "try-it"), mine, strict=True):
        enter(home, kind, process)
    enter(tmp_path / "another", "try-it", other)
    assert evict(home) == ["export", "try-it"]
    assert other.is_alive() and not any(p.is_alive() for p in mine)


def test_the_next_owner_of_a_pid_is_left_alone(spawn: Spawn, home: Path) -> None:
    process = ProcessId.of(spawn(SLEEP).pid)
    enter(home, "try-it", ProcessId(process.pid, process.started - 3600))
    assert evict(home) == [] and process.is_alive()
    assert list((home / "residents").iterdir()) == []


def test_a_home_where_nobody_ever_was(home: Path) -> None:
    assert evict(home) == [] and not home.exists()
