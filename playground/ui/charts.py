"""The live charts: plain data for charts.js, and the gr.HTML that holds it.

Gradio's own line plot is drawn anew by every update and forgets where the person had zoomed to; it
has no readout of all arms at a step and no mark for NaN. So the drawing is ours (charts.js), fed by
an ordinary component value, and everything a person does to a chart stays in the browser.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import gradio as gr

from playground.compare import RunRecord, arms, curve
from playground.config import PRECISIONS
from playground.events import FINAL, Eval
from playground.store import RunStore
from playground.ui import figures, marks, text
from playground.ui.marks import Mark

MAX_POINTS = 600
"""Points of one line that are drawn: about one for each pixel column that a line can use."""

SCRIPTS = ("curves.js", "axis.js", "draw.js", "reading.js", "charts.js")
FROM_ZERO = {"loss": True, "tokens_per_s": True, "memory_mib": True}


def payload(
    group_id: str,
    records: Sequence[RunRecord],
    happened: Mapping[str, Sequence[Mark]] | None = None,
) -> dict[str, Any]:
    """Everything the charts show, as JSON-safe values: no NaN, no inf, six significant figures.

    Args:
        records: the runs in their order; ``steps`` thinned to at most ``MAX_POINTS`` by the store.
        happened: marks by run id, beside those that the steps themselves give.
    """
    last = max((r.steps[-1].step for r in records if r.steps), default=0)
    end = max([last, *(r.config.training.max_steps for r in records)], default=1)
    return {
        "group": group_id,
        "x": {"label": "step", "domain": [0, end], "whole": True},
        "arms": [_arm(arm.runs) for arm in arms(records)],
        "panels": [_panel(key, records, happened or {}) for key in FROM_ZERO],
        "thinned": any(r.steps and r.steps[-1].step > len(r.steps) for r in records),
    }


def _arm(runs: Sequence[RunRecord]) -> dict[str, Any]:
    return {
        "id": arm_id(runs[0]),
        "label": label(runs),
        "how": next((r.facts.how for r in runs if r.facts.how), None),
        "colour": colour(runs[0]),
        "runs": len(runs),
    }


def detail(store: RunStore, group_id: str, first: int, last: int) -> dict[str, Any]:
    """The lines of every panel from step ``first`` to ``last``, thinned only beyond MAX_POINTS."""
    records = []
    happened = {}
    for run in store.get_group(group_id).runs:
        steps = store.steps(run.id, max(first - 2, 0), up_to_step=last + 1)
        records.append(RunRecord.of(run, steps[:: math.ceil(len(steps) / MAX_POINTS) or 1], []))
        happened[run.id] = marks.of(run, store.last_step(run.id))
    return {key: _lines(key, records, happened) for key in FROM_ZERO}


def totals(store: RunStore, group_id: str) -> dict[str, dict[str, list[float]]]:
    """By run: the tokens and the seconds taken up to the steps that are drawn."""
    found = {}
    for run_id in store.get_group(group_id).run_ids:
        rows = store.totals(run_id, MAX_POINTS)
        names = ("step", "tokens", "time")
        found[run_id] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return found


def arm_id(record: RunRecord) -> str:
    return record.config.precision


def label(runs: Sequence[RunRecord], seed: bool = False) -> str:
    """``NVFP4``, ``NVFP4 × 3`` for an arm of three runs, ``NVFP4, seed 43`` for one of them."""
    name = next((r.label for r in runs if r.facts.effective), runs[0].label)
    if len(runs) > 1:
        return text.REPEATED.format(label=name, count=len(runs))
    return text.SEED_OF.format(label=name, seed=runs[0].config.training.seed) if seed else name


def colour(record: RunRecord) -> str:
    """The CSS class suffix of an arm: each precision has one accent everywhere on the page."""
    return record.config.precision if record.config.precision in PRECISIONS else "other"


def _panel(
    key: str, records: Sequence[RunRecord], happened: Mapping[str, Sequence[Mark]]
) -> dict[str, Any]:
    title, unit, empty, never = text.PANELS[key]
    return {
        "key": key,
        "title": title,
        "unit": unit,
        "empty": never if all(r.status in FINAL for r in records) else empty,
        "note": _note(key, records),
        "from_zero": FROM_ZERO[key],
        "lines": _lines(key, records, happened),
        "points": _points(records) if key == "loss" else [],
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


def _lines(
    key: Any, records: Sequence[RunRecord], happened: Mapping[str, Sequence[Mark]]
) -> list[dict[str, Any]]:
    """One for each run; ``repeat`` where its arm has several, which share a colour and a mean."""
    lines = []
    for arm in arms(records):
        for record in arm.runs:
            found = curve(record, key)
            lines.append(
                {
                    "arm": arm_id(record),
                    "run": record.id,
                    "label": label([record], seed=len(arm.runs) > 1),
                    "colour": colour(record),
                    "repeat": len(arm.runs) > 1,
                    "live": record.status == "running",
                    "x": found.x,
                    "y": [_short(y) for y in found.y],
                    "marks": [*map(list, found.marks), *map(list, happened.get(record.id, ()))],
                }
            )
    return lines


def _points(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """The held-out losses; of repetitions that were judged at the same step, their mean."""
    points = []
    for arm in arms(records):
        at: dict[int, list[Eval]] = {}
        for record in arm.runs:
            # The last step may be evaluated "during" and "after": the newest counts.
            for e in {e.step: e for e in record.evals}.values():
                if math.isfinite(e.loss):
                    at.setdefault(e.step, []).append(e)
        points += [_point(arm.runs, step, found) for step, found in sorted(at.items())]
    return points


def _point(runs: Sequence[RunRecord], step: int, found: Sequence[Eval]) -> dict[str, Any]:
    losses = [e.loss for e in found]
    said = text.EVAL_POINT.format(
        label=label(runs),
        loss=figures.number(mean(losses)),
        step=step,
        when=text.WHEN_WORDS[found[-1].when],
    )
    if len(found) > 1:
        low, high = (figures.number(f(losses)) for f in (min, max))
        said += text.EVAL_MEAN.format(count=len(found), low=low, high=high)
    return {
        "arm": arm_id(runs[0]),
        "label": label(runs),
        "colour": colour(runs[0]),
        "x": step,
        "y": _short(mean(losses)),
        "low": _short(min(losses)),
        "high": _short(max(losses)),
        "title": said,
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def charts(store: RunStore) -> gr.HTML:
    """The component. Give it a ``payload``, or None for no charts at all."""

    def ask_detail(asked: list[Any]) -> dict[str, Any]:
        group_id, first, last = asked  # from a browser: checked, not believed
        return detail(store, str(group_id), int(first), int(last))

    def ask_totals(group_id: str) -> dict[str, Any]:
        return totals(store, str(group_id))

    ask_detail.__name__ = "detail"  # what the scripts call
    ask_totals.__name__ = "totals"
    # Written into the script: Gradio may run it before the component's other properties arrive.
    words = f"const words = {json.dumps(text.CHARTS)};\n"
    here = Path(__file__).parent
    drawing = "".join((here / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return gr.HTML(
        value=None,
        # The template never mentions the value: Gradio then leaves our drawing alone.
        html_template='<div class="charts"></div>',
        js_on_load=words + drawing,
        server_functions=[ask_detail, ask_totals],
        apply_default_css=False,
        elem_id="charts",
    )
