"""One run in one process: what it stores, whatever happens inside."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground import worker
from playground.config import RunConfig
from playground.events import Event, Stage, Status
from playground.processes import ProcessId
from playground.store import Run, RunStore
from playground.worker import StopFlag, main
from tests import fakes
from tests.conftest import until

ROOT = Path(__file__).parent.parent
OWNER = "1:1.0"


@pytest.fixture(autouse=True)
def _own_signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def run(store: RunStore, request: pytest.FixtureRequest) -> Run:
    """A claimed run, as a worker finds it."""
    store.create_group("quick", "t", [fakes.config(getattr(request, "param", "steady"))], OWNER)
    claimed = store.claim_next(OWNER)
    assert claimed
    return claimed


def _carry_out(store: RunStore, run: Run) -> Run:
    assert main(run.id, store.home, fakes.train) == 0
    return store.get_run(run.id)


def test_what_the_training_says_is_stored_and_it_ends_finished(store: RunStore, run: Run) -> None:
    after = _carry_out(store, run)
    assert after.status == "finished" and after.error is None
    assert len(store.steps(run.id)) == 5 and len(store.evals(run.id)) == 2
    assert after.pid == os.getpid()  # until the launcher has seen the process go


def test_a_training_that_just_ends_is_finished(store: RunStore, run: Run) -> None:
    assert main(run.id, store.home, lambda config, **_: iter([])) == 0
    assert store.get_run(run.id).status == "finished"


def test_the_first_word_is_stored_before_anything_is_loaded(store: RunStore, run: Run) -> None:
    seen = []

    def train(config: RunConfig, **_: object) -> Iterator[Event]:
        seen.append(store.get_run(run.id).stage)
        yield from ()

    main(run.id, store.home, train)
    assert seen == [Stage(name="starting", detail="loading the libraries")]


def test_the_worker_itself_does_not_load_torch() -> None:
    code = "import sys, playground.worker; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_a_warning_in_the_log_names_no_home_folder(
    store: RunStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []

    def train(config: RunConfig, **_: object) -> Iterator[Event]:
        said.append(warnings.formatwarning("old", FutureWarning, "/home/ann/lib/x.py", 3, "x()"))
        yield from ()

    monkeypatch.setenv("HOME", "/home/ann")
    main(run.id, store.home, train)
    assert said == ["~/lib/x.py:3: FutureWarning: old\n  x()\n"]


def test_a_run_that_is_not_waiting_for_a_worker_is_left_alone(store: RunStore, run: Run) -> None:
    store.settle(run.id, "interrupted", "gone", owner=OWNER)
    before = store.change_token()
    assert main(run.id, store.home, fakes.train) == 1
    assert store.change_token() == before


def test_nan_at_step_7_is_stored_as_nan_and_the_run_reads_diverged(
    store: RunStore, home: Path
) -> None:
    store.create_group("quick", "t", [fakes.config("diverges")], OWNER)
    claimed = store.claim_next(OWNER)
    assert claimed
    after = _carry_out(store, claimed)
    assert (after.status, after.error) == ("diverged", "The loss is not a number at step 7.")
    assert math.isnan(store.steps(claimed.id)[-1].loss)


@pytest.mark.parametrize("run", ["raises"], indirect=True)
def test_an_exception_is_one_sentence_and_its_traceback_goes_to_the_log(
    store: RunStore, run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    after = _carry_out(store, run)
    assert after.status == "failed"
    assert after.error == (
        "FileNotFoundError in step 2: [Errno 2] No such file: '~/data/rows.jsonl'. "
        "The log has the details."
    )
    assert "Traceback (most recent call last)" in capfd.readouterr().err
    assert len(store.steps(run.id)) == 1


@pytest.mark.parametrize("run", ["refuses"], indirect=True)
def test_a_refusal_is_shown_as_it_was_said_and_its_log_says_no_more(
    store: RunStore, run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    after = _carry_out(store, run)
    assert after.cause == "refused"
    assert after.error == "lora target 'qproj' matches no layer. Did you mean 'q_proj'?"
    assert capfd.readouterr().err == f"{after.error}\n"


@pytest.mark.parametrize("run", ["out-of-memory"], indirect=True)
def test_out_of_memory_names_step_bytes_and_remedy(store: RunStore, run: Run) -> None:
    after = _carry_out(store, run)
    assert (after.status, after.cause) == ("failed", "out of memory")
    assert after.error == (
        "Out of memory in step 2, asking for 2.00 GiB more: set micro_batch_size to 8 and "
        "grad_accum_steps to 2, which learns from the same 16 rows a step, or turn "
        "gradient_checkpointing on."
    )


def test_a_library_that_exits_is_a_failure_too(store: RunStore, run: Run) -> None:
    def train(config: RunConfig, **_: object) -> Iterator[Event]:
        yield fakes.step(1)
        sys.exit(0)

    main(run.id, store.home, train)
    after = store.get_run(run.id)
    assert after.status == "failed" and after.error
    assert after.error.startswith("The worker was told to leave (SystemExit) in step 2")


def test_a_stop_that_came_before_the_worker_did_is_honoured(store: RunStore, run: Run) -> None:
    store.request_stop(run.id)
    assert _carry_out(store, run).status == "stopped"
    assert store.steps(run.id) == []


def test_a_pause_is_a_stop_that_reads_paused(store: RunStore, run: Run) -> None:
    def train(config: RunConfig, *, should_stop: StopFlag, **_: object) -> Iterator[Event]:
        yield fakes.step(1)
        store.request_stop(run.id, kind="pause")
        until(should_stop, "the pause to be heard")
        yield Status(status="stopped")

    main(run.id, store.home, train)
    after = store.get_run(run.id)
    assert after.status == "paused" and len(store.steps(run.id)) == 1


def test_a_resumed_run_is_told_that_it_is(store: RunStore, run: Run) -> None:
    told = []

    def train(config: RunConfig, *, resume: bool, **_: object) -> Iterator[Event]:
        told.append(resume)
        yield fakes.step(1)
        yield Status(status="stopped")

    main(run.id, store.home, train)
    store.settle(run.id, "failed", None, owner=OWNER)
    store.requeue(run.id, owner=OWNER)
    assert store.claim_next(OWNER)
    main(run.id, store.home, train)
    assert told == [False, True]


def test_sigterm_stops_like_stop(store: RunStore, run: Run) -> None:
    def train(config: RunConfig, *, should_stop: StopFlag, **_: object) -> Iterator[Event]:
        assert not should_stop()
        yield fakes.step(1)
        os.kill(os.getpid(), signal.SIGTERM)
        assert should_stop()
        yield Status(status="stopped")

    main(run.id, store.home, train)
    after = store.get_run(run.id)
    assert after.status == "stopped" and len(store.steps(run.id)) == 1


def test_stop_breaks_off_the_import_of_the_libraries(
    store: RunStore, run: Run, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def slow_import() -> None:
        store.request_stop(run.id)
        until(lambda: False, "Stop to be heard")

    monkeypatch.setattr(worker, "_real_train", slow_import)
    assert main(run.id, store.home) == 0
    after = store.get_run(run.id)
    assert (after.status, after.error) == ("stopped", None)
    assert "Traceback" not in capfd.readouterr().err


def test_the_stop_flag_asks_the_store_ten_times_a_second_at_most(
    store: RunStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, asked = [100.0], []
    monkeypatch.setattr(worker.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(store, "stop_requested", lambda run_id: asked.append(run_id))
    flag = StopFlag(store, run.id)
    for _ in range(1000):  # a second of millisecond steps
        assert not flag()
        now[0] += 0.001
    assert 9 <= len(asked) <= 11


def test_the_heart_beats_while_nothing_is_said(
    store: RunStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "HEARTBEAT_S", 0.01)
    beats: set[float | None] = set()

    def train(config: RunConfig, **_: object) -> Iterator[Event]:
        def beaten() -> bool:
            beats.add(store.get_run(run.id).heartbeat_at)
            return len(beats) >= 4

        until(beaten, "heartbeats")
        yield from ()

    main(run.id, store.home, train)
    assert not [t for t in threading.enumerate() if t.name == "heartbeat"]


def test_a_launcher_that_died_before_it_noted_the_process_loses_nothing(
    store: RunStore, run: Run
) -> None:
    assert run.pid is None
    seen = []

    def train(config: RunConfig, **_: object) -> Iterator[Event]:
        found = store.get_run(run.id)
        seen.append(ProcessId(found.pid or 0, found.process_started or 0))
        yield from ()

    main(run.id, store.home, train)
    assert seen == [ProcessId.of()]


def test_from_the_command_line_with_sigterm_from_outside(store: RunStore, run: Run) -> None:
    store.settle(run.id, "interrupted", None, owner=OWNER)
    store.create_group("quick", "t", [fakes.config("loading")], OWNER)
    claimed = store.claim_next(OWNER)
    assert claimed
    command = [sys.executable, "-m", "tests.fakes_worker", claimed.id, "--home", str(store.home)]
    process = subprocess.Popen(command, cwd=ROOT)

    def tokenising() -> bool:
        stage = store.get_run(claimed.id).stage
        return stage is not None and stage.name == "tokenising"

    until(tokenising, "the script")
    process.terminate()
    assert process.wait(60) == 0
    assert store.get_run(claimed.id).status == "stopped"
