"""The live charts: plain data for charts.js, and the gr.HTML that holds it.

Gradio's own line plot is drawn anew by every update and forgets where the person had zoomed to; it
has no readout of all arms at a step and no mark for NaN. So the drawing is ours (charts.js), fed by
an ordinary component value, and everything a person does to a chart stays in the browser.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from playground.compare import RunRecord, curve
from playground.config import PRECISIONS
from playground.events import FINAL
from playground.store import RunStore
from playground.ui import figures, text

MAX_POINTS = 600
"""Points of one line that are drawn: about one for each pixel column that a line can use."""

SCRIPTS = ("curves.js", "charts.js")
FROM_ZERO = {"loss": True, "tokens_per_s": True, "memory_mib": True}


def payload(group_id: str, records: Sequence[RunRecord]) -> dict[str, Any]:
    """Everything the charts show, as JSON-safe values: no NaN, no inf, six significant figures.

    Args:
        records: the arms in their order; ``steps`` thinned to at most ``MAX_POINTS`` by the store.
    """
    last = max((r.steps[-1].step for r in records if r.steps), default=0)
    end = max([last, *(r.config.training.max_steps for r in records)], default=1)
    return {
        "group": group_id,
        "x": {"label": "step", "domain": [0, end], "whole": True},
        "arms": [
            {"id": r.id, "label": r.label, "how": r.facts.how, "colour": colour(r)} for r in records
        ],
        "panels": [_panel(key, records) for key in FROM_ZERO],
        "thinned": any(r.steps and r.steps[-1].step > len(r.steps) for r in records),
    }


def detail(store: RunStore, group_id: str, first: int, last: int) -> dict[str, Any]:
    """The lines of every panel from step ``first`` to ``last``, thinned only beyond MAX_POINTS."""
    lines: dict[str, list[Any]] = {key: [] for key in FROM_ZERO}
    for run in store.get_group(group_id).runs:
        steps = [s for s in store.steps(run.id, after_step=max(first - 2, 0)) if s.step <= last + 1]
        kept = steps[:: math.ceil(len(steps) / MAX_POINTS) or 1]
        record = RunRecord.of(run, kept, [])
        for key in lines:
            lines[key].append(_line(record, key))
    return lines


def colour(record: RunRecord) -> str:
    """The CSS class suffix of an arm: each precision has one accent everywhere on the page."""
    return record.config.precision if record.config.precision in PRECISIONS else "other"


def _panel(key: str, records: Sequence[RunRecord]) -> dict[str, Any]:
    title, unit, empty, never = text.PANELS[key]
    return {
        "key": key,
        "title": title,
        "unit": unit,
        "empty": never if all(r.status in FINAL for r in records) else empty,
        "note": _note(key, records),
        "from_zero": FROM_ZERO[key],
        "lines": [_line(record, key) for record in records],
        "points": [p for r in records for p in _eval_points(r)] if key == "loss" else [],
    }


def _note(key: str, records: Sequence[RunRecord]) -> str | None:
    """What has to be known to read a panel: that speed is emulated, how memory was counted."""
    emulated = any(r.facts.how == "emulated" for r in records)
    if key == "tokens_per_s":
        return text.EMULATED_NOTE if emulated else None
    if key == "memory_mib":
        sources = [r.facts.memory_source for r in records if r.facts.memory_source]
        claims = [text.EMULATED_MEMORY_NOTE] if emulated else []
        return "; ".join(dict.fromkeys([*claims, *sources])) or None
    return None


def _line(record: RunRecord, key: Any) -> dict[str, Any]:
    found = curve(record, key)
    return {
        "arm": record.id,
        "label": found.label,
        "colour": colour(record),
        "live": record.status == "running",
        "x": found.x,
        "y": [_short(y) for y in found.y],
        "marks": [list(mark) for mark in found.marks],
    }


def _eval_points(record: RunRecord) -> list[dict[str, Any]]:
    newest = {
        e.step: e for e in record.evals
    }  # the last step may be evaluated "during" and "after"
    return [
        {
            "arm": record.id,
            "label": record.label,
            "colour": colour(record),
            "x": e.step,
            "y": _short(e.loss),
            "title": text.EVAL_POINT.format(
                label=record.label,
                loss=figures.number(e.loss),
                step=e.step,
                when=text.WHEN_WORDS[e.when],
            ),
        }
        for e in newest.values()
        if math.isfinite(e.loss)
    ]


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def charts(store: RunStore) -> gr.HTML:
    """The component. Give it a ``payload``, or None for no charts at all."""

    def ask_detail(asked: list[Any]) -> dict[str, Any]:
        group_id, first, last = asked  # from a browser: checked, not believed
        return detail(store, str(group_id), int(first), int(last))

    ask_detail.__name__ = "detail"  # what charts.js calls
    # Written into the script: Gradio may run it before the component's other properties arrive.
    words = f"const words = {json.dumps(text.CHARTS)};\n"
    here = Path(__file__).parent
    drawing = "".join((here / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return gr.HTML(
        value=None,
        # The template never mentions the value: Gradio then leaves our drawing alone.
        html_template='<div class="charts"></div>',
        js_on_load=words + drawing,
        server_functions=[ask_detail],
        apply_default_css=False,
        elem_id="charts",
    )
