"""The life of a run, with real processes: start, stop at any stage, crash.

The workers are real and their training is scripted (tests/fakes.py).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from playground import launcher as launcher_module
from playground.config import SettingsError
from playground.launcher import Launcher
from playground.store import RunStore, StoreError
from tests import fakes
from tests.conftest import until, until_over
from tests.watching import pid_of, session_of, started_run, wait_for_steps

ROOT = Path(__file__).parent.parent
Launch = Callable[..., Launcher]


class TestAGroup:
    def test_runs_one_after_another_each_in_a_fresh_process(
        self, store: RunStore, launch: Launch
    ) -> None:
        group = launch().start(fakes.preset("steady", steps=3))
        pids = []
        for run_id in group.run_ids:
            pids.append(pid_of(store, run_id))
        first, second = until_over(store, group.id).runs
        assert (first.status, second.status) == ("finished", "finished")
        assert (first.precision, second.precision) == ("fp16", "nvfp4")
        assert first.ended_at and second.started_at and first.ended_at <= second.started_at
        assert len(set(pids)) == 2 and os.getpid() not in pids
        assert [len(store.steps(run.id)) for run in (first, second)] == [3, 3]
        assert first.pid is None and first.heartbeat_at is not None

    @pytest.mark.parametrize(
        ("script", "status", "cause"),
        [
            ("raises", "failed", "error"),
            ("refuses", "failed", "refused"),
            ("out-of-memory", "failed", "out of memory"),
            ("killed", "failed", "killed"),
            ("diverges", "diverged", "not finite"),
        ],
    )
    def test_goes_on_after_a_run_that_failed(
        self, store: RunStore, launch: Launch, script: str, status: str, cause: str
    ) -> None:
        group = launch().start(fakes.preset(script))
        runs = until_over(store, group.id).runs
        assert [(run.status, run.cause) for run in runs] == [(status, cause)] * 2

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
        started_run(store, first.run_ids[0])
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
        worker = started_run(store, group.run_ids[0])
        if script == "steady":
            wait_for_steps(store, group.run_ids[0], 3)
        launcher.stop(group.run_ids[0])
        launcher.stop(group.id)
        first, second = until_over(store, group.id, deadline_s=10).runs
        assert (first.status, second.status) == ("stopped", "stopped")
        assert store.messages(first.id) == []  # it went by itself
        assert second.started_at is None  # and the other never began
        assert worker.pid and not session_of(worker.pid)

    def test_before_the_worker_has_said_a_word(self, store: RunStore, launch: Launch) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("loading"))
        until(lambda: store.get_run(group.run_ids[0]).status == "running", "the claim")
        launcher.stop(group.id)
        assert {run.status for run in until_over(store, group.id, 10).runs} == {"stopped"}

    @pytest.mark.slow
    def test_a_worker_that_hears_nothing_is_gone_within_ten_seconds(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("deaf", precisions="fp16"))
        worker = started_run(store, group.run_ids[0])
        wait_for_steps(store, worker.id)
        assert worker.pid
        assert len(session_of(worker.pid)) == 2  # it and the child that ignores everything, too
        launcher.stop(group.id)
        (run,) = until_over(store, group.id, deadline_s=10).runs
        assert run.status == "stopped"
        assert not session_of(worker.pid)
        (warning,) = store.messages(run.id)
        assert warning.text == "It did not stop by itself and was ended by SIGKILL."
        assert len(store.steps(run.id)) == 1

    def test_of_one_run_lets_the_next_have_its_turn(self, store: RunStore, launch: Launch) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("steady", steps=10_000))
        wait_for_steps(store, group.run_ids[0])
        launcher.stop(group.run_ids[0])
        wait_for_steps(store, group.run_ids[1])
        assert store.get_run(group.run_ids[0]).status == "stopped"

    def test_of_something_unknown_is_refused(self, launch: Launch) -> None:
        with pytest.raises(SettingsError, match="'g-nowhere' is unknown"):
            launch().stop("g-nowhere")


class TestPauseAndResume:
    def test_a_paused_comparison_goes_on_where_it_was(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("steady", steps=30))
        first, second = group.run_ids
        wait_for_steps(store, first, 3)
        launcher.pause(group.id)
        paused = until_over(store, group.id)
        assert [run.status for run in paused.runs] == ["paused", "paused"]
        assert paused.runs[1].started_at is None
        done = len(store.steps(first))
        assert 3 <= done < 30

        assert launcher.resume(group.id) == [first, second]
        resumed = until_over(store, group.id)
        assert [run.status for run in resumed.runs] == ["finished", "finished"]
        assert [run.attempt for run in resumed.runs] == [2, 2]
        assert [step.step for step in store.steps(first)] == [*range(1, 31)]
        assert resumed.runs[0].ended_at <= resumed.runs[1].started_at
        assert [e.when for e in store.evals(first)] == ["before", "after"]

    def test_resumed_while_its_process_is_leaving_none_is_left_out(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("steady", steps=30))
        first = group.run_ids[0]
        wait_for_steps(store, first, 3)
        launcher.pause(group.id)
        until(lambda: store.get_run(first).over, "its last word")  # and no moment longer
        assert launcher.resume(group.id) == group.run_ids
        assert [run.status for run in until_over(store, group.id).runs] == ["finished"] * 2

    def test_of_a_comparison_only_what_can_be_is_resumed(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("steady", steps=15))
        first, second = group.run_ids
        wait_for_steps(store, second)  # the first has finished
        launcher.stop(second)
        until_over(store, group.id)
        ended_at = store.get_run(first).ended_at
        assert launcher.resume(group.id) == [second]
        assert {run.status for run in until_over(store, group.id).runs} == {"finished"}
        assert store.get_run(first).ended_at == ended_at
        with pytest.raises(SettingsError, match=f"Run {first} .FP16. is finished; there is noth"):
            launcher.resume(group.id)

    def test_what_lives_is_not_resumed(self, store: RunStore, launch: Launch) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("loading"))
        started_run(store, group.run_ids[0])
        for run_id, state in zip(group.run_ids, ["running", "queued"], strict=True):
            with pytest.raises(SettingsError, match=f"is {state} already; it needs no resuming"):
                launcher.resume(run_id)

    def test_a_resumed_run_waits_for_those_that_came_before_it(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        old = launcher.start(fakes.preset("steady", steps=20, precisions="fp16"))
        wait_for_steps(store, old.run_ids[0])
        launcher.pause(old.id)
        until_over(store, old.id)
        new = launcher.start(fakes.preset("steady", steps=10))
        launcher.resume(old.id)
        until_over(store, old.id)
        resumed, last = store.get_run(old.run_ids[0]), store.get_group(new.id).runs[-1]
        assert last.ended_at and resumed.started_at and last.ended_at <= resumed.started_at

    def test_stop_outranks_a_pause_that_is_under_way(
        self, store: RunStore, launch: Launch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(launcher_module, "TERM_AFTER_S", 0.2)
        monkeypatch.setattr(launcher_module, "KILL_AFTER_S", 0.6)
        launcher = launch()
        group = launcher.start(fakes.preset("deaf", precisions="fp16"))
        wait_for_steps(store, group.run_ids[0])
        launcher.pause(group.id)
        until(lambda: store.get_run(group.run_ids[0]).stop_kind == "pause", "the pause")
        launcher.stop(group.id)
        (run,) = until_over(store, group.id, deadline_s=10).runs
        assert run.status == "stopped"

    def test_a_pause_that_is_not_heard_ends_as_paused_all_the_same(
        self, store: RunStore, launch: Launch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("PAUSE_S", "TERM_AFTER_S", "KILL_AFTER_S"):
            monkeypatch.setattr(launcher_module, name, 0.2)
        launcher = launch()
        group = launcher.start(fakes.preset("deaf", precisions="fp16"))
        wait_for_steps(store, group.run_ids[0])
        launcher.pause(group.id)
        (run,) = until_over(store, group.id).runs
        assert run.status == "paused"
        (warning,) = store.messages(run.id)
        assert warning.text == "It did not stop by itself and was ended by SIGKILL."


class TestCrash:
    @pytest.mark.parametrize(
        ("script", "cause", "says"),
        [
            ("segfault", "crashed", "SIGSEGV in native code"),
            ("killed", "killed", "SIGKILL from outside, most often because memory ran out"),
            ("leaves", "error", "exit code 3"),
            ("out-of-memory", "out of memory", "asking for 2.00 GiB more: set micro_batch_size"),
        ],
    )
    def test_ends_as_failed_with_a_sentence_and_the_points_kept(
        self, store: RunStore, launch: Launch, script: str, cause: str, says: str
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset(script, precisions="fp16"))
        pid = pid_of(store, group.run_ids[0])
        (run,) = until_over(store, group.id).runs
        assert (run.status, run.cause) == ("failed", cause)
        assert run.error and says in run.error
        assert len(store.steps(run.id)) == 1
        assert not session_of(pid)  # its child, too
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
        pid = pid_of(store, group.run_ids[0])
        first, second = until_over(store, group.id).runs
        assert (first.status, second.status) == ("finished", "finished")
        assert not session_of(pid)

    def test_a_worker_that_cannot_be_started_says_so(self, store: RunStore, launch: Launch) -> None:
        group = launch(python="/nowhere/python").start(fakes.preset("steady", precisions="fp16"))
        (run,) = until_over(store, group.id).runs
        assert run.status == "failed"
        assert run.error and "could not be started" in run.error and "/nowhere/python" in run.error


def test_a_database_that_cannot_be_used_is_said_once_and_waited_for(
    store: RunStore,
    launch: Launch,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    launcher = launch()
    with monkeypatch.context() as full:
        rounds: list[None] = []

        def live() -> list:
            rounds.append(None)
            raise StoreError("database or disk is full")

        full.setattr(store, "live", live)
        until(lambda: len(rounds) > 2, "three rounds")
    said = [record for record in caplog.records if "could not do its round" in record.message]
    assert [(r.message, r.exc_info) for r in said] == [
        ("The launcher could not do its round and will try again: database or disk is full.", None)
    ]
    group = launcher.start(fakes.preset("steady", steps=1, precisions="fp16"))
    assert until_over(store, group.id).runs[0].status == "finished"


def test_a_worker_is_ours_from_any_folder(
    store: RunStore, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "playground").mkdir()
    (tmp_path / "playground" / "__init__.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    group = launch().start(fakes.preset("steady", steps=1, precisions="fp16"))
    (run,) = until_over(store, group.id).runs
    assert run.status == "finished", run.error
