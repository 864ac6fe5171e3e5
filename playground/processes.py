"""Which process is meant: a pid alone is given out again, a pid with its start time is not.

And what a child process of ours gets as its environment, and how it hears its parent. Nothing here
looks for a process by its name.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from playground.config import private
from playground.hardware import MIB

ROOT = Path(__file__).parent.parent
"""The checkout: where ``playground`` and ``kernels`` are found."""

Child = subprocess.Popen[bytes]

# Start times derive from a boot time that a clock adjustment moves by up to a second.
_SAME_START_S = 2.0


@dataclass(frozen=True)
class ProcessId:
    """One process of this machine, for good.

    Attributes:
        pid: as the system numbers it.
        started: Unix seconds.
    """

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int | None = None) -> ProcessId:
        """The process that has ``pid`` now; None is this one. Raises psutil.NoSuchProcess."""
        process = psutil.Process(pid)
        return cls(process.pid, process.create_time())

    @classmethod
    def parse(cls, text: str) -> ProcessId:
        """The reverse of ``str()``: "pid:started"."""
        pid, started = text.split(":")
        return cls(int(pid), float(started))

    def __str__(self) -> str:
        return f"{self.pid}:{self.started}"

    def is_alive(self) -> bool:
        """Whether it still runs. A zombie does not, and another process with its pid is not it."""
        try:
            process = psutil.Process(self.pid)
            return self._is(process) and _runs(process)
        except psutil.NoSuchProcess:
            return False

    def end_session(self) -> None:
        """Kills what is left of the session that this process led, itself left out.

        A session's id is not given out again while a member lives. So unless another process has
        the pid by now, all members are children of this one.
        """
        try:
            if not self._is(psutil.Process(self.pid)):
                return
        except psutil.NoSuchProcess:
            pass
        left = [process for process in psutil.process_iter() if self._leads(process)]
        for process in left:
            with suppress(psutil.NoSuchProcess):  # it went by itself
                process.kill()  # psutil checks that it is still the same process
        deadline = time.monotonic() + 1
        while any(map(_runs, left)) and time.monotonic() < deadline:
            time.sleep(0.01)

    def _is(self, process: psutil.Process) -> bool:
        return abs(process.create_time() - self.started) < _SAME_START_S

    def _leads(self, process: psutil.Process) -> bool:
        try:
            return process.pid != self.pid and os.getsid(process.pid) == self.pid
        except ProcessLookupError:
            return False


def _runs(process: psutil.Process) -> bool:
    # Who adopted an orphan may never reap it; a zombie holds nothing but its number.
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def child_environment() -> dict[str, str]:
    """Ours, plus what lets a child find our modules from any folder and crash with a traceback."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # the order in which hardware.detect() counts
        # Threads of a child sleep while they wait. Spinning, the default, makes a step of the tiny
        # model twenty times slower as soon as something else wants a core.
        "OMP_WAIT_POLICY": "PASSIVE",
        # glibc gives large buffers back to the kernel and fetches them again, page by page, for
        # every operation; kept, an emulated NVFP4 step of SmolLM2 takes a quarter less time.
        "MALLOC_MMAP_THRESHOLD_": str(32 * MIB),  # the most that glibc takes
        "MALLOC_TRIM_THRESHOLD_": str(512 * MIB),
        # What a child prints goes to a file, where a library's progress bar is a line without end.
        "TQDM_DISABLE": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        **os.environ,
        "PYTHONPATH": path,
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
    }


def run_to_end(
    command: Sequence[str], output: Path, longest_s: float, environment: dict[str, str]
) -> int:
    """Runs a short child of ours; what it prints goes to ``output``.

    Returns:
        Its exit code; the negative number of the signal that ended it.
    Raises:
        TimeoutError: it took longer than ``longest_s`` seconds, and was ended.
    """
    # A file, never a pipe: a pipe that nobody reads fills up and stops the child.
    with output.open("wb") as log:
        try:
            return subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                timeout=longest_s,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"no end within {longest_s} s") from None


@contextmanager
def running(command: Sequence[str], output: Path, environment: dict[str, str]) -> Iterator[Child]:
    """A child of ours whose output goes to a file, and which is gone when the block is left."""
    with output.open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def last_line(output: Path) -> str:
    """Of what a child printed, as far as a sentence has room for it; empty if it said nothing.

    With nothing private in it: that is taken out before it is cut.
    """
    said = output.read_text(encoding="utf-8", errors="replace").strip().split("\n")[-1]
    return private(said)[:300]


def lines_from_parent(idle_s: float | None = None) -> Iterator[bytes]:
    """What is written to this process's stdin, line by line, until whoever started it is gone.

    Read straight from the system: Python aborts at its end if a thread waits inside ``sys.stdin``.

    Args:
        idle_s: it ends as well when nothing is written for so long; None waits for ever.
    """
    unread = b""
    while select.select([0], [], [], idle_s)[0] and (more := os.read(0, 1 << 16)):
        *lines, unread = (unread + more).split(b"\n")
        yield from lines
