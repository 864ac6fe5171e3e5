"""The live charts: plain data for charts.js, and the gr.HTML that holds it.

Gradio's own line plot is drawn anew by every update and forgets where the person had zoomed to; it
has no readout of all arms at a step and no mark for NaN. So the drawing is ours (charts.js), fed by
an ordinary component value, and everything a person does to a chart stays in the browser.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import gradio as gr

from playground.compare import RunRecord, arms, curve
from playground.config import PRECISIONS
from playground.events import FINAL, Eval
from playground.store import Run, RunStore
from playground.ui import figures, marks, recorded, text
from playground.ui.marks import Mark

MAX_POINTS = 600
"""Points of one line that are drawn: about one for each pixel column that a line can use."""

_LONGEST_TITLE = 32
SCRIPTS = (
    *("curves.js", "smooth.js", "axis.js", "draw.js", "reading.js", "values.js"),
    "charts.js",
)
FROM_ZERO = {"loss": True, "tokens_per_s": True, "memory_mib": True}


@dataclass(frozen=True)
class Drawn:
    """What a line, or the mean of several, stands for.

    colour: the CSS class is ``arm-`` and this. label: None says the precision as it came to be.
    """

    id: str
    colour: str
    runs: tuple[RunRecord, ...]
    label: str | None = None

    @property
    def name(self) -> str:
        return label(self.runs) if self.label is None else self.label


def by_precision(records: Sequence[RunRecord]) -> list[Drawn]:
    """The arms of a comparison, each in its precision's colour."""
    return [Drawn(arm_id(arm.runs[0]), colour(arm.runs[0]), arm.runs) for arm in arms(records)]


def one_by_one(records: Sequence[RunRecord], titles: Sequence[str]) -> list[Drawn]:
    """Runs of any comparisons, each for itself and in a colour of its place.

    Args:
        titles: of the comparison that each is from.
    """
    found = []
    for place, (r, title) in enumerate(zip(records, titles, strict=True), 1):
        short = title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
        named = text.RUN_OF.format(label=label([r]), seed=r.seed, title=short)
        found.append(Drawn(r.id, f"run-{place}", (r,), named))
    return found


def payload(
    shown: str,
    records: Sequence[RunRecord],
    happened: Mapping[str, Sequence[Mark]] | None = None,
    drawn: Sequence[Drawn] | None = None,
) -> dict[str, Any]:
    """Everything the charts show, as JSON-safe values: no NaN, no inf, six significant figures.

    Args:
        shown: id of the comparison, or those of several runs with commas between.
        records: the runs in their order; ``steps`` thinned to at most ``MAX_POINTS`` by the store.
        happened: marks by run id, beside those that the steps themselves give.
        drawn: what the lines stand for; None: the arms of one comparison.
    """
    drawn = by_precision(records) if drawn is None else drawn
    last = max((r.steps[-1].step for r in records if r.steps), default=0)
    end = max([last, *(r.config.training.max_steps for r in records)], default=1)
    return {
        "group": shown,
        "address": "runs" if _several(shown) else "group",
        "x": {"label": text.CHARTS["x"], "domain": [0, end], "whole": True},
        "arms": [_arm(one) for one in drawn],
        "panels": [_panel(key, records, drawn, happened or {}) for key in FROM_ZERO],
        "thinned": any(r.steps and r.steps[-1].step > len(r.steps) for r in records),
        "no_energy": _no_energy(records),
    }


def _arm(one: Drawn) -> dict[str, Any]:
    return {
        "id": one.id,
        "label": one.name,
        "how": next((r.facts.how for r in one.runs if r.facts.how), None),
        "colour": one.colour,
        "runs": len(one.runs),
    }


def _no_energy(records: Sequence[RunRecord]) -> str | None:
    """Why nothing can be drawn along joules; None if something can."""
    if any(r.facts.energy_source for r in records):
        return None
    known = [r.facts.device.get("kind") for r in records if r.facts.device]
    return text.NO_METER if known and set(known) == {"cpu"} else text.NO_ENERGY


def _several(shown: str) -> bool:
    return not shown.startswith("g-")


def _runs(store: RunStore, shown: str) -> list[Run]:
    """Those of a comparison, or the ones whose ids are given."""
    if _several(shown):
        return [store.get_run(name) for name in shown.split(",")]
    return list(store.get_group(shown).runs)


def detail(store: RunStore, shown: str, first: int, last: int) -> dict[str, Any]:
    """The lines of every panel from step ``first`` to ``last``, thinned only beyond MAX_POINTS."""
    records = []
    happened = {}
    runs = _runs(store, shown)
    for run in runs:
        steps = store.steps(run.id, max(first - 2, 0), up_to_step=last + 1)
        records.append(RunRecord.of(run, steps[:: math.ceil(len(steps) / MAX_POINTS) or 1], []))
        happened[run.id] = marks.of(run, store.last_step(run.id))
    if _several(shown):
        drawn = one_by_one(records, [store.get_group(run.group_id).title for run in runs])
    else:
        drawn = by_precision(records)
    return {key: _lines(key, drawn, happened) for key in FROM_ZERO}


def totals(store: RunStore, shown: str) -> dict[str, dict[str, list[float | None]]]:
    """By run: the tokens, seconds and joules taken up to the steps that are drawn."""
    found = {}
    for run in _runs(store, shown):
        rows = store.totals(run.id, MAX_POINTS)
        names = ("step", "tokens", "time", "energy")
        found[run.id] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
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
    key: str,
    records: Sequence[RunRecord],
    drawn: Sequence[Drawn],
    happened: Mapping[str, Sequence[Mark]],
) -> dict[str, Any]:
    title, unit, empty, never = text.PANELS[key]
    return {
        "key": key,
        "title": title,
        "unit": unit,
        "empty": never if all(r.status in FINAL for r in records) else empty,
        "note": _note(key, records),
        "from_zero": FROM_ZERO[key],
        "lines": _lines(key, drawn, happened),
        "points": _points(drawn) if key == "loss" else [],
    }


def _note(key: str, records: Sequence[RunRecord]) -> str | None:
    """What has to be known to read a panel: that speed is emulated, how memory was counted."""
    emulated = any(r.facts.how == "emulated" for r in records)
    if key == "tokens_per_s":
        return text.EMULATED_NOTE if emulated else None
    if key == "memory_mib":
        sources = [r.facts.memory_source for r in records if r.facts.memory_source]
        claims = [text.EMULATED_MEMORY_NOTE] if emulated else []
        return text.SEMICOLON.join(dict.fromkeys([*claims, *map(recorded.said, sources)])) or None
    return None


def _lines(
    key: Any, drawn: Sequence[Drawn], happened: Mapping[str, Sequence[Mark]]
) -> list[dict[str, Any]]:
    """One for each run; ``repeat`` where its arm has several, which share a colour and a mean."""
    lines = []
    for one in drawn:
        repeated = len(one.runs) > 1
        for record in one.runs:
            found = curve(record, key)
            lines.append(
                {
                    "arm": one.id,
                    "run": record.id,
                    "label": label([record], seed=True) if repeated else one.name,
                    "colour": one.colour,
                    "repeat": repeated,
                    "live": record.status == "running",
                    "x": found.x,
                    "y": [_short(y) for y in found.y],
                    **({"peaks": _peaks(record)} if key == "memory_mib" else {}),
                    "marks": [*map(list, found.marks), *map(list, happened.get(record.id, ()))],
                }
            )
    return lines


def _peaks(record: RunRecord) -> list[tuple[int, float | None]]:
    """The highest memory so far, where it rose: (from which step on, MiB)."""
    risen: list[tuple[int, float | None]] = []
    for step in record.steps:
        if step.peak_mib is not None and (not risen or step.peak_mib > risen[-1][1]):
            risen.append((step.step, step.peak_mib))
    return [(step, _short(peak)) for step, peak in risen]


def _points(drawn: Sequence[Drawn]) -> list[dict[str, Any]]:
    """The held-out losses; of repetitions that were judged at the same step, their mean."""
    points = []
    words = text.EVAL_POINT, text.EVAL_MEAN, text.WHEN_WORDS  # looked up once for hundreds
    for one in drawn:
        at: dict[int, list[Eval]] = {}
        for record in one.runs:
            # The last step may be evaluated "during" and "after": the newest counts.
            for e in {e.step: e for e in record.evals}.values():
                if math.isfinite(e.loss):
                    at.setdefault(e.step, []).append(e)
        name = one.name
        points += [_point(one, name, step, found, words) for step, found in sorted(at.items())]
    return points


def _point(
    one: Drawn, name: str, step: int, found: Sequence[Eval], words: tuple[str, str, dict[str, str]]
) -> dict[str, Any]:
    point, spread, when = words
    losses = [e.loss for e in found]
    mean = fmean(losses)
    said = point.format(label=name, loss=figures.number(mean), step=step, when=when[found[-1].when])
    if len(found) > 1:
        low, high = (figures.number(f(losses)) for f in (min, max))
        said += spread.format(count=len(found), low=low, high=high)
    return {
        "arm": one.id,
        "label": name,
        "colour": one.colour,
        "x": step,
        "y": _short(mean),
        "low": _short(min(losses)),
        "high": _short(max(losses)),
        "title": said,
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def charts(store: RunStore, elem_id: str = "charts") -> gr.HTML:
    """The component. Give it a ``payload``, or None for no charts at all."""

    def ask_detail(asked: list[Any]) -> dict[str, Any]:
        shown, first, last = asked  # from a browser: checked, not believed
        return detail(store, str(shown), int(first), int(last))

    def ask_totals(shown: str) -> dict[str, Any]:
        return totals(store, str(shown))

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
        elem_id=elem_id,
    )
