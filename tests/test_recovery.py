"""What a launcher finds when it starts: runs whose server, worker or both are gone.

The workers are real and their training is scripted (tests/fakes.py).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from playground import launcher as launcher_module
from playground.launcher import Launcher
from playground.processes import ProcessId
from playground.store import RunStore
from tests import fakes
from tests.conftest import until, until_over
from tests.watching import session_of, started_run, wait_for_steps

ROOT = Path(__file__).parent.parent
Launch = Callable[..., Launcher]


def both_killed(
    store: RunStore, server: Callable[..., tuple[subprocess.Popen, str]], steps: int
) -> str:
    """A server's group, after its fifth step: the server is killed first, then its worker."""
    process, group_id = server("steady", steps)
    first = store.get_group(group_id).run_ids[0]
    wait_for_steps(store, first, 5)
    pid = started_run(store, first).pid
    process.kill()
    process.wait()
    assert pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: not session_of(pid), "the worker to be gone")
    return group_id


class TestRestart:
    @pytest.fixture
    def server(self, store: RunStore) -> Callable[..., tuple[subprocess.Popen[str], str]]:
        def start(script: str, steps: int) -> tuple[subprocess.Popen[str], str]:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.fakes_server", str(store.home), script, str(steps)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert process.stdout
            return process, process.stdout.readline().strip()

        return start

    def test_server_and_worker_killed_the_run_reads_interrupted_and_keeps_its_points(
        self, store: RunStore, launch: Launch, server: Callable[..., tuple[subprocess.Popen, str]]
    ) -> None:
        group_id = both_killed(store, server, 10_000)
        first, second = store.get_group(group_id).run_ids
        points = len(store.steps(first))
        launch()
        running, queued = store.get_group(group_id).runs
        assert (running.status, queued.status) == ("interrupted", "interrupted")
        assert running.error and "points are kept" in running.error
        assert queued.error == "The server that would have started it is gone; resume it."
        assert len(store.steps(first)) == points >= 5
        assert second == queued.id and queued.started_at is None

    def test_both_killed_the_next_server_resumes_them_in_order(
        self, store: RunStore, launch: Launch, server: Callable[..., tuple[subprocess.Popen, str]]
    ) -> None:
        group_id = both_killed(store, server, 30)
        first, second = store.get_group(group_id).run_ids
        launcher = launch()
        lost = store.get_run(first)
        assert (lost.status, lost.cause) == ("interrupted", "lost")
        assert launcher.resume(group_id) == [first, second]
        runs = until_over(store, group_id).runs
        assert [(run.status, run.owner) for run in runs] == [("finished", launcher.owner)] * 2
        assert [len(store.steps(run.id)) for run in runs] == [30, 30]

    def test_server_killed_the_run_goes_on_is_found_again_and_can_be_stopped(
        self, store: RunStore, launch: Launch, server: Callable[..., tuple[subprocess.Popen, str]]
    ) -> None:
        process, group_id = server("steady", 10_000)
        first, _ = store.get_group(group_id).run_ids
        wait_for_steps(store, first)
        process.kill()
        process.wait()
        launcher = launch()
        assert store.get_run(first).owner == launcher.owner
        seen = len(store.steps(first))
        wait_for_steps(store, first, seen + 3)  # it never noticed
        launcher.stop(first)
        until(lambda: store.get_run(first).pid is None, "the worker to be gone", 10)
        assert store.get_run(first).status == "stopped"

    def test_server_killed_a_deaf_worker_can_still_be_stopped(
        self,
        store: RunStore,
        launch: Launch,
        server: Callable[..., tuple[subprocess.Popen, str]],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(launcher_module, "TERM_AFTER_S", 0.2)
        monkeypatch.setattr(launcher_module, "KILL_AFTER_S", 0.6)
        process, group_id = server("deaf", 10)
        first, _ = store.get_group(group_id).run_ids
        wait_for_steps(store, first)
        pid = started_run(store, first).pid
        process.kill()
        process.wait()
        launch().stop(group_id)
        until_over(store, group_id, 10)
        assert store.get_run(first).status == "stopped"
        assert pid and not session_of(pid)

    def test_server_killed_a_run_that_then_ends_by_itself_is_finished(
        self, store: RunStore, launch: Launch, server: Callable[..., tuple[subprocess.Popen, str]]
    ) -> None:
        process, group_id = server("steady", 40)
        first, second = store.get_group(group_id).run_ids
        wait_for_steps(store, first)
        process.kill()
        process.wait()
        launch()
        assert [run.status for run in until_over(store, group_id).runs] == [
            "finished",
            "interrupted",  # nothing starts by itself later
        ]

    @pytest.mark.slow
    def test_a_server_that_lives_keeps_its_runs_and_the_queue_is_shared(
        self, store: RunStore, launch: Launch, server: Callable[..., tuple[subprocess.Popen, str]]
    ) -> None:
        process, group_id = server("steady", 100)
        try:
            wait_for_steps(store, store.get_group(group_id).run_ids[0])
            launcher = launch()
            mine = launcher.start(fakes.preset("steady", steps=1, precisions="fp16"))
            theirs = store.get_group(group_id)
            assert {run.owner for run in theirs.runs} != {launcher.owner}
            assert not theirs.over
            until_over(store, mine.id)
            first, second = until_over(store, group_id).runs
            assert (first.status, second.status) == ("finished", "finished")
            started = store.get_group(mine.id).runs[0].started_at
            assert started and second.ended_at and second.ended_at <= started
        finally:
            process.kill()
            process.wait()

    def test_a_closed_server_leaves_the_run_and_says_what_will_not_start(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = Launcher(store, worker_module="tests.fakes_worker")
        group = launcher.start(fakes.preset("steady", steps=30))
        wait_for_steps(store, group.run_ids[0])
        launcher.close()
        queued = store.get_run(group.run_ids[1])
        assert queued.status == "interrupted"
        assert queued.error and "closed before its turn" in queued.error
        assert store.get_run(group.run_ids[0]).pid is not None
        launch()  # the next one, in this very process, watches it
        assert until_over(store, group.id).runs[0].status == "finished"


class TestSomebodyElsesProcess:
    """A recycled pid: the store names a number that is another process by now."""

    @pytest.fixture
    def bystander(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True
        )
        yield process
        process.kill()
        process.wait()

    def test_is_neither_taken_for_a_worker_nor_touched(
        self, store: RunStore, launch: Launch, bystander: subprocess.Popen[bytes]
    ) -> None:
        gone = "1:1.0"
        group = store.create_group("quick", "t", [fakes.config()], gone)
        run_id = group.run_ids[0]
        store.claim_next(gone)
        store.set_process(run_id, bystander.pid, 12345.0)
        launcher = launch()
        assert store.get_run(run_id).status == "interrupted"
        launcher.stop(run_id)
        assert ProcessId.of(bystander.pid).is_alive()

    def test_a_zombie_is_not_alive(self, bystander: subprocess.Popen[bytes]) -> None:
        process = ProcessId.of(bystander.pid)
        assert process.is_alive() and ProcessId.parse(str(process)) == process
        bystander.kill()
        until(lambda: not process.is_alive(), "the zombie to be seen as one")
        assert psutil.pid_exists(bystander.pid)  # not reaped yet
