"""From steps to the lines of a chart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from playground.compare.records import RunRecord
from playground.events import Step

XAxis = Literal["step", "tokens", "time"]
YAxis = Literal["loss", "tokens_per_s", "memory_mib", "grad_norm", "learning_rate", "loss_scale"]


@dataclass(frozen=True)
class Curve:
    """One line of a chart. NaN and inf become ``marks``; no line is drawn across them.

    x, y: the same length; y is None where there is nothing to draw.
    marks: (x, kind), kind ``not finite`` or ``skipped update``.
    """

    run_id: str
    label: str
    how: str | None
    x: list[float]
    y: list[float | None]
    marks: list[tuple[float, str]]


def curve(record: RunRecord, y: YAxis, *, x: XAxis = "step", smoothing: float = 0.0) -> Curve:
    """The line of one run.

    Args:
        smoothing: weight of the past in an exponential average, 0 (none) to below 1.
            Bias-corrected, so the first points are not pulled towards zero.
    """
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing is {smoothing}; it must be at least 0 and below 1")
    xs = list(_positions(record.steps, x))
    ys: list[float | None] = []
    marks: list[tuple[float, str]] = []
    past, weight = 0.0, 0.0
    for at, step in zip(xs, record.steps, strict=True):
        value = getattr(step, y)
        if value is not None and not math.isfinite(value):
            marks.append((at, "not finite"))
            value = None
        elif step.skipped:
            marks.append((at, "skipped update"))
        if value is not None:
            past = smoothing * past + (1 - smoothing) * value
            weight = smoothing * weight + (1 - smoothing)
            value = past / weight
        ys.append(value)
    return Curve(record.id, record.label, record.facts.how, xs, ys, marks)


def _positions(steps: Sequence[Step], x: XAxis) -> Iterable[float]:
    if x == "step":
        yield from (s.step for s in steps)
        return
    total = 0.0
    for step in steps:
        total += step.tokens if x == "tokens" else step.step_ms / 1000
        yield total
