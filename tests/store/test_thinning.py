"""Thinning: bounded, each row by its key, and what was drawn stays where it was."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.events import Eval, Step
from playground.store import RunStore
from playground.store.thinning import BY_NUMBER, EVAL_LEVELS, LEVELS, MARKS, stride
from tests import fakes

MAX_POINTS = 64


@pytest.fixture
def run_id(store: RunStore) -> str:
    return store.create_group("quick", "t", [fakes.config()], "1:1.0").run_ids[0]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunStore, str]]:
    """A store and its run of 300 steps."""
    store = RunStore(tmp_path_factory.mktemp("home"))
    made = store.create_group("quick", "t", [fakes.config()], "1:1.0").run_ids[0]
    store.append(made, *(fakes.step(n) for n in range(1, 301)))
    yield store, made
    store.close()


def shown(last: int, most: int) -> set[int]:
    step = stride(last, most)
    return set(range(step, last + 1, step))


@given(n=st.integers(1, 10**7), more=st.integers(1, 10**7), most=st.integers(1, 500))
def test_points_that_stay_stay_and_no_new_old_ones_appear(n: int, more: int, most: int) -> None:
    before, now = shown(n, most), shown(n + more, most)
    assert {step for step in now if step <= n} <= before
    assert len(now) <= most
    # Half of what there is room for is always used, so a chart never goes empty.
    assert len(now) >= min(n + more, most // 2)


def test_the_store_selects_so_too(store: RunStore, run_id: str) -> None:
    """The same through the database, marks included, each time the run has grown."""
    before: set[int] = set()
    for start in range(1, 400, 13):
        new = range(start, start + 13)
        store.append(run_id, *(fakes.step(n, skipped=n % 5 == 0) for n in new))
        now = {s.step for s in store.steps(run_id, max_points=MAX_POINTS)}
        assert len(now) <= MAX_POINTS and {1, new[-1]} <= now
        assert {n for n in now if n < start} <= before
        before = now


@settings(max_examples=20)
@given(after=st.integers(0, 300), length=st.integers(0, 300))
def test_a_part_is_a_part_of_the_same_selection(
    filled: tuple[RunStore, str], after: int, length: int
) -> None:
    store, run_id = filled
    whole = store.steps(run_id, max_points=MAX_POINTS)
    part = store.steps(run_id, after, MAX_POINTS, up_to_step=after + length)
    assert part == [s for s in whole if after < s.step <= after + length]
    every = store.steps(run_id, after, up_to_step=after + length)
    assert [s.step for s in every] == [n for n in range(1, 301) if after < n <= after + length]


def test_evaluations_during_are_bounded_and_the_ends_are_kept(store: RunStore, run_id: str) -> None:
    def an_eval(step: int, when: str) -> Eval:
        return Eval(step=step, when=when, loss=1.0, tokens=10)

    during = [an_eval(n, "during") for n in range(1, 1000)]
    store.append(run_id, an_eval(0, "before"), *during, an_eval(1000, "after"))
    found = store.evals(run_id, max_points=100)
    assert (found[0].when, found[-1].when) == ("before", "after")
    assert 50 <= len(found) - 2 <= 100
    assert store.evals(run_id) == [an_eval(0, "before"), *during, an_eval(1000, "after")]


@pytest.mark.parametrize(
    ("query", "values"),
    [
        (LEVELS, ("r",)),
        (MARKS, ("r", 4)),
        (EVAL_LEVELS, ("r",)),
        (BY_NUMBER, {"run": "r", "numbers": "[1, 2]"}),
    ],
)
def test_only_rows_that_are_drawn_are_read(
    store: RunStore, query: str, values: tuple | dict
) -> None:
    with store.reading() as db:
        plan = [row["detail"] for row in db.execute(f"EXPLAIN QUERY PLAN {query}", values)]
    reads = [line for line in plan if "TEMP B-TREE" not in line]
    # The list of wanted numbers is walked, the tables are searched.
    assert [line for line in reads if not line.startswith("SEARCH")] == [
        line for line in reads if "wanted VIRTUAL TABLE" in line
    ]
    table = "evals" if query == EVAL_LEVELS else "steps"
    assert any(line.startswith(f"SEARCH {table}") for line in reads)
    if query == BY_NUMBER:
        assert any("PRIMARY KEY (run_id=? AND step=?)" in line for line in reads)
    if query in (LEVELS, MARKS):
        assert any("steps_to_mark" in line for line in reads)


def test_the_work_grows_with_the_points_and_not_with_the_run(store: RunStore, run_id: str) -> None:
    """Counted in SQLite's own steps of work, which no busy machine changes."""
    work = {}
    for last in (500, 4000):
        have = store.last_step(run_id)
        store.append(
            run_id, *(fakes.step(n) for n in range(have.step + 1 if have else 1, last + 1))
        )
        work[last] = _instructions(store._connection(), lambda: store.steps(run_id, 0, MAX_POINTS))
    assert work[4000] < 2 * work[500]


def _instructions(db: sqlite3.Connection, query) -> int:  # type: ignore[no-untyped-def]
    counted = 0

    def count() -> None:
        nonlocal counted
        counted += 1

    db.set_progress_handler(count, 10)
    query()
    db.set_progress_handler(None, 0)
    return counted


def test_the_extremes_of_each_stretch_are_kept_where_asked_for(
    store: RunStore, run_id: str
) -> None:
    """A spike between two steps that are drawn, and a NaN that is larger than none."""
    losses = {333: 9.5, 777: float("nan")}
    memory = {555: 99.0}
    steps = (fakes.step(n) for n in range(1, 1001))
    store.append(
        run_id,
        *(
            s.model_copy(
                update={
                    "loss": losses.get(s.step, 1.0),
                    "memory_mib": memory.get(s.step, 10.0),
                }
            )
            for s in steps
        ),
    )
    plain, kept = (store.steps(run_id, max_points=MAX_POINTS, stretches=n) for n in (0, 10))
    assert {333, 555}.isdisjoint(s.step for s in plain)
    assert {333, 555, 777} <= {s.step for s in kept}
    assert len(kept) <= MAX_POINTS + 6 * 11 and kept == sorted(kept, key=lambda s: s.step)
    whole = store.steps(run_id)
    assert [s.step for page in store.step_pages(run_id, 300) for s in map(_as_step, page)] == [
        s.step for s in whole
    ]
    figures = store.step_figures(run_id)
    assert [(f.step, f.tokens, f.warmup) for f in figures] == [
        (s.step, s.tokens, s.warmup) for s in whole
    ]
    assert figures[776].loss != figures[776].loss, "NaN is one"


def _as_step(values: dict) -> Step:
    return Step.model_validate(values)
