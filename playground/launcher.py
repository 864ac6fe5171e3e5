"""Starts runs, one at a time, each in a process of its own; stops them; notices how they ended.

The store is the truth and this is its hand: another launcher, in a page or a terminal, may work on
the same home folder, and the next one finds again what this one left behind. A worker leads its own
session, so a signal reaches it and its children and nobody else; nothing is ever found by name.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from playground.config import SettingsError, private
from playground.events import Message, Status
from playground.failures import from_exit_code
from playground.presets import Preset
from playground.processes import ProcessId, child_environment
from playground.residents import evict
from playground.sinks import chosen_sinks
from playground.store import Group, Run, RunStore, StoreError

POLL_S = 0.1
IDLE_S = 0.5
TERM_AFTER_S = 5.0  # from Stop, or from a run's last word, until its process gets SIGTERM
KILL_AFTER_S = 7.0  # ... and SIGKILL; with a second for dying it is all gone within 10 s
PAUSE_S = 60.0  # more for a pause: who pauses wants the step in hand finished and all of it kept
_LOG_TAIL = 16_384  # bytes

_GONE = "The server that would have started it is gone; resume it."
_CLOSED = "The server was closed before its turn came; resume it."
_LOST = "Its process is gone and has not said why; its points are kept, so resume it."

log = logging.getLogger(__name__)


class Launcher:
    """Owns the runs it was asked to start, and one thread that supervises them.

    A process has one launcher at a time for a home folder.

    Args:
        store: where runs are queued; shared with any other launcher of the same home folder.
        python: interpreter of the workers.
        worker_module: what they run, as ``python -m MODULE RUN_ID --home HOME``.
    """

    def __init__(
        self,
        store: RunStore,
        python: str = sys.executable,
        worker_module: str = "playground.worker",
    ) -> None:
        self._store = store
        self._command = [python, "-P", "-m", worker_module]  # -P: never import from the cwd
        self.owner = str(ProcessId.of())
        self._workers: dict[str, _Worker] = {}
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._closing = False
        self.recover()
        self._thread = threading.Thread(target=self._supervise, name="launcher", daemon=True)
        self._thread.start()

    def start(
        self, preset: Preset, precisions: Sequence[str] | None = None, title: str | None = None
    ) -> Group:
        """Queues one run for each precision. They start by themselves as the queue empties.

        The same comparison asked for again while it is queued or running is that comparison: five
        clicks make one.

        Raises:
            SettingsError: the environment names a sink that cannot be used; nothing is queued.
        """
        chosen_sinks()  # the workers inherit the environment: better now than in each of them
        preset = replace(preset, precisions=tuple(precisions or preset.precisions))
        configs = preset.configs
        title = title or preset.title
        with self._lock:  # two tabs at once
            mine = {run.group_id for run in self._store.live() if run.owner == self.owner}
            wanted = (preset.name, title, configs)
            for group in map(self._store.get_group, sorted(mine)):
                stopping = any(run.stop_requested for run in group.runs)
                there = (group.preset, group.title, [run.config for run in group.runs])
                if there == wanted and not stopping:
                    return group
            group = self._store.create_group(preset.name, title, configs, self.owner)
        self._wake.set()
        return group

    def stop(self, run_or_group_id: str) -> None:
        """Asks a run, or every run of a group, to stop, whoever watches it. Returns at once.

        Raises:
            SettingsError: there is no such run or group.
        """
        self._store.request_stop(*(run.id for run in self._runs(run_or_group_id)))
        self._wake.set()

    def pause(self, run_or_group_id: str) -> None:
        """As stop(), and its runs end as ``paused``: to be gone on with later. Returns at once.

        Raises:
            SettingsError: there is no such run or group.
        """
        ids = (run.id for run in self._runs(run_or_group_id))
        self._store.request_stop(*ids, kind="pause")
        self._wake.set()

    def resume(self, run_or_group_id: str) -> list[str]:
        """Queues a run again, or every run of a group that can be; ids of those that were.

        They go on where their last checkpoint was written, as this launcher's runs. Waits for a
        process that is just leaving.

        Raises:
            SettingsError: there is no such run or group, or nothing of it can be resumed.
        """
        deadline = time.monotonic() + KILL_AFTER_S + 1
        runs = self._runs(run_or_group_id)
        while any(run.leaving for run in runs) and time.monotonic() < deadline:
            time.sleep(POLL_S)
            runs = self._runs(run_or_group_id)
        ids = [run.id for run in runs if not run.why_not_resumable]
        if not ids:
            raise SettingsError(next(run.why_not_resumable or "" for run in runs))
        self._store.requeue(*ids, owner=self.owner)
        self._wake.set()
        return ids

    def recover(self) -> None:
        """Takes over what a launcher that is gone, or closed in this process, left behind.

        Live workers are watched from now on. Runs whose worker is gone, and queued runs that nobody
        would start, are marked interrupted. Runs of a launcher that lives are left to it.
        """
        with self._lock:
            for run in self._store.live():
                if run.owner == self.owner:
                    # Ours, unless an earlier launcher of this process closed and left it running.
                    if run.pid is None or run.id in self._workers:
                        continue
                elif ProcessId.parse(run.owner).is_alive():
                    continue
                process = ProcessId(run.pid, run.process_started) if run.pid else None
                if process and process.is_alive():
                    if self._store.adopt(run.id, owner=run.owner, new_owner=self.owner):
                        self._workers[run.id] = _Worker(run.id, process)
                    continue
                if process:
                    process.end_session()
                self._settle_as(run, _without_process(run))

    def log_tail(self, run_id: str) -> str:
        """The end of what the worker printed, for a person to read; empty before it printed."""
        path = self._store.run_folder(run_id) / "worker.log"
        if not path.exists():
            return ""
        with path.open("rb") as file:
            cut = max(0, path.stat().st_size - _LOG_TAIL)
            file.seek(cut)
            text = file.read().decode("utf-8", "replace")
        if cut:  # the rest of a secret would not be known as one
            text = re.sub(r"\A\S+", "", text)
        # A progress bar redraws its line after \r: only the last state is worth reading.
        return private("\n".join(line.rsplit("\r", 1)[-1] for line in text.split("\n")))

    def close(self) -> None:
        """Stops supervising. A running worker goes on; the next launcher finds it again.

        What this launcher had queued would never start, and says so.
        """
        self._closing = True
        self._wake.set()
        self._thread.join()
        for run in self._store.live():
            if run.owner == self.owner and run.status == "queued":
                self._store.settle(run.id, "interrupted", _CLOSED, owner=self.owner)

    def _runs(self, run_or_group_id: str) -> list[Run]:
        found = self._store.find(run_or_group_id)
        return list(found.runs) if isinstance(found, Group) else [found]

    def _supervise(self) -> None:
        trouble = ""
        while not self._closing:
            pause = IDLE_S
            try:
                pause = self._tick()
                trouble = ""
            except Exception as error:  # the next round may succeed, and the page must live
                if str(error) != trouble:  # a disk stays full for many rounds
                    why = None if isinstance(error, StoreError) else error
                    told = "The launcher could not do its round and will try again: %s."
                    log.error(told, error, exc_info=why)
                trouble = str(error)
            self._wake.wait(pause)
            self._wake.clear()
        self._store.close()

    def _tick(self) -> float:
        """One round; returns the seconds until the next."""
        with self._lock:
            for worker in list(self._workers.values()):
                self._watch(worker)
            if self._workers:
                return POLL_S
            self.recover()
            waiting = any(run.owner == self.owner for run in self._store.live())
            if waiting and not self._workers and (run := self._store.claim_next(self.owner)):
                self._spawn(run)
            return POLL_S if waiting or self._workers else IDLE_S

    def _spawn(self, run: Run) -> None:
        evict(self._store.home)  # what else holds a model here: a run's memory is its own
        folder = self._store.run_folder(run.id)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # A file, never a pipe: a pipe that nobody reads fills up and stops the run.
            with (folder / "worker.log").open("ab") as output:
                child = subprocess.Popen(
                    [*self._command, run.id, "--home", str(self._store.home)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env=child_environment(),
                )
        except OSError as error:
            reason = f"The worker could not be started: {error}."
            self._settle_as(run, Status(status="failed", error=reason, cause="error"))
            return
        process = ProcessId.of(child.pid)  # there even if it ended at once: we have not reaped it
        self._store.set_process(run.id, process.pid, process.started)
        self._workers[run.id] = _Worker(run.id, process, child)

    def _watch(self, worker: _Worker) -> None:
        if not worker.process.is_alive():
            self._settle(worker)
            return
        run = self._store.get_run(worker.run_id)
        if run.over or run.stop_requested:
            worker.press(PAUSE_S if not run.over and run.stop_kind == "pause" else 0.0)

    def _settle(self, worker: _Worker) -> None:
        worker.process.end_session()
        code = worker.child.wait() if worker.child else None
        run = self._store.get_run(worker.run_id)
        if run.stop_requested and worker.signals and not run.over:
            text = f"It did not stop by itself and was ended by {worker.signals[-1].name}."
            self._store.append(run.id, Message(level="warning", text=text))
        if run.stop_requested or worker.child is None:
            ending = _without_process(run)
        else:
            ending = from_exit_code(code)
        self._settle_as(run, ending)
        del self._workers[run.id]

    def _settle_as(self, run: Run, ending: Status) -> None:
        with suppress(OSError):  # a full disk; what is shown of it is cleaned all the same
            _clean(self._store.run_folder(run.id) / "worker.log")
        status, error, cause = ending.status, ending.error, ending.cause
        self._store.settle(run.id, status, error, owner=run.owner, cause=cause)


@dataclass
class _Worker:
    """A worker process that is watched: a child of ours, or one found again (``child`` is None)."""

    run_id: str
    process: ProcessId
    child: subprocess.Popen[bytes] | None = None
    signals: list[signal.Signals] = field(default_factory=list)
    pressed_at: float | None = None
    patience_s: float = 0.0

    def press(self, patience_s: float = 0.0) -> None:
        """It should be gone soon: first it is left to itself, then told, then ended.

        Args:
            patience_s: that much later than otherwise.
        """
        if self.pressed_at is None or patience_s != self.patience_s:
            self.pressed_at, self.patience_s = time.monotonic(), patience_s
        waited = time.monotonic() - self.pressed_at - patience_s
        if waited >= KILL_AFTER_S:
            self._signal(signal.SIGKILL)
        elif waited >= TERM_AFTER_S:
            self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        if number not in self.signals and self.process.is_alive():
            self.signals.append(number)
            with suppress(ProcessLookupError):  # it went just now
                os.killpg(self.process.pid, number)  # it leads its group, so the group has its pid


def _clean(log: Path) -> None:
    """Takes out of a log what libraries and crashes said of this machine: logs are passed on."""
    if not log.exists():
        return
    partial = log.with_suffix(".partial")
    with (
        log.open(encoding="utf-8", errors="replace", newline="") as said,
        partial.open("w", encoding="utf-8", newline="") as kept,
    ):
        kept.writelines(map(private, said))
    partial.replace(log)


def interrupted() -> Callable[[], bool]:
    """From now on Ctrl-C, SIGTERM and SIGHUP raise nothing; the answer says whether one came.

    An exception could strike again, in the middle of stopping what the first one was meant to stop.
    """
    came: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: came.append(number))
    return lambda: bool(came)


def _without_process(run: Run) -> Status:
    """How a run ended that its process did not outlive, and that nobody saw end."""
    if run.stop_requested:
        return Status(status="paused" if run.stop_kind == "pause" else "stopped")
    if run.status == "queued":
        return Status(status="interrupted", error=_GONE)
    return Status(status="interrupted", error=_LOST, cause="lost")
