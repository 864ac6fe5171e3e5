"""A worker that kills itself with SIGKILL at a chosen moment, and starts in a fraction of a second.

A moment is a tick: the run stores an event (before and after), asks whether to stop (in each stage,
and in each micro-batch), flushes a file or renames a folder. So each moment at which something is
half done can be chosen, and the same one comes again.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playground.store import RunStore

_LOADED = [__name__, "playground.training.loop", "peft", "transformers.models.llama"]


def worker_process(run_id: str, home: Path, kill_at: int | None, count: Path) -> int:
    """Carries out the claimed run in a process of its own; its exit code, -9 if it was killed.

    Args:
        kill_at: the tick at which it dies; None lets it live.
        count: where a process that lived writes how many ticks there were.
    """
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(_LOADED)  # torch and its friends are loaded once for all
    process = server.Process(target=_carry_out, args=(run_id, home, kill_at, count))
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def _carry_out(run_id: str, home: Path, kill_at: int | None, count: Path) -> None:
    from playground import worker

    ticks = 0

    def tick() -> None:
        nonlocal ticks
        ticks += 1
        if ticks == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def ticking(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **options: Any) -> Any:
            tick()
            result = function(*arguments, **options)
            tick()
            return result

        return called

    RunStore.append = ticking(RunStore.append)  # type: ignore[method-assign]
    worker.StopFlag.__call__ = ticking(worker.StopFlag.__call__)  # type: ignore[method-assign]
    os.fsync, os.replace = ticking(os.fsync), ticking(os.replace)
    worker.main(run_id, home)
    count.write_text(str(ticks))
