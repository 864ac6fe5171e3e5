"""Two arms held against each other, seed by seed and row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from playground.compare import sentences as say
from playground.compare.arms import Arm
from playground.compare.noise import Interval, rows_interval, t_half_width
from playground.compare.records import RunRecord


@dataclass(frozen=True)
class Comparison:
    """A candidate against the baseline, over the seeds that both finished.

    Attributes:
        seeds: those with two final held-out losses.
        loss_delta: mean over ``seeds`` of the candidate's final held-out loss minus the
            baseline's, nats; None without a seed.
        seeds_half_width: of the 95 % t-interval of that mean; None for fewer than two seeds.
        rows: the 95 % interval of the difference over other held-out rows; None where the rows
            could not be paired, and ``unpaired`` says why.
    """

    baseline: Arm
    candidate: Arm
    seeds: tuple[int, ...] = ()
    loss_delta: float | None = None
    seeds_half_width: float | None = None
    rows: Interval | None = None
    unpaired: str | None = None

    @property
    def noise(self) -> float | None:
        """Half-width of the noise band, nats: ``sqrt(seeds² + rows²)``; None for one seed."""
        if self.seeds_half_width is None:
            return None
        return math.hypot(self.seeds_half_width, self.rows.half_width if self.rows else 0.0)

    @property
    def interval(self) -> Interval | None:
        """The difference with its 95 % band, nats; for one seed, over the rows alone."""
        if self.noise is None:
            return self.rows
        return Interval(self.loss_delta - self.noise, self.loss_delta + self.noise)

    @property
    def within_noise(self) -> bool | None:
        """Whether the difference is no larger than its noise; None where that was not measured."""
        return None if self.noise is None else abs(self.loss_delta) <= self.noise

    @property
    def undecided(self) -> bool:
        """One seed whose held-out rows alone could turn the sign of the difference."""
        return self.noise is None and self.rows is not None and self.rows.low <= 0 <= self.rows.high

    @property
    def baseline_loss(self) -> float | None:
        return self.baseline.eval_loss("after", self.seeds)

    @property
    def candidate_loss(self) -> float | None:
        return self.candidate.eval_loss("after", self.seeds)


def compare_arms(baseline: Arm, candidate: Arm) -> Comparison:
    """The paired difference of two arms with its noise."""
    seeds = tuple(seed for seed in baseline.judged if seed in candidate.judged)
    if not seeds:
        return Comparison(baseline, candidate)
    pairs = [(baseline.judged[s], candidate.judged[s]) for s in seeds]
    deltas = [c.eval_loss("after") - b.eval_loss("after") for b, c in pairs]
    unpaired = _unpaired([run for pair in pairs for run in pair])
    return Comparison(
        baseline=baseline,
        candidate=candidate,
        seeds=seeds,
        loss_delta=fmean(deltas),
        seeds_half_width=t_half_width(deltas),
        rows=None if unpaired else _rows(pairs),
        unpaired=unpaired,
    )


def _rows(pairs: Sequence[tuple[RunRecord, RunRecord]]) -> Interval | None:
    differences = [
        [c - b for b, c in zip(baseline.eval_rows.losses, candidate.eval_rows.losses, strict=True)]
        for baseline, candidate in pairs
    ]
    return rows_interval(differences, pairs[0][0].eval_rows.tokens)


def _unpaired(runs: Sequence[RunRecord]) -> str | None:
    """Why the held-out rows of these runs cannot be held against each other one by one, or None."""
    if any(r.eval_rows is None or r.facts.eval_sha256 is None for r in runs):
        return say.UNPAIRED_WHY["not kept"]
    if len({r.facts.eval_sha256 for r in runs}) > 1:
        return say.UNPAIRED_WHY["others"]
    if len({r.eval_rows.tokens for r in runs}) > 1:
        return say.UNPAIRED_WHY["tokens"]
    if len(runs[0].eval_rows.tokens) < 2:
        return say.UNPAIRED_WHY["one"]
    return None
