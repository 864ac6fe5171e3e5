"""Lines of a chart: axes, smoothing, and values that are not numbers."""

from __future__ import annotations

import math

import pytest

from playground.compare import curve
from tests.compare.arms import arm, step


def test_axes_count_steps_tokens_and_seconds() -> None:
    run = arm("fp16", steps=[step(1, tokens=10), step(2, tokens=30, step_ms=500.0)])
    assert curve(run, "loss").x == [1, 2]
    assert curve(run, "loss", x="tokens").x == [10, 40]
    assert curve(run, "loss", x="time").x == [0.2, 0.7]


def test_one_step_is_one_point() -> None:
    line = curve(arm("fp16", steps=[step(1, 3.0)]), "loss", smoothing=0.9)
    assert (line.x, line.y) == ([1], [pytest.approx(3.0)])


def test_smoothing_starts_at_the_first_value_and_follows_slowly() -> None:
    run = arm("fp16", steps=[step(1, 4.0), step(2, 0.0)])
    # Bias-corrected: (0.5 * 0.5 * 4 + 0.5 * 0) / (0.5 * 0.5 + 0.5) = 4/3
    assert curve(run, "loss", smoothing=0.5).y == [pytest.approx(4.0), pytest.approx(4 / 3)]


def test_nan_is_a_mark_and_a_gap() -> None:
    run = arm("fp16", steps=[step(1), step(2, math.nan), step(3)])
    line = curve(run, "loss", smoothing=0.5)
    assert line.y[1] is None
    assert line.marks == [(2, "not finite")]
    assert line.y[2] == pytest.approx(1.0)


def test_a_skipped_update_is_marked_and_keeps_its_loss() -> None:
    line = curve(arm("fp16", steps=[step(1, skipped=True)]), "loss")
    assert (line.y, line.marks) == ([1.0], [(1, "skipped update")])


def test_what_was_not_measured_stays_missing() -> None:
    assert curve(arm("fp16", steps=[step(1, memory_mib=None)]), "memory_mib").y == [None]


def test_smoothing_of_one_would_never_move() -> None:
    with pytest.raises(ValueError, match="smoothing is 1"):
        curve(arm("fp16"), "loss", smoothing=1)
