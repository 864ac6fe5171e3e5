"""Which steps of a long run are drawn: few, evenly apart, and those drawn before stay in place.

A step number is kept if a power of two divides it, the smallest that leaves few enough. As a run
grows the power doubles now and then: points drop out, but those that stay are the same, and no new
ones appear among them. The power follows from the newest step's number alone, so nothing is counted
and only the rows that are drawn are read, each by its key.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from playground.events import Step
from playground.store.rows import STEP_COLUMNS, to_steps

MARKED = "(skipped OR loss > 1e308)"
"""NaN, inf or a skipped update: the same words as the index steps_to_mark."""

_COLUMNS = ", ".join(STEP_COLUMNS)

LEVELS = f"""SELECT step & -step AS power, count(*) AS steps
 FROM steps INDEXED BY steps_to_mark WHERE run_id = ? AND {MARKED} GROUP BY power"""
"""How many of the marked steps have which power of two as their largest."""

MARKS = f"""SELECT step FROM steps INDEXED BY steps_to_mark
 WHERE run_id = ? AND {MARKED} AND step % ? = 0"""

EVAL_LEVELS = """SELECT step & -step AS power, count(*) AS steps
 FROM evals WHERE run_id = ? AND "when" = 'during' GROUP BY power"""

BY_NUMBER = f"""SELECT {_COLUMNS} FROM json_each(:numbers) AS wanted
 CROSS JOIN steps ON steps.run_id = :run AND steps.step = wanted.value"""
"""CROSS keeps SQLite from turning the loops round and reading the whole run."""

EXTREMES = {
    (column, pick): f"""SELECT step, {pick}({column}) FROM steps
 WHERE run_id = :run AND {column} < 1e308 GROUP BY step / :width"""
    for column in ("loss", "tokens_per_s", "memory_mib")
    for pick in ("min", "max")
}
"""The step of the lowest and of the highest in each stretch of a run; what is no number is none."""


def stride(last: int, most: int) -> int:
    """The smallest power of two that divides at most ``most`` of the numbers 1 to ``last``."""
    found = 1
    while last // found > most:
        found *= 2
    return found


def thinned(
    db: sqlite3.Connection,
    run_id: str,
    after: int,
    up_to: int,
    max_points: int,
    stretches: int = 0,
) -> list[Step]:
    """The part of the selection that lies in ``after`` < step <= ``up_to``, in order.

    Three quarters of ``max_points`` are for steps evenly apart, the first and the newest; the
    rest for steps to mark, thinned apart and last. The extremes of ``stretches`` come on top.
    """
    first, last = _end(db, run_id, "ASC"), _end(db, run_id, "DESC")
    if first is None or last is None:
        return []
    marks = max_points // 4
    step = stride(last, max_points - marks - 2)
    numbers = {first, last, *range(step, last + 1, step), *_marks(db, run_id, marks)}
    if stretches and step > 1:
        numbers |= _extremes(db, run_id, -(-last // stretches))
    wanted = sorted(number for number in numbers if after < number <= up_to)
    return to_steps(db.execute(BY_NUMBER, {"run": run_id, "numbers": json.dumps(wanted)}))


def _end(db: sqlite3.Connection, run_id: str, order: str) -> int | None:
    # min() and max() in one query would read every row between them.
    row = db.execute(
        f"SELECT step FROM steps WHERE run_id = ? ORDER BY step {order} LIMIT 1", (run_id,)
    ).fetchone()
    return row[0] if row else None


def _marks(db: sqlite3.Connection, run_id: str, most: int) -> list[int]:
    power = _power(db.execute(LEVELS, (run_id,)), most)
    return [row["step"] for row in db.execute(MARKS, (run_id, power))]


def _extremes(db: sqlite3.Connection, run_id: str, width: int) -> set[int]:
    asked = {"run": run_id, "width": width}
    return {row["step"] for query in EXTREMES.values() for row in db.execute(query, asked)}


def eval_power(db: sqlite3.Connection, run_id: str, most: int) -> int:
    """The smallest power of two that divides the steps of at most ``most`` evaluations "during"."""
    return _power(db.execute(EVAL_LEVELS, (run_id,)), most)


def _power(levels: Iterable[sqlite3.Row], most: int) -> int:
    """The smallest power of two with at most ``most`` steps at its level or above."""
    counts = {row["power"]: row["steps"] for row in levels}
    power = 1
    while sum(count for level, count in counts.items() if level >= power) > most:
        power *= 2
    return power
