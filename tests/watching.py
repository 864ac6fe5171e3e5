"""Waiting for a run of a real worker process, and looking at what it left behind."""

from __future__ import annotations

import os

import psutil

from playground.store import Run, RunStore
from tests.conftest import until


def started_run(store: RunStore, run_id: str) -> Run:
    """The run once its worker is known and has said something."""

    def started() -> bool:
        run = store.get_run(run_id)
        return run.pid is not None and (run.stage is not None)

    until(started, f"{run_id} to start")
    return store.get_run(run_id)


def pid_of(store: RunStore, run_id: str) -> int:
    """The worker's pid, known before it has loaded anything; it may die soon after."""
    found: list[int | None] = []

    def known() -> int | None:
        found.append(store.get_run(run_id).pid)
        return found[-1]

    until(known, f"the process of {run_id}")
    assert found[-1]
    return found[-1]


def wait_for_steps(store: RunStore, run_id: str, at_least: int = 1) -> None:
    until(lambda: len(store.steps(run_id)) >= at_least, f"{at_least} steps of {run_id}")


def session_of(pid: int) -> list[psutil.Process]:
    """Live members of the session that ``pid`` led."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == pid and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found
