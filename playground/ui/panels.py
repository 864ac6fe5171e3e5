"""Heading and verdict of the Compare page as HTML, and the small parts that all of it uses.

Whatever a person or a run wrote is escaped here.
"""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from playground.compare import Comparison, verdict
from playground.compare.verdict import Verdict
from playground.config import private
from playground.data.uploads import called
from playground.preview.words import printable
from playground.store import Group
from playground.ui import figures, recorded, text
from playground.ui.labels import labelled
from playground.ui.text import try_it
from playground.ui.watch import Scene


def badge(how: str | None) -> str:
    """Native, weight-only or emulated; nothing while it is not known."""
    if how is None:
        return ""
    said = escape(text.HOW_EXPLAINED[how])
    return f'<span class="badge how-{how}" title="{said}">{text.HOW_WORDS[how]}</span>'


def chip(status: str) -> str:
    return f'<span class="chip is-{status}">{text.STATUS_WORDS[status]}</span>'


def swatch(precision: str) -> str:
    return f'<i class="swatch arm-{escape(precision)}"></i>'


def notice(message: str | None, kind: str = "error") -> str:
    """A sentence that has to be seen, or nothing, be it the page's or one from below."""
    if not message:
        return ""
    role, said = "alert" if kind == "error" else "status", escape(recorded.said(message))
    return f'<div class="notice is-{kind}" role="{role}">{said}</div>'


def heading(scene: Scene) -> str:
    """Title, state and settings of the comparison that is shown."""
    if scene.problem:
        return notice(scene.problem)
    if scene.group is None:
        return f'<div class="empty"><h2>{text.EMPTY_TITLE}</h2><p>{text.EMPTY_TEXT}</p></div>'
    group, config = scene.group, scene.group.runs[0].config
    parts = [
        escape(private(config.model)),
        escape(printable(called(config.dataset))),
        text.STEPS_OF_EACH.format(steps=figures.count(config.training.max_steps)),
        figures.moment(group.created_at),
    ]
    if any(run.status == "finished" for run in group.runs):
        parts += [f'<a href="?group={escape(group.id)}&amp;page=try">{try_it.LINK}</a>']
    link = f'<a href="?group={escape(group.id)}">{text.PERMALINK}</a>'
    link += f' <a class="narrow" href="#setup">{text.SET_UP_ANOTHER}</a>'
    return (
        f'{_other(scene)}<div class="heading"><h2>{escape(recorded.titled(group.title))}</h2>'
        f"{chip(_status(scene))}<p>{' <i>·</i> '.join([*parts, link])}</p></div>"
    )


def _other(scene: Scene) -> str:
    """What else runs or waits, and what the comparison that is shown waits for."""
    shown = scene.group.id
    names = [group.id for group in scene.queue]
    others = [group for group in scene.queue if group.id != shown]
    if not others:
        return ""
    if shown in names and all(a.run.status == "queued" for a in scene.arms):
        ahead = scene.queue[: names.index(shown)]
        titles = text.AND.join(
            text.QUOTED.format(words=_cut(recorded.titled(group.title))) for group in ahead
        )
        said = text.QUEUED_BEHIND.format(titles=titles) if ahead else ""
    elif shown in names:
        said = text.WAIT_FOR_THIS.format(count=len(others))
    else:
        said = text.OTHER_LIVE.format(title=_cut(recorded.titled(others[0].title)))
    if len(scene.queue) == 1:
        link = f'<a href="?group={escape(others[0].id)}">{text.OTHER_LIVE_LINK}</a>'
        return f'<div class="notice is-info" role="status">{escape(said)} {link}</div>'
    items = "".join(_queued(group, group.id == shown) for group in scene.queue)
    listed = f'<ol class="queue" aria-label="{text.QUEUE}">{items}</ol>'
    return f'<div class="notice is-info" role="status">{escape(said)}{listed}</div>'


def _queued(group: Group, shown: bool) -> str:
    waits = all(run.status == "queued" for run in group.runs)
    title = escape(_cut(recorded.titled(group.title)))
    link = f'<a href="?group={escape(group.id)}">{title}</a>'
    here = f'<b aria-current="true">{title}</b> <span>{text.SHOWN_HERE}</span>'
    return f"<li>{chip('queued' if waits else 'running')}{here if shown else link}</li>"


def _cut(title: str, most: int = 80) -> str:
    return title if len(title) <= most else title[: most - 1] + "…"


def _status(scene: Scene) -> str:
    """One word for the group: what goes on, or the worst that happened, once all is over."""
    states = {a.run.status for a in scene.arms}
    between = scene.live and "running" not in states and states != {"queued"}
    return "running" if between else overall(states)


ORDER = (
    "running",
    "queued",
    "failed",
    "diverged",
    "interrupted",
    "paused",
    "stopped",
    "finished",
)


def overall(states: Collection[str]) -> str:
    """The state that several runs are in together: the one that wants most attention."""
    return next(s for s in ORDER if s in states)


def outcome(scene: Scene) -> str:
    """The verdict: one sentence, its numbers with their noise, and folded below all the rest."""
    if scene.group is None:
        return ""
    found = verdict(scene.records)
    kind = "live" if scene.live else "done"
    rest = labelled(found.text.removeprefix(found.headline).strip())
    lines = "".join(f"<p>{escape(line)}</p>" for line in rest.splitlines())
    told = f'<div class="verdict-text">{lines}</div>' if rest else ""
    if rest and not scene.live:
        told = f'<details class="rest"><summary>{text.VERDICT_REST}</summary>{told}</details>'
    return (
        f'<section class="verdict is-{kind}" aria-label="{text.VERDICT}"><h3>{text.VERDICT}</h3>'
        f'<p class="headline" aria-live="polite">{escape(labelled(found.headline))}</p>'
        f"{_tiles(found)}{told}</section>"
    )


def _tiles(found: Verdict) -> str:
    if not found.comparisons:
        return ""
    # The numbers of a verdict are those of the arm with the fewest bits a weight.
    main = min(found.comparisons, key=lambda c: c.candidate.storage_bits)
    baseline, candidate = main.baseline, main.candidate
    names = {"baseline": baseline.label, "candidate": candidate.label}
    over = text.TILE_OVER.format(**names)
    why_not = text.NOT_MEASURED if baseline.real and candidate.real else text.RAN_EMULATED
    bits = candidate.finished[0].facts.bits_per_converted_weight

    def tile(name: str, value: str | None, under: str, whyless: str) -> str:
        known = value is not None
        return (
            f'<div class="tile{"" if known else " is-none"}"><span>{name}</span>'
            f"<b>{value if known else text.NOT_COMPARED}</b>"
            f"<em>{escape(under if known else whyless)}</em></div>"
        )

    delta = figures.signed(main.loss_delta) if main.loss_delta is not None else None
    speed = figures.ratio(found.speed_ratio) if found.speed_ratio is not None else None
    memory = figures.ratio(found.memory_ratio) if found.memory_ratio is not None else None
    minus = f"{text.TILE_MINUS.format(**names)}{_band(main)}"
    return (
        '<div class="tiles">'
        + tile(text.TILE_LOSS, delta, minus, text.NO_FINAL_LOSSES)
        + tile(text.TILE_SPEED, speed, over, why_not)
        + tile(text.TILE_MEMORY, memory, over, why_not)
        + tile(
            text.TILE_WEIGHTS,
            text.TILE_BITS_VALUE.format(bits=f"{bits:.2f}") if bits is not None else None,
            text.TILE_BITS.format(**names),
            text.NOT_MEASURED,
        )
        + "</div>"
    )


def _band(main: Comparison) -> str:
    """Between what the difference lies, and whether that is noise between seeds or rows alone."""
    if main.interval is None:
        return ""
    seeds = text.OVER_SEEDS.format(count=len(main.seeds))
    return text.TILE_BAND.format(
        low=figures.signed(main.interval.low),
        high=figures.signed(main.interval.high),
        over=text.OVER_ROWS if main.noise is None else seeds,
    )
