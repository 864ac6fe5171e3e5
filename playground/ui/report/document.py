"""One comparison as one HTML file that needs no server, no network and no other file.

It is drawn by what draws the page: the same parts, the same style, the same scripts for the charts.
Its policy lets it load nothing at all and run only the script that it was written with.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from playground import language
from playground.compare import RunRecord
from playground.compare.differences import flatten
from playground.report import Content
from playground.store import RunStore
from playground.ui import (
    arms,
    charts,
    details,
    figures,
    form,
    held_out,
    marks,
    measured,
    panels,
    recorded,
)
from playground.ui import text as page_text
from playground.ui.log import log
from playground.ui.text import report as text
from playground.ui.theme import FONT, MONO, STYLE
from playground.ui.watch import Arm, Scene, Seen

_HERE = Path(__file__).parent
_SHEETS = ("base.css", "try_it.css")  # of the page's; the others are of parts that are not here


STRETCHES = 100
"""Of each the lowest and the highest value is drawn too: nobody can ask a file for more steps."""
MOST_EVALS = 200
COLUMNS = 5
"""Of a table: so many have room on paper."""


def document(store: RunStore, content: Content) -> Iterator[str]:
    """The file in parts. ``store`` is asked for the charts' steps alone."""
    scene = _scene(store, content)
    script = _script()
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{hashed}'; style-src 'unsafe-inline'"
    title = text.TITLE.format(title=recorded.titled(content.group.title))
    yield (
        f'<!doctype html>\n<html lang="{language.spoken()}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}; base-uri \'none\'; '
        "form-action 'none'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{_style()}</style></head>"
        '<body class="gradio-container report">'
    )
    yield _body(scene, content)
    yield f'<script type="application/json" id="given">{_given(store, scene)}</script>'
    yield f"<script>{script}</script></body></html>\n"


def _scene(store: RunStore, content: Content) -> Scene:
    """The page's own view of the comparison, of what was cleaned."""
    records = content.records(store)
    shown = [
        Arm(
            run=run,
            record=replace(
                record,
                steps=store.steps(run.id, max_points=charts.MAX_POINTS, stretches=STRETCHES),
                evals=store.evals(run.id, max_points=MOST_EVALS),
            ),
            messages=list(content.messages[run.id]),
            printed="",  # what a process prints may hold anything
        )
        for run, record in zip(content.group.runs, records, strict=True)
    ]
    return Scene(Seen(content.group.id), content.group, shown, records)


def _body(scene: Scene, content: Content) -> str:
    records = scene.records
    known = any(record.facts.device or record.facts.environment for record in records)
    looked = any(record.layer_errors for record in records)
    parts = [
        _section("", panels.outcome(scene)),
        _section(text.HOW, _device(records) + arms.progress(scene)),
        _section(text.CHARTS, _charts(records)),
        _section(text.DETAILS, _figures(records, not scene.live)),
        _section(text.MEMORY, measured.memory(records)),
        _section(text.ROUNDING, measured.rounding(records)) if looked else "",
        _section(text.COVERAGE, details.coverage(records)),
        _section(text.COMMAND, _again(content)),
        _section(text.SETTINGS, _settings(records)),
        _section(text.ENVIRONMENT, _environment(records)) if known else "",
        _section("", _fold(text.MESSAGES, log(_said(scene)))),
        "" if content.answers is None else _section(text.ROWS, _rows(content)),
    ]
    return f"{_header(scene, content)}<main>{''.join(parts)}</main>"


def _figures(records: Sequence[RunRecord], over: bool) -> str:
    """As on the page, in tables that are no wider than paper."""
    proof = details.fair(records, over) + measured.crossed(records, COLUMNS)
    return proof + details.columns(records, COLUMNS)


def _said(scene: Scene) -> Scene:
    """For the log: what was found at the ends; what was found on the way is in the chart."""
    ends = [
        replace(
            a, record=replace(a.record, evals=[e for e in a.record.evals if e.when != "during"])
        )
        for a in scene.arms
    ]
    return replace(scene, arms=ends)


def _section(heading: str, body: str) -> str:
    named = f"<h2>{heading}</h2>" if heading else ""
    return f'<section class="sheet">{named}{body}</section>'


def _fold(heading: str, body: str) -> str:
    return f'<details class="rest"><summary>{heading}</summary>{body}</details>'


def _code(words: str) -> str:
    return f'<pre class="printed">{escape(words)}</pre>'


def _again(content: Content) -> str:
    """The command; whoever reads it has neither the home folder nor a preset in it."""
    said = [text.COMMAND_INFO]
    if content.brought:
        names = (page_text.QUOTED.format(words=name) for name in content.brought)
        said.append(text.BROUGHT.format(names=page_text.COMMA.join(names)))
    about = "".join(f'<p class="soft">{escape(words)}</p>' for words in said)
    return about + _code(form.command(content.group))


def _header(scene: Scene, content: Content) -> str:
    group, config = content.group, content.group.runs[0].config
    line = text.SETTINGS_LINE.format(
        model=config.model,
        dataset=config.dataset,
        steps=figures.count(config.training.max_steps),
    )
    about = [
        line,
        *_ran_on(scene.records),
        text.HELD_AT.format(time=_moment(group.created_at)),
        text.PRESET.format(preset=group.preset),
        group.id,
    ]
    said = [group.note, text.STILL_RUNNING if scene.live else ""]
    more = "".join(f"<p>{escape(words)}</p>" for words in said if words)
    state = panels.overall({run.status for run in group.runs})
    return (
        f'<header><p class="soft">{text.MADE_BY}</p><div class="heading">'
        f"<h1>{escape(recorded.titled(group.title))}</h1>{panels.chip(state)}"
        f"<p>{escape(' · '.join(about))}</p></div>{more}</header>"
    )


def _ran_on(records: Sequence[RunRecord]) -> Iterator[str]:
    """The devices, and whether the formats were native to them."""
    devices = (r.facts.device or {} for r in records)
    names = dict.fromkeys(str(name) for d in devices if (name := d.get("name")))
    hows = dict.fromkeys(r.facts.how for r in records if r.facts.how)
    if names:
        how = page_text.COMMA.join(page_text.HOW_WORDS[how] for how in hows)
        yield text.RAN_ON.format(device=page_text.COMMA.join(names), how=how)


def _moment(unix_seconds: float) -> str:
    """In UTC: who reads it may be anywhere."""
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _device(records: Sequence[RunRecord]) -> str:
    found = next((r.facts.device for r in records if r.facts.device), None)
    if not found:
        return ""
    name, reason = str(found.get("name", "")), recorded.said(str(found.get("reason") or ""))
    return f'<p class="soft"><b>{escape(name)}</b> {escape(reason)}</p>'


def _charts(records: Sequence[RunRecord]) -> str:
    long = any(len(r.steps) > charts.MAX_POINTS for r in records)
    said = text.CHARTS_THINNED.format(count=charts.MAX_POINTS)
    thinned = f'<p class="soft">{said}</p>' if long else ""
    return (
        f'<div id="charts"><div class="charts"></div></div>{thinned}'
        f"<noscript><p>{text.NO_SCRIPT}</p></noscript>"
    )


def _settings(records: Sequence[RunRecord]) -> str:
    found = [flatten(r.config.model_dump(mode="json")) for r in records]
    for name in ("precision", "training.seed"):  # by these the runs are called
        every = list(dict.fromkeys(table[name] for table in found))
        for table in found:
            table[name] = every
    return _differing(records, found)


def _environment(records: Sequence[RunRecord]) -> str:
    found = [(r.facts.device or {}) | (r.facts.environment or {}) for r in records]
    return _differing(records, [flatten(table) for table in found])


def _differing(records: Sequence[RunRecord], tables: Sequence[Mapping[str, Any]]) -> str:
    """A line for each name: its value, or where runs differ each value with whose it is."""
    lines = ""
    for name in dict.fromkeys(name for table in tables for name in table):
        whose: dict[str, list[str]] = {}
        for record, table in zip(records, tables, strict=True):
            named = charts.label([record], seed=True)
            whose.setdefault(_value(table.get(name)), []).append(named)
        if len(whose) == 1:
            cell = escape(next(iter(whose)))
        else:
            each = ((escape(value), escape("; ".join(runs))) for value, runs in whose.items())
            cell = "".join(f"{value}<em>{runs}</em>" for value, runs in each)
        lines += f'<tr><th scope="row"><code>{escape(name)}</code></th><td>{cell}</td></tr>'
    return f'<div class="columns"><table class="facts pairs">{lines}</table></div>'


def _value(value: Any) -> str:
    if value is None or value == "":
        return text.NOT_SET
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rows(content: Content) -> str:
    """Of each precision the first run that answered, row by row."""
    found: dict[str, held_out.ArmAnswers] = {}
    for run in content.group.runs:
        before, after = (
            {answer.row: answer for answer in (content.answers or {})[run.id][when]}
            for when in ("before", "after")
        )
        if after:
            found.setdefault(run.precision, held_out.ArmAnswers(run.precision, before, after))
    if not found:
        return f'<p class="soft">{text.NO_ROWS}</p>'
    return f'<div id="held-out">{held_out.table(list(found.values()))}</div>'


# Style and script.


def _style() -> str:
    sheets = [sheet for sheet in STYLE if sheet.name in _SHEETS]
    fonts = f":root {{ --font: {_family(FONT)}; --font-mono: {_family(MONO)}; }}"
    read = (p.read_text(encoding="utf-8") for p in (*sheets, _HERE / "document.css"))
    return "\n".join([fonts, *read])


def _family(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' if " " in name else name for name in names)


def _script() -> str:
    """The charts' scripts in a scope of their own, with what Gradio gives them on the page."""
    drawing = "".join((_HERE.parent / name).read_text(encoding="utf-8") for name in charts.SCRIPTS)
    before, after = (
        (_HERE / name).read_text(encoding="utf-8") for name in ("before.js", "after.js")
    )
    return f"(() => {{\n{before}{drawing}{after}}})();\n"


def _given(store: RunStore, scene: Scene) -> str:
    """What the scripts draw, as JSON that cannot end the element it stands in."""
    happened = {a.run.id: marks.of(a.run, a.last_step) for a in scene.arms}
    sent = charts.payload(scene.group.id, [a.record for a in scene.arms], happened)
    given = {
        # Nobody is there to be asked for the steps in between, or to keep an address.
        "charts": sent | {"address": None, "thinned": False},
        "totals": charts.totals(store, scene.group.id),
        "words": page_text.CHARTS,
    }
    written = json.dumps(given, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
