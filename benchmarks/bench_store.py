"""The query that feeds the charts, on a store with eight long runs: time, points, and how it grows.

    python -m benchmarks.bench_store [--runs 8] [--steps 10000] [--every 100]

As the page asks it (``playground/ui/watch.py``): of every run the thinned steps and the
evaluations. Promised: under 50 ms in total for 8 runs of 10,000 steps, and bounded whatever the
length. The same is timed at a tenth of the steps, and against reading every step. No page is
needed: what Gradio adds is not the store's.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playground.config import parse_config
from playground.events import Eval, Step
from playground.presets import defaults
from playground.store import RunStore

MAX_POINTS = 600  # as in playground/ui/charts.py, which needs gradio to be imported
PROMISED_MS = 50
BATCH = 1000  # steps written in one transaction; a run writes them one by one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10_000, help="of each run")
    parser.add_argument("--every", type=int, default=100, help="steps between evaluations")
    parser.add_argument("--repeat", type=int, default=20)
    given = parser.parse_args()
    print(f"{given.runs} runs, evaluated every {given.every} steps, {MAX_POINTS} points at most")
    for steps in (given.steps // 10, given.steps):
        with tempfile.TemporaryDirectory() as home:
            store = RunStore(Path(home))
            ids = fill(store, given.runs, steps, given.every)
            report(store, ids, steps, given.repeat)
            store.close()


def fill(store: RunStore, runs: int, steps: int, every: int) -> list[str]:
    """Runs as a training would leave them, with a NaN and some skipped updates in each."""
    values = defaults() | {"model": "tiny", "dataset": "iso-dates", "precision": "fp16"}
    group = store.create_group("quick", "long runs", [parse_config(values)] * runs, "1:1.0")
    for run_id in group.run_ids:
        for start in range(1, steps + 1, BATCH):
            numbers = range(start, min(start + BATCH, steps + 1))
            store.append(run_id, *(a_step(n) for n in numbers))
        evals = range(0, steps + 1, every)
        store.append(run_id, *(Eval(step=n, when="during", loss=1.0, tokens=900) for n in evals))
    return group.run_ids


def a_step(number: int) -> Step:
    return Step(
        step=number,
        loss=math.nan if number == 777 else 0.5 + 3.5 * math.exp(-number / 200),
        grad_norm=1 / number,
        learning_rate=2e-4,
        loss_scale=65536.0,
        skipped=number % 97 == 0,
        tokens=480,
        padded_tokens=32,
        supervised_tokens=200,
        step_ms=20.0,
        tokens_per_s=24_000.0,
        warmup=number <= 2,
        memory_mib=20.0,
        peak_mib=24.0,
        power_w=310.5,
        energy_j=6.2,
    )


def report(store: RunStore, ids: list[str], steps: int, repeat: int) -> None:
    def charts() -> int:
        found = 0
        for run_id in ids:
            found += len(store.steps(run_id, max_points=MAX_POINTS))
            found += len(store.evals(run_id, max_points=MAX_POINTS))
        return found

    def everything() -> int:
        return sum(len(store.steps(i)) for i in ids)

    points, thinned_ms = timed(charts, repeat)
    all_points, all_ms = timed(everything, 3)
    verdict = "within" if thinned_ms < PROMISED_MS else "ABOVE"
    print(
        f"{steps:>7} steps: charts {thinned_ms:6.1f} ms for {points} points "
        f"({verdict} {PROMISED_MS} ms); every step {all_ms:7.1f} ms for {all_points}, "
        f"{all_ms / thinned_ms:.1f}x"
    )


def timed(work: Callable[[], int], repeat: int) -> tuple[int, float]:
    """What it returned, and the median in milliseconds; a first call warms the page cache."""
    result, times = work(), []
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        times.append((time.perf_counter() - start) * 1000)
    return result, statistics.median(times)


if __name__ == "__main__":
    main()
