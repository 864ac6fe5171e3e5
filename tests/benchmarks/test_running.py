"""The benchmarks of store and overhead still measure what they say; the figures are not judged."""

from __future__ import annotations

import pytest

from benchmarks import bench_overhead, bench_store
from playground.store import RunStore
from tests import fakes


def test_the_stores_benchmark_asks_for_bounded_points(
    store: RunStore, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = bench_store.fill(store, runs=2, steps=1000, every=100)
    assert [len(store.steps(i)) for i in ids] == [1000, 1000]
    assert [len(store.evals(i)) for i in ids] == [11, 11]
    bench_store.report(store, ids, 1000, repeat=1)
    assert "1000 steps: charts" in capsys.readouterr().out
    assert all(len(store.steps(i, max_points=600)) <= 600 for i in ids)


@pytest.mark.parametrize(("part", "functions"), bench_overhead.OUTSIDE + bench_overhead.INSIDE)
def test_every_part_is_a_function_that_is_there(part: str, functions: list) -> None:
    for owner, name in functions:
        assert callable(getattr(owner, name)), f"{part}: {owner.__name__} has no {name}"


def test_parts_and_whole_are_told_apart(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clock that ticks a millisecond a question; the store asks it twice and the mark once."""
    now = iter(x / 1000 for x in range(1000))
    watch = bench_overhead.Stopwatch(clock=lambda: next(now))
    monkeypatch.setattr(RunStore, "append", RunStore.append)  # to be put back afterwards
    watch.wrap("store", RunStore, "append")
    watch.mark_steps()
    run_id = store.create_group("quick", "t", [fakes.config()], "1:1.0").run_ids[0]
    for number in (1, 2, 3):
        store.append(run_id, fakes.step(number, step_ms=0.5))
    assert [s["store"] for s in watch.steps] == [pytest.approx(1.0)] * 2
    assert [s["outside"] for s in watch.steps] == [pytest.approx(2.5)] * 2  # 3 ticks less the step
    bench_overhead.report(watch.steps, "fp32")
    out = capsys.readouterr().out
    assert "events, store and meters: ABOVE the promised 2% of 50 ms" in out
    assert "the loop and the rest         1.500" in out
