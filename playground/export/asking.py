"""Asks a child process for an export and passes on how far it is."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground.config import SettingsError
from playground.export.offers import Kind, folder_of, remove_unfinished, why_not
from playground.processes import ProcessId, child_environment, last_line
from playground.residents import end, enter, resident
from playground.store import Run, RunStore

CHILD = ("-P", "-m", "playground.export")  # -P: never import from the cwd
KIND = "export"
_POLL_S = 0.1


@dataclass(frozen=True)
class Progress:
    """What the child does, the share of it that is done, and at the end what its check found."""

    doing: str
    share: float | None = None
    report: dict[str, Any] | None = None


def export(
    store: RunStore,
    run: Run,
    kind: Kind,
    *,
    to: Path | None = None,
    archive: bool = False,
    child: tuple[str, ...] = CHILD,
) -> Iterator[Progress]:
    """Builds an export and checks it; the last thing it yields has the report.

    Closed before the end, it ends the child and leaves nothing.

    Args:
        to: the folder to make, which must not be there yet; None takes the run's own.
        archive: also puts all of it into the one file that ``archive_of`` names.
    Raises:
        SettingsError: there is nothing to export, another export or a run is under way, the check
            failed, the disk is full, or the child came to no good end.
    """
    if refusal := why_not(store, run):
        raise SettingsError(refusal)
    folder = to or folder_of(store, run.id, kind)
    if to is not None and to.exists():
        raise SettingsError(
            f"Folder '{to}' is there already, and nothing in it may be overwritten; name a new one."
        )
    if resident(store.home, KIND):
        raise SettingsError("Another export is being made; ask again when it has ended.")
    # Whoever answered on Try it gives way: two of us may not have the memory.
    if chat := resident(store.home, "try-it"):
        end(chat)
    with tempfile.TemporaryDirectory(prefix="fp4-export-") as name:
        work = _Work(store, run, [kind, str(folder), *(["--archive"] if archive else [])], name)
        work.start(child)
        try:
            yield from work.follow()
        finally:
            work.end()
            remove_unfinished(folder)  # what a child that was ended could not


class _Work:
    """The child, what it says, and its log."""

    def __init__(self, store: RunStore, run: Run, arguments: list[str], folder: str) -> None:
        self._store, self._run, self._arguments = store, run, arguments
        self._said, self._log = Path(folder) / "said.jsonl", Path(folder) / "child.log"
        self._read = 0

    def start(self, child: tuple[str, ...]) -> None:
        home = ["--home", str(self._store.home), "--say", str(self._said)]
        with self._log.open("wb") as output:  # a file, never a pipe that nobody reads
            self._process = subprocess.Popen(
                [sys.executable, *child, self._run.id, *self._arguments, *home],
                stdin=subprocess.PIPE,  # nothing is written: it closes when we are gone
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=child_environment(),
            )
        self._id = ProcessId.of(self._process.pid)
        enter(self._store.home, KIND, self._id)
        if live := self._store.live():
            self.end()
            title = self._store.get_group(live[0].group_id).title
            raise SettingsError(
                f"“{title}” is running or waiting, and its memory and speed must be its own; "
                "export when it has ended."
            )

    def follow(self) -> Iterator[Progress]:
        while True:
            over = self._process.poll() is not None  # before the last look at what it said
            for said in self._news():
                if "refused" in said:
                    raise SettingsError(said["refused"])
                yield Progress(**said)
                if "report" in said:
                    return
            if over:
                raise SettingsError(self._why())
            time.sleep(_POLL_S)

    def end(self) -> None:
        end(self._id)
        self._process.wait()
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def _news(self) -> Iterator[dict[str, Any]]:
        if not self._said.exists():
            return
        with self._said.open("rb") as file:
            file.seek(self._read)
            whole, found, _ = file.read().rpartition(b"\n")  # never half a line
        self._read += len(whole) + len(found)
        yield from map(json.loads, whole.splitlines())

    def _why(self) -> str:
        code = self._process.returncode
        if code == -signal.SIGTERM:
            return "The export was ended, as a run that starts does to have the memory; ask again."
        if code == -signal.SIGKILL:
            return (
                "The export was killed, as happens when memory runs out; "
                "export on a machine with more."
            )
        said = last_line(self._log) or "it said nothing"
        return f"The export ended with exit code {code} ({said}); ask again."
