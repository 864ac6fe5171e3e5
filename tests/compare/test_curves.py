"""Lines of a chart, and values that are not numbers."""

from __future__ import annotations

import math

from playground.compare import curve
from tests.compare.arms import arm, step


def test_one_step_is_one_point() -> None:
    line = curve(arm("fp16", steps=[step(1, 3.0)]), "loss")
    assert (line.x, line.y) == ([1], [3.0])


def test_nan_is_a_mark_and_a_gap() -> None:
    run = arm("fp16", steps=[step(1), step(2, math.nan), step(3)])
    line = curve(run, "loss")
    assert line.y[1] is None
    assert line.marks == [(2, "not finite")]
    assert line.y[2] == 1.0


def test_a_skipped_update_is_marked_and_keeps_its_loss() -> None:
    line = curve(arm("fp16", steps=[step(1, skipped=True)]), "loss")
    assert (line.y, line.marks) == ([1.0], [(1, "skipped update")])


def test_what_was_not_measured_stays_missing() -> None:
    assert curve(arm("fp16", steps=[step(1, memory_mib=None)]), "memory_mib").y == [None]
