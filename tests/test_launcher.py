"""The life of a run, with real processes: start, stop at any stage, crash, restart.

The workers are real and their training is scripted (tests/fakes.py).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from playground import launcher as launcher_module
from playground.config import SettingsError
from playground.launcher import Launcher
from playground.processes import ProcessId
from playground.store import Run, RunStore
from tests import fakes
from tests.conftest import until, until_over

ROOT = Path(__file__).parent.parent
Launch = Callable[..., Launcher]


def _running(store: RunStore, run_id: str) -> Run:
    """The run once its worker is known and has said something."""

    def started() -> bool:
        run = store.get_run(run_id)
        return run.pid is not None and (run.stage is not None)

    until(started, f"{run_id} to start")
    return store.get_run(run_id)


def _pid(store: RunStore, run_id: str) -> int:
    """The worker's pid, known before it has loaded anything; it may die soon after."""
    found: list[int | None] = []

    def known() -> int | None:
        found.append(store.get_run(run_id).pid)
        return found[-1]

    until(known, f"the process of {run_id}")
    assert found[-1]
    return found[-1]


def _steps(store: RunStore, run_id: str, at_least: int = 1) -> None:
    until(lambda: len(store.steps(run_id)) >= at_least, f"{at_least} steps of {run_id}")


def _session(pid: int) -> list[psutil.Process]:
    """Live members of the session that ``pid`` led."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == pid and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


class TestAGroup:
    def test_runs_one_after_another_each_in_a_fresh_process(
        self, store: RunStore, launch: Launch
    ) -> None:
        group = launch().start(fakes.preset("steady", steps=3))
        pids = []
        for run_id in group.run_ids:
            pids.append(_pid(store, run_id))
        first, second = until_over(store, group.id).runs
        assert (first.status, second.status) == ("finished", "finished")
        assert (first.precision, second.precision) == ("fp16", "nvfp4")
        assert first.ended_at and second.started_at and first.ended_at <= second.started_at
        assert len(set(pids)) == 2 and os.getpid() not in pids
        assert [len(store.steps(run.id)) for run in (first, second)] == [3, 3]
        assert first.pid is None and first.heartbeat_at is not None

    def test_goes_on_after_a_run_that_failed(self, store: RunStore, launch: Launch) -> None:
        group = launch().start(fakes.preset("raises"))
        assert [run.status for run in until_over(store, group.id).runs] == ["failed", "failed"]

    def test_one_step_and_one_precision(self, store: RunStore, launch: Launch) -> None:
        group = launch().start(fakes.preset("steady", steps=1), precisions=["nvfp4"])
        (run,) = until_over(store, group.id).runs
        assert (run.status, run.precision) == ("finished", "nvfp4")
        assert [step.step for step in store.steps(run.id)] == [1]


class TestStartedTwice:
    def test_five_clicks_from_two_tabs_are_one_comparison(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        preset = fakes.preset("steady", steps=10)
        got: list[str] = []
        clicks = [
            threading.Thread(target=lambda: got.append(launcher.start(preset).id)) for _ in range(5)
        ]
        for click in clicks:
            click.start()
        for click in clicks:
            click.join()
        assert len(got) == 5 and len(set(got)) == 1
        assert len(store.list_groups()) == 1

    def test_another_comparison_waits_visibly(self, store: RunStore, launch: Launch) -> None:
        launcher = launch()
        first = launcher.start(fakes.preset("loading"))
        second = launcher.start(fakes.preset("steady", steps=1))
        _running(store, first.run_ids[0])
        assert [run.status for run in store.get_group(second.id).runs] == ["queued", "queued"]
        launcher.stop(first.id)
        until_over(store, second.id)
        assert {run.status for run in store.get_group(first.id).runs} == {"stopped"}
        assert {run.status for run in store.get_group(second.id).runs} == {"finished"}

    def test_after_it_ended_start_means_again(self, store: RunStore, launch: Launch) -> None:
        launcher, preset = launch(), fakes.preset("steady", steps=1, precisions="fp16")
        first = launcher.start(preset)
        until_over(store, first.id)
        assert launcher.start(preset).id != first.id

    def test_another_title_or_precision_is_another_comparison(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher, preset = launch(), fakes.preset("loading")
        ids = {
            launcher.start(preset).id,
            launcher.start(preset, title="../../x $(touch x)").id,
            launcher.start(preset, precisions=["bf16"]).id,
        }
        assert len(ids) == 3
        launcher.stop(launcher.start(preset).id)
        assert launcher.start(preset).id not in ids  # the stopped one is not taken for a new one


class TestStop:
    @pytest.mark.parametrize("script", ["loading", "steady"])
    def test_is_heard_while_loading_and_between_steps(
        self, store: RunStore, launch: Launch, script: str
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset(script, steps=10_000))
        worker = _running(store, group.run_ids[0])
        if script == "steady":
            _steps(store, group.run_ids[0], 3)
        launcher.stop(group.run_ids[0])
        launcher.stop(group.id)
        first, second = until_over(store, group.id, deadline_s=10).runs
        assert (first.status, second.status) == ("stopped", "stopped")
        assert store.messages(first.id) == []  # it went by itself
        assert second.started_at is None  # and the other never began
        assert worker.pid and not _session(worker.pid)

    def test_before_the_worker_has_said_a_word(self, store: RunStore, launch: Launch) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("loading"))
        until(lambda: store.get_run(group.run_ids[0]).status == "running", "the claim")
        launcher.stop(group.id)
        assert {run.status for run in until_over(store, group.id, 10).runs} == {"stopped"}

    def test_a_worker_that_hears_nothing_is_gone_within_ten_seconds(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("deaf", precisions="fp16"))
        worker = _running(store, group.run_ids[0])
        _steps(store, worker.id)
        assert worker.pid
        assert len(_session(worker.pid)) == 2  # it and the child that ignores everything, too
        launcher.stop(group.id)
        (run,) = until_over(store, group.id, deadline_s=10).runs
        assert run.status == "stopped"
        assert not _session(worker.pid)
        (warning,) = store.messages(run.id)
        assert warning.text == "It did not stop by itself and was ended by SIGKILL."
        assert len(store.steps(run.id)) == 1

    def test_of_one_run_lets_the_next_have_its_turn(self, store: RunStore, launch: Launch) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("steady", steps=10_000))
        _steps(store, group.run_ids[0])
        launcher.stop(group.run_ids[0])
        _steps(store, group.run_ids[1])
        assert store.get_run(group.run_ids[0]).status == "stopped"

    def test_of_something_unknown_is_refused(self, launch: Launch) -> None:
        with pytest.raises(SettingsError, match="'g-nowhere' is unknown"):
            launch().stop("g-nowhere")


class TestCrash:
    @pytest.mark.parametrize(
        ("script", "says"),
        [
            ("segfault", "SIGSEGV in native code"),
            ("killed", "SIGKILL from outside, most often because memory ran out; try"),
            ("leaves", "exit code 3"),
        ],
    )
    def test_ends_as_failed_with_a_sentence_and_the_points_kept(
        self, store: RunStore, launch: Launch, script: str, says: str
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset(script, precisions="fp16"))
        pid = _pid(store, group.run_ids[0])
        (run,) = until_over(store, group.id).runs
        assert run.status == "failed"
        assert run.error and says in run.error
        assert len(store.steps(run.id)) == 1
        assert not _session(pid)  # its child, too
        # Fault 14: the next run works in the same server.
        after = launcher.start(fakes.preset("steady", steps=1, precisions="fp16"))
        assert until_over(store, after.id).runs[0].status == "finished"

    def test_a_segfaults_traceback_is_in_the_log(self, store: RunStore, launch: Launch) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("segfault", precisions="fp16"))
        (run,) = until_over(store, group.id).runs
        assert "Segmentation fault" in launcher.log_tail(run.id)

    def test_a_finished_run_that_does_not_leave_is_ended(
        self, store: RunStore, launch: Launch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(launcher_module, "TERM_AFTER_S", 0.2)
        monkeypatch.setattr(launcher_module, "KILL_AFTER_S", 0.6)
        group = launch().start(fakes.preset("hangs-at-exit"))
        pid = _pid(store, group.run_ids[0])
        first, second = until_over(store, group.id).runs
        assert (first.status, second.status) == ("finished", "finished")
        assert not _session(pid)

    def test_a_worker_that_cannot_be_started_says_so(self, store: RunStore, launch: Launch) -> None:
        group = launch(python="/nowhere/python").start(fakes.preset("steady", precisions="fp16"))
        (run,) = until_over(store, group.id).runs
        assert run.status == "failed"
        assert run.error and "could not be started" in run.error and "/nowhere/python" in run.error


class TestLog:
    def test_megabytes_of_output_block_nothing_and_the_end_can_be_read(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("noisy", precisions="fp16"))
        (run,) = until_over(store, group.id).runs
        assert run.status == "finished"
        assert (store.run_folder(run.id) / "worker.log").stat().st_size > 4_000_000
        assert 10_000 < len(launcher.log_tail(run.id)) <= 20_000

    def test_tracebacks_are_in_the_log_without_the_home_folder(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("raises", precisions="fp16"))
        (run,) = until_over(store, group.id).runs
        log = (store.run_folder(run.id) / "worker.log").read_text()
        assert "Traceback" in log and "'~/data/rows.jsonl'" in log
        assert os.path.expanduser("~/data") not in log
        assert "Traceback" in launcher.log_tail(run.id)

    def test_before_a_run_started_it_is_empty(self, store: RunStore, launch: Launch) -> None:
        group = store.create_group("quick", "t", [fakes.config()], "1:1.0")
        assert launch().log_tail(group.run_ids[0]) == ""

    def test_a_progress_bar_is_one_line(self, store: RunStore, launch: Launch) -> None:
        group = store.create_group("quick", "t", [fakes.config()], "1:1.0")
        folder = store.run_folder(group.run_ids[0])
        folder.mkdir(parents=True)
        (folder / "worker.log").write_bytes(b"start\n 1%\r50%\r100%\nend \xff\n")
        assert launch().log_tail(group.run_ids[0]) == "start\n100%\nend \ufffd\n"


def test_a_worker_is_ours_from_any_folder(
    store: RunStore, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "playground").mkdir()
    (tmp_path / "playground" / "__init__.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    group = launch().start(fakes.preset("steady", steps=1, precisions="fp16"))
    (run,) = until_over(store, group.id).runs
    assert run.status == "finished", run.error


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
        process, group_id = server("steady", 10_000)
        first, second = store.get_group(group_id).run_ids
        _steps(store, first, 5)
        pid = _running(store, first).pid
        process.kill()
        process.wait()
        assert pid
        os.kill(pid, signal.SIGKILL)
        until(lambda: not _session(pid), "the worker to be gone")
        points = len(store.steps(first))
        launch()
        running, queued = store.get_group(group_id).runs
        assert (running.status, queued.status) == ("interrupted", "interrupted")
        assert running.error and "points are kept" in running.error
        assert queued.error == ("The server that would have started it is gone; start it again.")
        assert len(store.steps(first)) == points >= 5
        assert second == queued.id and queued.started_at is None

    def test_server_killed_the_run_goes_on_is_found_again_and_can_be_stopped(
        self, store: RunStore, launch: Launch, server: Callable[..., tuple[subprocess.Popen, str]]
    ) -> None:
        process, group_id = server("steady", 10_000)
        first, _ = store.get_group(group_id).run_ids
        _steps(store, first)
        process.kill()
        process.wait()
        launcher = launch()
        assert store.get_run(first).owner == launcher.owner
        seen = len(store.steps(first))
        _steps(store, first, seen + 3)  # it never noticed
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
        _steps(store, first)
        pid = _running(store, first).pid
        process.kill()
        process.wait()
        launch().stop(group_id)
        until_over(store, group_id, 10)
        assert store.get_run(first).status == "stopped"
        assert pid and not _session(pid)

    def test_server_killed_a_run_that_then_ends_by_itself_is_finished(
        self, store: RunStore, launch: Launch, server: Callable[..., tuple[subprocess.Popen, str]]
    ) -> None:
        process, group_id = server("steady", 40)
        first, second = store.get_group(group_id).run_ids
        _steps(store, first)
        process.kill()
        process.wait()
        launch()
        assert [run.status for run in until_over(store, group_id).runs] == [
            "finished",
            "interrupted",  # nothing starts by itself later
        ]

    def test_a_server_that_lives_keeps_its_runs_and_the_queue_is_shared(
        self, store: RunStore, launch: Launch, server: Callable[..., tuple[subprocess.Popen, str]]
    ) -> None:
        process, group_id = server("steady", 100)
        try:
            _steps(store, store.get_group(group_id).run_ids[0])
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
        _steps(store, group.run_ids[0])
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
