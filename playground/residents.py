"""Processes that hold a model between runs: a run ends them before it starts.

A run's memory and speed must be its own. So a process of ours that holds models for other purposes
says so in the home folder, and whoever starts a run there, in a page or a terminal, ends it first::

    who holds models   enter(home, ...)     then asks the store whether a run is alive
    who starts a run   claims it            then evict(home)

In this order one of the two sees the other, whatever happens at the same time.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from playground.processes import ProcessId

_FOLDER = "residents"
_PATIENCE_S = 3.0


def enter(home: Path, kind: str, process: ProcessId) -> None:
    """Says that ``process`` may hold models from now on, the one of its ``kind`` in this home.

    Args:
        process: leads a session of its own, with nothing in it that is not to be ended with it.
    """
    folder = home / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f"{kind}.{process.pid}.new"
    written.write_text(str(process))
    os.replace(written, folder / kind)  # in one move: nobody reads half a number


def resident(home: Path, kind: str) -> ProcessId | None:
    """The process of this kind that lives and may hold models, if there is one."""
    try:
        process = ProcessId.parse((home / _FOLDER / kind).read_text())
    except (FileNotFoundError, ValueError):
        return None
    return process if process.is_alive() else None


def evict(home: Path) -> list[str]:
    """Ends every resident of the home folder; kinds of those that were there.

    Its memory is back when this returns: a process that is told to go and does not is killed.
    """
    folder = home / _FOLDER
    if not folder.exists():
        return []
    kinds = sorted(path.name for path in folder.iterdir() if path.suffix != ".new")
    ended = [kind for kind in kinds if (process := resident(home, kind)) and end(process)]
    for kind in kinds:
        if resident(home, kind) is None:
            (folder / kind).unlink(missing_ok=True)
    return ended


def end(process: ProcessId) -> bool:
    """Ends a process that leads its session, and its session; whether it is gone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.is_alive():
            with suppress(ProcessLookupError):  # it went just now
                os.killpg(process.pid, number)
        deadline = time.monotonic() + _PATIENCE_S
        while process.is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
    process.end_session()
    return not process.is_alive()
