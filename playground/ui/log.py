"""The log as HTML: what each run said and how it went, then the end of what its process printed."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from playground.events import Eval
from playground.ui import figures, recorded, text
from playground.ui.arms import name
from playground.ui.watch import Arm, Scene

MOST_PRINTED = 4_000
"""Characters of a process's output that are shown; the newest are those that matter."""


def log(scene: Scene) -> str:
    """Arm by arm, oldest first, each line with the arm that it is about."""
    labels = [name(a, scene.repeated) for a in scene.arms]
    lines = [
        f'<li class="is-{level}"><b>{escape(label)}</b> <span>{escape(said)}</span></li>'
        for a, label in zip(scene.arms, labels, strict=True)
        for level, said in _lines(a)
    ]
    shown = f'<ol class="log">{"".join(lines)}</ol>' if lines else f"<p>{text.LOG_EMPTY}</p>"
    return shown + "".join(map(_printed, scene.arms, labels))


def _lines(arm: Arm) -> Iterator[tuple[str, str]]:
    run, evals = arm.run, arm.record.evals
    if run.started_at is not None:
        yield "info", text.LOG_STARTED.format(time=figures.moment(run.started_at))
    yield from ((m.level, recorded.said(m.text)) for m in arm.messages)
    yield from (("info", _held_out(e)) for e in evals if e.when != "after")
    if arm.last_step:
        yield (
            "info",
            text.LOG_STEPS.format(
                step=arm.last_step.step,
                total=run.config.training.max_steps,
                loss=figures.number(arm.last_step.loss),
            ),
        )
    yield from (("info", _held_out(e)) for e in evals if e.when == "after")
    if run.over:
        level = "info" if run.status in ("finished", "stopped", "paused") else "error"
        said = recorded.said(run.error or "")
        state = text.STATUS_WORDS[run.status]
        yield level, text.LOG_ENDED.format(state=state, why=said) if said else state


def _held_out(e: Eval) -> str:
    said = text.LOG_HELD_OUT.format(
        loss=figures.number(e.loss), when=text.WHEN_WORDS[e.when], step=e.step
    )
    if e.exact_match is None:
        return said
    share = figures.share(e.exact_match)
    return text.LOG_EXACT.format(said=said, share=share, count=e.exact_match_rows)


def _printed(arm: Arm, label: str) -> str:
    printed = arm.printed.strip()[-MOST_PRINTED:]
    if not printed:
        return ""
    said = text.LOG_PRINTED.format(label=label)
    return f'<p class="printed">{said}</p><pre class="printed">{escape(printed)}</pre>'
