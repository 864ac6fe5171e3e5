"""The live parts of the Compare page as HTML. Whatever a person or a run wrote is escaped here."""

from __future__ import annotations

import time
from html import escape
from statistics import median

from playground.compare import RunRecord, verdict
from playground.compare.verdict import Verdict
from playground.config import PRECISIONS, private
from playground.events import Step
from playground.store import Group, Run
from playground.ui import figures, text
from playground.ui.watch import Arm, Scene

ETA_STEPS = 20
"""The remaining time is told from the median of this many newest step times."""


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
    """A sentence that has to be seen, or nothing."""
    if not message:
        return ""
    role = "alert" if kind == "error" else "status"
    return f'<div class="notice is-{kind}" role="{role}">{escape(message)}</div>'


def heading(scene: Scene) -> str:
    """Title, state and settings of the comparison that is shown."""
    if scene.problem:
        return notice(scene.problem)
    if scene.group is None:
        return f'<div class="empty"><h2>{text.EMPTY_TITLE}</h2><p>{text.EMPTY_TEXT}</p></div>'
    group, config = scene.group, scene.group.runs[0].config
    parts = [
        escape(private(config.model)),
        escape(private(config.dataset)),
        text.STEPS_OF_EACH.format(steps=figures.count(config.training.max_steps)),
        figures.moment(group.created_at),
    ]
    link = f'<a href="?group={escape(group.id)}">{text.PERMALINK}</a>'
    link += f' <a class="narrow" href="#setup">{text.SET_UP_ANOTHER}</a>'
    return (
        f'{_other(scene)}<div class="heading"><h2>{escape(group.title)}</h2>'
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
        titles = text.AND.join(f"“{_cut(group.title)}”" for group in ahead)
        said = text.QUEUED_BEHIND.format(titles=titles) if ahead else ""
    elif shown in names:
        said = text.WAIT_FOR_THIS.format(count=len(others))
    else:
        said = text.OTHER_LIVE.format(title=_cut(others[0].title))
    if len(scene.queue) == 1:
        link = f'<a href="?group={escape(others[0].id)}">{text.OTHER_LIVE_LINK}</a>'
        return f'<div class="notice is-info" role="status">{escape(said)} {link}</div>'
    items = "".join(_queued(group, group.id == shown) for group in scene.queue)
    listed = f'<ol class="queue" aria-label="{text.QUEUE}">{items}</ol>'
    return f'<div class="notice is-info" role="status">{escape(said)}{listed}</div>'


def _queued(group: Group, shown: bool) -> str:
    waits = all(run.status == "queued" for run in group.runs)
    title = escape(_cut(group.title))
    link = f'<a href="?group={escape(group.id)}">{title}</a>'
    here = f'<b aria-current="true">{title}</b> <span>{text.SHOWN_HERE}</span>'
    return f"<li>{chip('queued' if waits else 'running')}{here if shown else link}</li>"


def _cut(title: str, most: int = 80) -> str:
    return title if len(title) <= most else title[: most - 1] + "…"


def _status(scene: Scene) -> str:
    """One word for the group: the worst that happened, once all is over."""
    states = [a.run.status for a in scene.arms]
    order = ("running", "queued", "failed", "diverged", "interrupted", "stopped", "finished")
    if "queued" in states and any(s not in ("queued",) for s in states):
        live = scene.live and "running" not in states
        return "running" if live else next(s for s in order if s in states)
    return next(s for s in order if s in states)


def progress(scene: Scene) -> str:
    """One line for each arm: stage, step i of N, time left."""
    if scene.group is None:
        return ""
    lines = "".join(_arm_line(arm) for arm in scene.arms)
    left = (
        remaining_of_all_s(scene.arms, time.time()) if scene.live and not scene.stopping else None
    )
    together = ""
    if left is not None:
        said = text.ETA_ALL.format(time=figures.duration(left), count=len(scene.arms))
        together = f'<p class="together">{said}</p>'
    return f'<div class="arms" role="list" aria-label="{text.ARMS_HEADING}">{lines}</div>{together}'


def _arm_line(arm: Arm) -> str:
    run, total = arm.run, arm.run.config.training.max_steps
    done = arm.last_step.step if arm.last_step else 0
    part = done / total
    if not done and run.stage and run.stage.progress is not None and not run.over:
        part = run.stage.progress
    width = f"{min(max(part, 0), 1):.1%}"
    name = PRECISIONS[run.precision].label
    label = f"{name}: {text.STEP_OF.format(step=done, total=total)}"
    error = f'<p class="arm-error">{escape(text.labelled(run.error))}</p>' if run.error else ""
    return (
        f'<div class="arm-line arm-{escape(run.precision)} is-{run.status}" role="listitem">'
        f'<div class="arm-name">{swatch(run.precision)}<b>{name}</b>{badge(run.facts.how)}</div>'
        f'<div class="arm-state">{chip(run.status)}<span>{escape(_doing(arm))}</span></div>'
        f'<div class="arm-count">{_count(done, total)}</div>'
        f'<div class="bar" role="progressbar" aria-label="{escape(label)}" aria-valuemin="0" '
        f'aria-valuemax="{total}" aria-valuenow="{done}"><i style="width:{width}"></i></div>'
        f"{error}</div>"
    )


def _count(done: int, total: int) -> str:
    return f"{figures.count(done)}<i>/</i>{figures.count(total)}"


def _doing(arm: Arm) -> str:
    run = arm.run
    if run.status == "queued":
        return text.WAITING_FOR_TURN
    if run.over:
        return _ended(run)
    if run.stop_requested:
        return text.STOP_ASKED
    if run.stage is None:
        return text.STARTING
    left = remaining_s(arm.record.steps, run.config.training.max_steps)
    words = [run.stage.name, run.stage.detail]
    if left is not None:
        words.append(text.ETA.format(time=figures.duration(left)))
    return ", ".join(w for w in words if w)


def _ended(run: Run) -> str:
    """How long it ran and, where it did not finish, what it was doing."""
    if run.started_at is None or run.ended_at is None:
        return ""
    took = figures.duration(run.ended_at - run.started_at)
    if run.status == "finished":
        return text.FINISHED_IN.format(time=took)
    if run.stage is None:
        return text.ENDED_AFTER.format(time=took)
    return text.ENDED_WHILE.format(time=took, stage=run.stage.name)


def remaining_s(steps: list[Step] | tuple[Step, ...], total: int) -> float | None:
    """Seconds until the last step at the pace of the newest ones; None before there is a pace."""
    timed = [s for s in steps if not s.warmup][-ETA_STEPS:]
    if not timed or steps[-1].step >= total:
        return None
    return (total - steps[-1].step) * median(s.step_ms for s in timed) / 1000


def remaining_of_all_s(arms: list[Arm], now: float) -> float | None:
    """Seconds until every arm has ended; None while nothing can be told, or if one arm is all.

    An arm that waits is thought to take as long as those that have ended, or as the one that runs.
    """
    running = next((a for a in arms if a.run.status == "running" and a.run.started_at), None)
    if running is None or len(arms) < 2:
        return None
    took = [
        a.run.ended_at - a.run.started_at
        for a in arms
        if a.run.status == "finished" and a.run.started_at and a.run.ended_at
    ]
    spent = now - running.run.started_at
    left = remaining_s(running.record.steps, running.run.config.training.max_steps)
    if not took and left is None:
        return None
    whole = median(took) if took else spent + left
    waiting = sum(a.run.status == "queued" for a in arms)
    return max(whole - spent, left or 0.0) + waiting * whole


def outcome(scene: Scene) -> str:
    """The verdict: one sentence, its numbers, and whether the comparison was a fair one."""
    if scene.group is None:
        return ""
    found = verdict(scene.records)
    kind = "live" if scene.live else "done"
    return (
        f'<section class="verdict is-{kind}" aria-label="{text.VERDICT}"><h3>{text.VERDICT}</h3>'
        f'<p class="verdict-text" aria-live="polite">{escape(text.labelled(found.text))}</p>'
        f"{_tiles(scene, found)}</section>"
    )


def _tiles(scene: Scene, found: Verdict) -> str:
    if len(scene.records) < 2 or scene.live:
        return ""
    baseline, candidate = compared(scene.records)
    names = {"baseline": baseline.label, "candidate": candidate.label}
    over = text.TILE_OVER.format(**names)
    emulated = "emulated" in (baseline.facts.how, candidate.facts.how)
    why_not = text.RAN_EMULATED if emulated else text.NOT_MEASURED

    def tile(name: str, value: str | None, under: str, whyless: str) -> str:
        known = value is not None
        return (
            f'<div class="tile{"" if known else " is-none"}"><span>{name}</span>'
            f"<b>{value if known else text.NOT_COMPARED}</b>"
            f"<em>{escape(under if known else whyless)}</em></div>"
        )

    delta = figures.signed(found.loss_delta) if found.loss_delta is not None else None
    speed = figures.ratio(found.speed_ratio) if found.speed_ratio is not None else None
    memory = figures.ratio(found.memory_ratio) if found.memory_ratio is not None else None
    bits = candidate.facts.bits_per_converted_weight
    return (
        '<div class="tiles">'
        + tile(text.TILE_LOSS, delta, text.TILE_MINUS.format(**names), text.NO_FINAL_LOSSES)
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


def compared(records: list[RunRecord]) -> tuple[RunRecord, RunRecord]:
    """The two arms behind the verdict's numbers: the first, and the one with the fewest bits."""
    baseline, *others = records
    return baseline, min(others, key=lambda r: PRECISIONS[r.config.precision].storage_bits)
