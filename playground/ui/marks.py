"""What happened to a run apart from its steps, as marks on its lines: healed, resumed, ended."""

from __future__ import annotations

from playground.config import PRECISIONS
from playground.events import Step
from playground.store import Run
from playground.ui import text

Mark = tuple[float, str, str]
"""Where on the x-axis, which kind (charts.js draws each in its own way), and what it says."""


def of(run: Run, last: Step | None) -> list[Mark]:
    """The marks of one run.

    Args:
        last: its newest step; None before the first.
    """
    found: list[Mark] = []
    facts = run.facts
    if facts.healed_at_step is not None and facts.healed_to in PRECISIONS:
        said = text.MARK_HEALED.format(label=PRECISIONS[facts.healed_to].label)
        found.append((facts.healed_at_step, "healed", said))
    if facts.resumed_at_step is not None:
        found.append((facts.resumed_at_step, "resumed", text.MARK_RESUMED))
    if run.over and run.status in ("failed", "interrupted"):
        step = last.step if last else 0
        kind = "out of memory" if run.cause == "out of memory" else "ended"
        found.append((step, kind, ending(run)))
    return found


def ending(run: Run) -> str:
    """How a run ended that did not end well, in a few words."""
    return text.CAUSE_WORDS.get(run.cause or "", text.STATUS_WORDS[run.status])
