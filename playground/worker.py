"""One run in one process: config from the store, events to the store, and then it is gone.

Whatever happens in here ends as a status with one sentence; tracebacks go to ``worker.log``, which
is this process's stdout and stderr.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playground.config import private
from playground.events import FINAL, Event, Stage, Status
from playground.failures import Place, from_exception
from playground.processes import ProcessId
from playground.sinks import Arm, Fan, chosen_sinks
from playground.store import Run, RunStore

HEARTBEAT_S = 2.0
_ASK_STORE_S = 0.1

Train = Callable[..., Iterator[Event]]


def main(run_id: str, home: Path, train: Train | None = None) -> int:
    """Carries out a run that a launcher has claimed.

    Args:
        train: ``train(config, *, folder, should_stop, resume) -> Iterator[Event]``; None takes the
            real one, and imports it (torch, seconds) only after the page has been told.
    Returns:
        Exit code: 0 when the run said how it ended, 1 when it was not ours to carry out.
    """
    store = RunStore(home)
    stop = StopFlag(store, run_id)
    signal.signal(signal.SIGTERM, stop.set)
    me = ProcessId.of()
    if not store.set_process(run_id, me.pid, me.started):
        print(f"Run {run_id} is not waiting for a worker; nothing to do.", file=sys.stderr)
        return 1
    store.append(run_id, Stage(name="starting", detail="loading the libraries"))
    with _heartbeat(store, run_id), _private_warnings():
        outcome = _carry_out(store, store.get_run(run_id), stop, train)
    store.append(run_id, outcome)
    return 0


class StopFlag:
    """Called by the loop after each step, and while it loads, tokenises, evaluates and saves.

    Cheap: the store is asked ten times a second at most. SIGTERM says the same.
    """

    def __init__(self, store: RunStore, run_id: str) -> None:
        self._store, self._run_id = store, run_id
        self._stopped = False
        self._asked_at = 0.0
        self._breaks_off = False

    def set(self, *_: object) -> None:
        """The handler of SIGTERM."""
        self._stopped = True
        if self._breaks_off:
            self._breaks_off = False
            raise SystemExit("stopped while the libraries were loading")

    @contextmanager
    def breaks_off(self) -> Iterator[None]:
        """Inside, Stop raises SystemExit: importing torch takes seconds and asks nobody."""
        over = threading.Event()

        def ask() -> None:
            while not over.wait(_ASK_STORE_S):
                if self():
                    os.kill(os.getpid(), signal.SIGTERM)  # its handler runs in the main thread
                    break
            self._store.close()

        thread = threading.Thread(target=ask, name="stop while loading", daemon=True)
        self._breaks_off = True
        thread.start()
        try:
            yield
        finally:
            self._breaks_off = False
            over.set()
            thread.join()

    def outcome(self) -> Status:
        """What a run has come to that heeded it."""
        paused = self._store.stop_kind(self._run_id) == "pause"
        return Status(status="paused" if paused else "stopped")

    def __call__(self) -> bool:
        now = time.monotonic()
        if not self._stopped and now - self._asked_at >= _ASK_STORE_S:
            self._asked_at = now
            self._stopped = self._store.stop_requested(self._run_id)
        return self._stopped


def _carry_out(store: RunStore, run: Run, stop: StopFlag, train: Train | None) -> Status:
    """Everything the run says, stored as it says it; the return is how it ended.

    An event is in the store before the run goes on to what follows from it: a checkpoint never
    holds a step that the store has not, and what a resuming needs goes when the end is stored.
    """
    place, ended = Place(), None
    try:
        if stop():
            return stop.outcome()
        with stop.breaks_off():
            train = train or _real_train()
        events = train(
            run.config,
            folder=store.run_folder(run.id),
            should_stop=stop,
            resume=run.attempt > 1,
        )
        with _sinks(store, run) as sinks:
            for event in events:
                if isinstance(event, Status) and event.status in FINAL:
                    event = ended = stop.outcome() if event.status == "stopped" else event
                place = place.after(event)
                store.append(run.id, event)
                if failed := sinks.write(event):
                    store.append(run.id, *failed)
        return ended or (stop.outcome() if stop() else Status(status="finished"))
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: the run must say so
        if isinstance(error, SystemExit) and stop():
            return stop.outcome()
        ending = from_exception(error, run.config, place)
        # A refusal is an answer: where in the code it was given says nothing to a person.
        told = ending.error if ending.cause == "refused" else traceback.format_exc()
        print(private(told), file=sys.stderr, flush=True)
        return ending


@contextmanager
def _sinks(store: RunStore, run: Run) -> Iterator[Fan]:
    """Where the run's figures go beside the store, if that was asked for."""
    name = f"{run.position + 1}-{run.precision}-seed{run.config.training.seed}"
    sinks = Fan(chosen_sinks(), store.home, Arm(run.group_id, name))
    try:
        yield sinks
    finally:
        if failed := sinks.close():
            store.append(run.id, *failed)


def _real_train() -> Train:
    from playground.training.loop import train

    return train


@contextmanager
def _heartbeat(store: RunStore, run_id: str) -> Iterator[None]:
    """Tells the store every few seconds that this process lives, also in the minutes of a load."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(HEARTBEAT_S):
            store.heartbeat(run_id)
        store.close()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _private_warnings() -> Iterator[None]:
    """A warning names the file it comes from; the log, which may be shared, no home folder."""
    plain = warnings.formatwarning
    warnings.formatwarning = lambda *told, **more: private(plain(*told, **more))
    try:
        yield
    finally:
        warnings.formatwarning = plain


def run_from_command_line(train: Train | None = None) -> int:
    """``RUN_ID --home HOME``; tests pass a scripted ``train``."""
    parser = argparse.ArgumentParser(description="Carry out one run; the launcher calls this.")
    parser.add_argument("run_id")
    parser.add_argument("--home", type=Path, required=True)
    arguments = parser.parse_args()
    return main(arguments.run_id, arguments.home, train)


if __name__ == "__main__":
    sys.exit(run_from_command_line())
