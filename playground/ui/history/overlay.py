"""Runs of any comparisons over each other, and what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from playground.compare import (
    Difference,
    RunRecord,
    environment_differences,
    fairness,
    setting_differences,
)
from playground.config import PRECISIONS, SettingsError, private
from playground.data.uploads import called
from playground.preview.words import printable
from playground.store import Run, RunStore
from playground.ui import charts, form, marks, recorded, text
from playground.ui.labels import labelled
from playground.ui.panels import badge, chip, notice, swatch
from playground.ui.text import history as words
from playground.ui.text import labels

FEWEST, MOST = 2, 8
_SEED = "training.seed"


@dataclass(frozen=True)
class Overlay:
    """Some runs as the page shows them, as of one moment.

    tokens: of the comparisons that they are from. missing: how many that were asked for are gone.
    problem: why there is nothing to show.
    """

    run_ids: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()
    live: bool = False
    runs: list[Run] = field(default_factory=list)
    records: list[RunRecord] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    missing: int = 0
    problem: str | None = None


def ids_of(asked: str) -> tuple[str, ...]:
    """``a,b,c`` of the address, each once."""
    return tuple(dict.fromkeys(part for part in asked.split(",") if part))


def look(store: RunStore, run_ids: Sequence[str], seen: Sequence[int] = ()) -> Overlay | None:
    """What is shown of these runs, or None if nothing is new since ``seen``."""
    if not FEWEST <= len(run_ids) <= MOST:
        return Overlay(problem=words.OVERLAY_FEW.format(count=len(run_ids)))
    try:
        runs = [run for name in run_ids if (run := _found(store, name))]
        if len(runs) < FEWEST:
            return Overlay(problem=words.OVERLAY_GONE.format(count=len(run_ids) - len(runs)))
        tokens = tuple(store.change_token(run.group_id) for run in runs)
        if tokens == tuple(seen):
            return None
        titles = [recorded.titled(store.get_group(run.group_id).title) for run in runs]
    except SettingsError as error:  # deleted between two looks
        return Overlay(problem=str(error))
    records = [
        RunRecord.of(
            run,
            store.steps(run.id, max_points=charts.MAX_POINTS),
            store.evals(run.id, max_points=charts.MAX_POINTS),
        )
        for run in runs
    ]
    live, missing = any(not run.over for run in runs), len(run_ids) - len(runs)
    return Overlay(tuple(run.id for run in runs), tokens, live, runs, records, titles, missing)


def _found(store: RunStore, run_id: str) -> Run | None:
    try:
        return store.get_run(run_id)
    except SettingsError:
        return None


def payload(found: Overlay) -> dict[str, Any] | None:
    """What the charts are given."""
    if found.problem:
        return None
    happened = {
        run.id: marks.of(run, record.steps[-1] if record.steps else None)
        for run, record in zip(found.runs, found.records, strict=True)
    }
    drawn = charts.one_by_one(found.records, found.titles)
    return charts.payload(",".join(found.run_ids), found.records, happened, drawn)


def heading(found: Overlay) -> str:
    """Which runs these are, and the one sentence about how far they can be compared."""
    if found.problem:
        return notice(found.problem)
    items = "".join(
        f"<li>{swatch(f'run-{place}')}<b>{escape(_name(record))}</b>{chip(run.status)}"
        f'{badge(run.facts.how)} <a href="?group={escape(run.group_id)}">{escape(title)}</a></li>'
        for place, (run, record, title) in enumerate(
            zip(found.runs, found.records, found.titles, strict=True), 1
        )
    )
    kind, said = banner(found.records)
    gone = notice(words.OVERLAY_LEFT.format(count=found.missing) if found.missing else None, "info")
    return (
        f"<h2>{words.OVERLAY_HEADING.format(count=len(found.runs))}</h2>{gone}"
        f'<ol class="overlaid">{items}</ol>{notice(said, kind)}'
    )


def _name(record: RunRecord) -> str:
    return words.OVERLAY_RUN.format(label=record.label, seed=record.seed)


def banner(records: Sequence[RunRecord]) -> tuple[str, str]:
    """What kind of notice, and what it says: whether these runs differ in the precision alone."""
    found = fairness(records)
    names = [name for name in found.only_difference if name != "precision"]
    seeds = len({r.seed for r in records}) > 1
    if names:
        said = [*map(setting_name, names), *([words.SEED_TOO] if seeds else [])]
        precision = [setting_name("precision")] if "precision" in found.only_difference else []
        listed = text.COMMA.join([*precision, *said])
        return "warning", words.NOT_CONTROLLED.format(names=listed)
    if found.problem:
        return "warning", words.NOT_PROVED.format(problem=labelled(found.problem))
    alike = "precision" not in found.only_difference
    return "info", words.ALIKE if alike else words.ONLY_PRECISION


def setting_name(name: str) -> str:
    """What the form calls a setting; what was recorded around a run keeps its own name."""
    leaf = name.rsplit(".", 1)[-1]
    top = {"model": text.MODEL, "dataset": text.DATASET, "precision": text.PRECISION}
    around = name.startswith(("environment.", "device."))
    return top.get(name) or (labels.LABELS.get(leaf) if not around else None) or name


def differences(found: Overlay) -> str:
    """Two tables: settings that are not the same, and what the runs ran in."""
    if found.problem:
        return ""
    heads = "".join(
        f'<th scope="col">{swatch(f"run-{place}")}{escape(_name(record))}</th>'
        for place, record in enumerate(found.records, 1)
    )
    parts = [
        _table(words.SETTINGS_DIFFER, setting_differences(found.records), heads),
        _table(words.ENVIRONMENT_DIFFERS, environment_differences(found.records), heads),
    ]
    return "".join(parts) or f"<p>{words.NO_DIFFERENCE}</p>"


def _table(caption: str, rows: Sequence[Difference], heads: str) -> str:
    if not rows:
        return ""
    body = "".join(
        f'<tr><th scope="row">{escape(setting_name(row.name))}</th>'
        + "".join(f"<td>{escape(_value(row.name, value))}</td>" for value in row.values)
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide" tabindex="0"><table class="facts differ"><caption>{caption}</caption>'
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _value(name: str, value: Any) -> str:
    if value is None:
        around = name.startswith(("environment.", "device."))
        return words.NOT_RECORDED if around else words.NOTHING
    if name == "precision":
        return PRECISIONS[value].label
    if name == "dataset":
        return printable(called(value))
    plain = private(form.plain(form.typed(value)))
    return recorded.said(plain) if name == "device.reason" else plain


__all__ = ["Overlay", "banner", "differences", "heading", "ids_of", "look", "payload"]
