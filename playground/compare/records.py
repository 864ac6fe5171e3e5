"""One arm of a comparison: a run with its steps and evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from playground.config import PRECISIONS, RunConfig
from playground.events import Eval, Facts, Step


class StoredRun(Protocol):
    """What a run remembered by the store must offer; the store itself is not known here."""

    id: str
    config: RunConfig
    status: str
    error: str | None
    facts: Facts


@dataclass(frozen=True)
class RunRecord:
    """One arm of a comparison, as the store remembers it."""

    id: str
    config: RunConfig
    status: str
    error: str | None
    facts: Facts
    steps: Sequence[Step]
    evals: Sequence[Eval]

    @classmethod
    def of(cls, run: StoredRun, steps: Sequence[Step], evals: Sequence[Eval]) -> RunRecord:
        """The record of a stored run, with the steps and evaluations that were read for it."""
        return cls(run.id, run.config, run.status, run.error, run.facts, steps, evals)

    @property
    def label(self) -> str:
        """The precision's short name: the effective one, once it is known."""
        return PRECISIONS[self.facts.effective or self.config.precision].label

    def eval_loss(self, when: str) -> float | None:
        """Held-out loss ``before`` or ``after`` training; None if it was not taken."""
        return next((e.loss for e in reversed(self.evals) if e.when == when), None)

    def exact_match(self, when: str) -> float | None:
        """Share of held-out rows answered exactly, ``before`` or ``after``; None if not asked."""
        return next((e.exact_match for e in reversed(self.evals) if e.when == when), None)

    @property
    def skipped_updates(self) -> int:
        """Steps whose update was not made because the loss scaler found inf or NaN."""
        return sum(s.skipped for s in self.steps)

    @property
    def timed_steps(self) -> list[Step]:
        """The steps that count for throughput: warm-up left out."""
        return [s for s in self.steps if not s.warmup]

    @property
    def tokens_per_s_median(self) -> float | None:
        """Median throughput over the timed steps, non-padding tokens per second."""
        return median(s.tokens_per_s for s in self.timed_steps) if self.timed_steps else None

    @property
    def step_ms_median(self) -> float | None:
        """Median step time over the timed steps, milliseconds."""
        return median(s.step_ms for s in self.timed_steps) if self.timed_steps else None
