"""One run with what was measured in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Protocol

from playground.config import PRECISIONS, RunConfig
from playground.events import CrossEval, Eval, EvalRows, Facts, LayerError, Step, StepFigures

Steps = Sequence[Step] | Sequence[StepFigures]


class StoredRun(Protocol):
    """What a run remembered by the store must offer; the store itself is not known here."""

    id: str
    config: RunConfig
    status: str
    error: str | None
    cause: str | None
    facts: Facts


@dataclass(frozen=True)
class RunRecord:
    """One run, as the store remembers it.

    Attributes:
        steps: those that are known, or their figures where nothing is drawn.
        cause: what kind of end it was, when it did not go well.
        eval_rows: the evaluation "after", row by row; None where it was not kept.
        cross: the finished adapter on other bases.
        layer_errors: what the looks at rounding errors found.
    """

    id: str
    config: RunConfig
    status: str
    error: str | None
    facts: Facts
    steps: Steps
    evals: Sequence[Eval]
    cause: str | None = None
    eval_rows: EvalRows | None = None
    cross: Sequence[CrossEval] = ()
    layer_errors: Sequence[LayerError] = ()

    @classmethod
    def of(
        cls,
        run: StoredRun,
        steps: Steps,
        evals: Sequence[Eval],
        *,
        eval_rows: EvalRows | None = None,
        cross: Sequence[CrossEval] = (),
        layer_errors: Sequence[LayerError] = (),
    ) -> RunRecord:
        """The record of a stored run, with what was read for it."""
        return cls(
            id=run.id,
            config=run.config,
            status=run.status,
            error=run.error,
            facts=run.facts,
            steps=steps,
            evals=evals,
            cause=run.cause,
            eval_rows=eval_rows,
            cross=cross,
            layer_errors=layer_errors,
        )

    @property
    def label(self) -> str:
        """The precision's short name: the effective one, once it is known."""
        return PRECISIONS[self.facts.effective or self.config.precision].label

    @property
    def seed(self) -> int:
        return self.config.training.seed

    def eval_loss(self, when: str) -> float | None:
        """Held-out loss ``before`` or ``after`` training; None if it was not taken."""
        return next((e.loss for e in reversed(self.evals) if e.when == when), None)

    def exact_match(self, when: str) -> float | None:
        """Share of held-out rows answered exactly, ``before`` or ``after``; None if not asked."""
        return next((e.exact_match for e in reversed(self.evals) if e.when == when), None)

    @cached_property
    def skipped_updates(self) -> int:
        """Steps whose update was not made because the loss scaler found inf or NaN."""
        return sum(s.skipped for s in self.steps)

    @cached_property
    def timed_steps(self) -> Steps:
        """The steps that count for throughput: warm-up left out."""
        return [s for s in self.steps if not s.warmup]

    @cached_property
    def tokens_per_s_median(self) -> float | None:
        """Median throughput over the timed steps, non-padding tokens per second."""
        return median(s.tokens_per_s for s in self.timed_steps) if self.timed_steps else None

    @cached_property
    def step_ms_median(self) -> float | None:
        """Median step time over the timed steps, milliseconds."""
        return median(s.step_ms for s in self.timed_steps) if self.timed_steps else None

    @cached_property
    def energy_j(self) -> float | None:
        """Joules of all training steps; None where energy was not measured.

        A step shorter than the meter's tick has none and the next one has its share too, so sums
        are right where single steps are not.
        """
        return _energy(self.steps)

    @cached_property
    def joules_per_token(self) -> float | None:
        """Over the timed steps, non-padding tokens; None where energy was not measured."""
        energy = _energy(self.timed_steps)
        return None if energy is None else energy / sum(s.tokens for s in self.timed_steps)


def _energy(steps: Steps) -> float | None:
    measured = [s.energy_j for s in steps if s.energy_j is not None]
    return sum(measured) if measured else None
