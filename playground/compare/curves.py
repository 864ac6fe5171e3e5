"""From steps to the lines of a chart.

Along tokens, seconds or joules, and smoothed, they are drawn by the page (``ui/axis.js``,
``ui/smooth.js``): the steps that a chart is given are thinned, and their sums are the store's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from playground.compare.records import RunRecord

YAxis = Literal["loss", "tokens_per_s", "memory_mib", "grad_norm", "learning_rate", "loss_scale"]


@dataclass(frozen=True)
class Curve:
    """One line of a chart, by step. NaN and inf become ``marks``; no line crosses them.

    x, y: the same length; y is None where there is nothing to draw.
    marks: (x, kind), kind ``not finite`` or ``skipped update``.
    """

    run_id: str
    label: str
    how: str | None
    x: list[float]
    y: list[float | None]
    marks: list[tuple[float, str]]


def curve(record: RunRecord, y: YAxis) -> Curve:
    """The line of one run."""
    ys: list[float | None] = []
    marks: list[tuple[float, str]] = []
    for step in record.steps:
        value = getattr(step, y)
        if value is not None and not math.isfinite(value):
            marks.append((step.step, "not finite"))
            value = None
        elif step.skipped:
            marks.append((step.step, "skipped update"))
        ys.append(value)
    xs = [step.step for step in record.steps]
    return Curve(record.id, record.label, record.facts.how, xs, ys, marks)
