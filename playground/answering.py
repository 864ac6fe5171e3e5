"""A child that stays for the next question: one line of JSON in, lines of JSON out.

A child that has loaded torch answers in milliseconds what a new one would take seconds for. So it
stays while it is asked, and goes by itself after some idle minutes, or as soon as its parent is
gone. Its answers come through a pipe that is read while it writes; all else that it prints goes to
a file.

    {"tell": ...}       on the way, any number of times
    {"answer": ...}     the last line of an answer
    {"refused": "..."}  or this: a sentence
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playground.config import SettingsError
from playground.processes import child_environment, last_line, lines_from_parent

IDLE_S = 300.0
"""A child that nobody asks for so long goes, and its memory with it."""
_LONGEST_S = 300.0
"""Between two lines of an answer."""
_NICENESS = 10
"""Who only looks gives way to who trains."""
_CHUNK = 1 << 16

Answer = Callable[[dict[str, Any]], Iterator[dict[str, Any]]]


class Asked:
    """The parent's side: starts the child when there is a question, one question at a time."""

    def __init__(
        self,
        what: str,
        child: tuple[str, ...],
        longest_s: float = _LONGEST_S,
        started: Callable[[int], None] = lambda pid: None,
    ) -> None:
        """
        Args:
            what: names it in sentences.
            child: the interpreter's arguments.
            longest_s: that it may say nothing for.
            started: called with the pid of each child, which leads a session of its own.
        """
        self._what, self._child, self._longest_s = what, child, longest_s
        self._started = started
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def ask(self, question: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Lines ``{"tell": ...}`` as they come, and then ``{"answer": ...}``.

        One that is not listened to till its end takes the child with it.

        Raises:
            SettingsError: what the child refuses, or it came to no good end.
        """
        with self._lock:
            over = False
            try:
                self._send(question)
                while not over:
                    line = self._line()
                    over = "tell" not in line
                    if "refused" in line:
                        raise SettingsError(line["refused"])
                    yield line
            finally:
                if not over:
                    self._end()

    def answer(self, question: dict[str, Any]) -> Any:
        """The answer alone. Raises as ``ask``."""
        *_, last = self.ask(question)
        return last["answer"]

    def close(self) -> None:
        """Ends the child, if there is one; the next question starts another."""
        with self._lock:
            self._end()

    def _send(self, question: dict[str, Any]) -> None:
        line = json.dumps(question).encode("ascii") + b"\n"
        if self._process is not None:
            try:
                self._write(line)
                return
            except OSError:  # it went since it was last asked, idle or ended by somebody
                self._end()
        self._start()
        try:
            self._write(line)
        except OSError:
            raise self._died() from None

    def _write(self, line: bytes) -> None:
        if self._process.poll() is not None:
            raise BrokenPipeError
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def _start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fp4-asked-")
        self._unread = b""
        # A GPU that trains must not be asked for memory by somebody who only looks, nor all cores.
        shy = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, *self._child],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=child_environment() | shy,
                start_new_session=True,
            )
        self._started(self._process.pid)

    @property
    def _log(self) -> Path:
        return Path(self._folder.name) / "output.log"

    def _line(self) -> dict[str, Any]:
        deadline = time.monotonic() + self._longest_s
        while b"\n" not in self._unread:
            ready, _, _ = select.select(
                [self._process.stdout], [], [], max(deadline - time.monotonic(), 0)
            )
            if not ready:
                raise SettingsError(
                    f"{self._what} said nothing for {self._longest_s / 60:.0f} minutes and was "
                    "ended; ask it for something smaller."
                )
            more = os.read(self._process.stdout.fileno(), _CHUNK)
            if not more:
                raise self._died()
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        try:
            return json.loads(line)
        except ValueError:
            raise SettingsError(
                f"{self._what} left no answer that can be read; try again."
            ) from None

    def _died(self) -> SettingsError:
        code = self._process.wait()
        if code == -signal.SIGTERM:
            return SettingsError(
                f"{self._what} was ended to leave the machine to a run that started; ask again."
            )
        if code < 0:
            return SettingsError(
                f"{self._what} was ended by {signal.Signals(-code).name}, which memory that runs "
                "out does; ask it for something smaller."
            )
        reason = last_line(self._log) or "it said nothing"
        return SettingsError(f"{self._what} ended with exit code {code} ({reason}); try again.")

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                pipe.close()
            except OSError:  # what was not written yet cannot be any more
                continue
        self._process = None
        self._folder.cleanup()


def serve(answer: Answer, idle_s: float = IDLE_S) -> None:
    """The child's side: answers until the parent is gone or asks nothing for ``idle_s`` seconds.

    ``answer`` yields ``{"tell": ...}`` and at last ``{"answer": ...}``, or raises SettingsError.
    """
    os.nice(_NICENESS)
    lines = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # what a library prints is no answer
    for question in lines_from_parent(idle_s):
        for line in _answered(answer, json.loads(question)):
            # A lone surrogate, which JSON can hold, is no UTF-8; escaped it is.
            lines.write(json.dumps(line, allow_nan=False) + "\n")
            lines.flush()


def _answered(answer: Answer, question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        yield from answer(question)
    except SettingsError as error:
        yield {"refused": str(error)}
