"""How far each arm of a comparison has come: one line a precision, one bar a run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape
from statistics import median

from playground.config import PRECISIONS
from playground.events import Step
from playground.store import Run
from playground.ui import figures, marks, recorded, text
from playground.ui.labels import labelled
from playground.ui.panels import badge, chip, overall, swatch
from playground.ui.watch import Arm, Scene

ETA_STEPS = 20
"""The remaining time is told from the median of this many newest step times."""


def progress(scene: Scene) -> str:
    """One line for each arm: stage, step i of N, time left; what went wrong; then all together."""
    if scene.group is None:
        return ""
    lines = "".join(_arm_line(arms, scene.live) for arms in by_precision(scene.arms).values())
    left = remaining_of_all_s(scene.arms, time.time()) if scene.live and not scene.ending else None
    together = ""
    if left is not None:
        said = text.ETA_ALL.format(time=figures.duration(left), count=len(scene.arms))
        together = f'<p class="together">{said}</p>'
    return f'<div class="arms" role="list" aria-label="{text.ARMS_HEADING}">{lines}</div>{together}'


def by_precision(runs: Sequence[Arm]) -> dict[str, list[Arm]]:
    """The runs of each precision, in the order in which they run."""
    arms: dict[str, list[Arm]] = {}
    for arm in runs:
        arms.setdefault(arm.run.precision, []).append(arm)
    return arms


def _arm_line(arms: Sequence[Arm], live: bool) -> str:
    precision, several = arms[0].run.precision, len(arms) > 1
    label = PRECISIONS[precision].label
    state = overall({a.run.status for a in arms})
    how = next((a.run.facts.how for a in arms if a.run.facts.how), None)
    doing = _doing_of_several(arms) if several else _doing(arms[0])
    done, total = (sum(n) for n in zip(*map(_steps, arms), strict=True))
    bars = "".join(_bar(a, several) for a in arms)
    times = f"<i>× {len(arms)}</i>" if several else ""
    return (
        f'<div class="arm-line arm-{escape(precision)} is-{state}" role="listitem">'
        f'<div class="arm-name">{swatch(precision)}<b>{label}</b>{times}{badge(how)}</div>'
        f'<div class="arm-state">{chip(state)}<span>{escape(doing)}</span></div>'
        f'<div class="arm-count">{_count(done, total)}</div>'
        f'<div class="bars">{bars}</div>'
        f"{_failures(arms, live)}</div>"
    )


def _steps(arm: Arm) -> tuple[int, int]:
    return arm.last_step.step if arm.last_step else 0, arm.run.config.training.max_steps


def name(arm: Arm, several: bool) -> str:
    """The precision's label, with the seed where there are several."""
    label = PRECISIONS[arm.run.precision].label
    return text.SEED_OF.format(label=label, seed=_seed(arm)) if several else label


def _seed(arm: Arm) -> int:
    return arm.run.config.training.seed


def _bar(arm: Arm, several: bool) -> str:
    run, (done, total) = arm.run, _steps(arm)
    part = done / total
    if not done and run.stage and run.stage.progress is not None and not run.over:
        part = run.stage.progress
    said = f"{name(arm, several)}: {text.STEP_OF.format(step=done, total=total)}"
    return (
        f'<div class="bar is-{run.status}" role="progressbar" aria-label="{escape(said)}" '
        f'aria-valuemin="0" aria-valuemax="{total}" aria-valuenow="{done}">'
        f'<i style="width:{min(max(part, 0), 1):.1%}"></i></div>'
    )


def _failures(arms: Sequence[Arm], live: bool) -> str:
    """The runs that did not end well; repetitions that ended in the same way are told of once."""
    alike: dict[tuple[str, int, str], list[Arm]] = {}
    for arm in arms:
        if arm.run.error:
            kind = (marks.ending(arm.run), _steps(arm)[0], arm.run.error)
            alike.setdefault(kind, []).append(arm)
    return "".join(_failure(*kind, runs, len(arms) > 1, live) for kind, runs in alike.items())


def _failure(
    ending: str, step: int, error: str, runs: Sequence[Arm], several: bool, live: bool
) -> str:
    """A kind of end, its step, why, and what can be done."""
    where = text.AFTER_STEP.format(step=step) if step else text.BEFORE_STEPS
    if several:
        seeds = text.AND.join(str(_seed(a)) for a in runs)
        where += text.OF_SEEDS.format(seeds=seeds)
    next_ = [text.CAN_RESUME] if any(a.run.why_not_resumable is None for a in runs) else []
    next_ += [text.REST_GOES_ON] if live else []
    return (
        f'<div class="arm-error"><p><b>{escape(ending)}</b> {escape(where)}</p>'
        f"<p>{escape(labelled(recorded.said(error)))}</p>"
        + (f'<p class="next">{escape(" ".join(next_))}</p>' if next_ else "")
        + "</div>"
    )


def _count(done: int, total: int) -> str:
    return f"{figures.count(done)}<i>/</i>{figures.count(total)}"


def _doing_of_several(arms: Sequence[Arm]) -> str:
    """``1 of 3 finished; seed 43: training, about 8 s left of its steps``."""
    finished = sum(a.run.status == "finished" for a in arms)
    words = [text.FINISHED_OF.format(done=finished, count=len(arms))]
    words += [
        text.SEED_DOES.format(seed=_seed(a), doing=_doing(a))
        for a in arms
        if a.run.status == "running"
    ]
    return text.SEMICOLON.join(words)


def _doing(arm: Arm) -> str:
    run = arm.run
    if run.status == "queued":
        return text.WAITING_TO_GO_ON if run.attempt > 1 else text.WAITING_FOR_TURN
    if run.over:
        return _ended(run)
    if run.stop_requested:
        return text.PAUSE_ASKED if run.stop_kind == "pause" else text.STOP_ASKED
    if run.stage is None:
        return text.STARTING
    left = remaining_s(arm.record.steps, run.config.training.max_steps)
    words = [recorded.said(run.stage.name), recorded.said(run.stage.detail)]
    if left is not None:
        words.append(text.ETA.format(time=figures.duration(left)))
    return text.CLAUSES.join(w for w in words if w)


def _ended(run: Run) -> str:
    """How long it ran and, where it did not finish, what it was doing."""
    if run.started_at is None or run.ended_at is None:
        return ""
    took = figures.duration(run.ended_at - run.started_at)
    if run.status == "finished":
        again = text.FINISHED_IN if run.facts.resumed_at_step is None else text.FINISHED_AGAIN_IN
        return again.format(time=took)
    if run.stage is None:
        return text.ENDED_AFTER.format(time=took)
    return text.ENDED_WHILE.format(time=took, stage=recorded.said(run.stage.name))


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
