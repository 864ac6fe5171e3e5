"""What a step costs beside forward, backward and optimizer, part by part, in one real run.

    python -m benchmarks.bench_overhead [--steps 200] [--cpu-time] [--set key=value ...]

A worker's whole way is gone, in this process: the loop, its meters and its hash, the store on disk.
A step's overhead is the time from one stored step to the next, less what the step's own timer says,
and what our own parts take inside that timer. Promised of events, store and meters: under 2 % of a
step of 50 ms, so under 1 ms. Laying out the batch, which any trainer does, is told apart. Steps are
of about 50 ms on a quiet machine, since all of it is slower than by itself: the step has emptied
the processor's caches. Checkpoints are off (``--set checkpoint_every=50`` turns them on): they are
work that was asked for.

Parts are timed by wrapping their functions, which costs each call about a microsecond. Medians over
the steps, so that what else the machine does weighs little; the mean stands beside them, because a
store that is slow now and then is slow. Without a GPU the energy meter has nothing to ask.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from playground import worker
from playground.data import batches
from playground.events import Step
from playground.presets import load_preset
from playground.processes import ProcessId
from playground.store import RunStore
from playground.training import loop
from playground.training.energy import EnergyMeter
from playground.training.meters import CountedMemory, CudaMemory
from playground.training.state import TrainingState

STEP_MS, PROMISED = 50.0, 0.02
WARM_UP = 10  # steps: caches, and the optimizer's state, which is counted once

DATA = "laying out batches"  # what any trainer does; a GPU's are made in the background

OUTSIDE: list[tuple[str, list[tuple[Any, str]]]] = [
    ("store", [(RunStore, "append")]),
    (DATA, [(batches, "lay_out")]),
    ("step event", [(loop, "_step_event")]),
    ("hash and random state", [(TrainingState, "completed")]),
    ("memory meter", [(CountedMemory, "read"), (CudaMemory, "read")]),
    ("energy meter", [(EnergyMeter, "_read")]),
]
"""Parts that run outside the step's timer, and the functions that are all of each."""

INSIDE: list[tuple[str, list[tuple[Any, str]]]] = [
    ("stop flag (in the step)", [(worker.StopFlag, "__call__")]),
]


class Stopwatch:
    """Adds up what named parts take, between one stored step and the next."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.steps: list[dict[str, float]] = []
        self._parts: dict[str, float] = defaultdict(float)
        self._last_step_at: float | None = None

    def wrap(self, part: str, owner: Any, name: str) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = self._clock()
            try:
                return original(*args, **kwargs)
            finally:
                self._parts[part] += (self._clock() - start) * 1000

        setattr(owner, name, timed)

    def mark_steps(self) -> None:
        """To be called last: a step ends when it is stored."""
        append = RunStore.append

        def marking(store: RunStore, run_id: str, *events: Any) -> None:
            append(store, run_id, *events)
            for event in events:
                if isinstance(event, Step):
                    self._mark(event)

        RunStore.append = marking  # type: ignore[method-assign]

    def _mark(self, step: Step) -> None:
        now = self._clock()
        if self._last_step_at is not None:
            whole = (now - self._last_step_at) * 1000
            self.steps.append({**self._parts, "outside": whole - step.step_ms, "ms": step.step_ms})
        self._parts.clear()
        self._last_step_at = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument(
        "--cpu-time", action="store_true", help="on a busy CPU: one thread, processor time"
    )
    given = parser.parse_args()
    clock = time.perf_counter
    if given.cpu_time:
        torch.set_num_threads(1)
        clock = time.process_time
        loop.StepTimer = functools.partial(loop.StepTimer, clock=clock)
    watch = Stopwatch(clock)
    for part, functions in OUTSIDE + INSIDE:
        for owner, name in functions:
            watch.wrap(part, owner, name)
    watch.mark_steps()
    settings = {"max_steps": given.steps, "eval_rows": 8, "eval_every": 0}
    # A quarter of the preset's rows: a step of about 50 ms on two cores.
    settings |= {"exact_match_rows": 0, "checkpoint_every": 0, "micro_batch_size": 4}
    settings["precisions"] = given.precision
    with tempfile.TemporaryDirectory() as home:
        carry_out(Path(home), settings | dict(text.split("=", 1) for text in given.set))
    clock_name = "processor" if given.cpu_time else "wall"
    report(watch.steps[WARM_UP:], f"{given.precision}, {clock_name} time")


def carry_out(home: Path, settings: dict[str, Any]) -> None:
    """One run, as its worker would."""
    preset = load_preset("quick", {key: str(value) for key, value in settings.items()})
    store, me = RunStore(home), str(ProcessId.of())
    group = store.create_group(preset.name, preset.title, preset.configs[:1], me)
    claimed = store.claim_next(me)
    assert claimed is not None
    worker.main(claimed.id, home)
    ended = store.get_run(group.run_ids[0])
    if ended.status != "finished":
        raise SystemExit(f"The run ended as {ended.status}: {ended.error}")


def report(steps: list[dict[str, float]], what: str) -> None:
    def line(part: str, median: float, mean: float) -> str:
        return f"{part:26} {median:8.3f} {mean:8.3f} {median / STEP_MS:8.2%}"

    def values(part: str) -> list[float]:
        return [step.get(part, 0.0) for step in steps]

    def both(part: str) -> tuple[float, float]:
        return statistics.median(values(part)), statistics.mean(values(part))

    print(f"{len(steps)} steps of {both('ms')[0]:.1f} ms in {what}, torch {torch.__version__}")
    print(f"{'ms a step':26} {'median':>8} {'mean':>8}  of {STEP_MS:.0f} ms")
    outside, inside = [part for part, _ in OUTSIDE], [part for part, _ in INSIDE]
    for part in outside + inside:
        print(line(part, *both(part)))
    totals = [step["outside"] + sum(step.get(part, 0.0) for part in inside) for step in steps]
    rest = [step["outside"] - sum(step.get(part, 0.0) for part in outside) for step in steps]
    print(line("the loop and the rest", statistics.median(rest), statistics.mean(rest)))
    total = statistics.median(totals)
    print(line("all", total, statistics.mean(totals)))
    engine = [all_ - step.get(DATA, 0.0) for all_, step in zip(totals, steps, strict=True)]
    total = statistics.median(engine)
    print(line("all but the data", total, statistics.mean(engine)))
    verdict = "within" if total < PROMISED * STEP_MS else "ABOVE"
    print(f"events, store and meters: {verdict} the promised {PROMISED:.0%} of {STEP_MS:.0f} ms")


if __name__ == "__main__":
    main()
