"""What it took to reach a target: steps, tokens, seconds and joules until a held-out loss.

As in MLPerf Training ("time to train to a quality target", Mattson et al., arXiv 1910.01500), but
what is counted is training alone: evaluations are left out of the seconds and joules, and a
warm-up step, which also pays for caches and compilation, counts as one of the others. The
loss is looked at only when it is evaluated, so a target is passed somewhere in the last interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from playground.compare import sentences as say
from playground.compare.arms import Arm
from playground.compare.records import RunRecord
from playground.compare.words import joined, plural
from playground.events import Step


@dataclass(frozen=True)
class TimeToTarget:
    """Up to the first evaluation at or below the target.

    Attributes:
        loss: what that evaluation found, nats.
        seconds / joules: of the training steps; joules None where energy was not measured.
        since_step: the evaluation before, which was above the target; None if it was the first.
    """

    target_loss: float
    loss: float
    steps: int
    tokens: int
    seconds: float
    joules: float | None
    since_step: int | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def time_to_target(record: RunRecord) -> TimeToTarget | None:
    """What reaching ``measure.target_loss`` took; None if it is not set or was not reached."""
    target = record.config.measure.target_loss
    if target is None:
        return None
    before = None
    for evaluation in record.evals:
        if evaluation.loss <= target:
            steps = [s for s in record.steps if s.step <= evaluation.step]
            return TimeToTarget(
                target_loss=target,
                loss=evaluation.loss,
                steps=evaluation.step,
                tokens=sum(s.tokens for s in steps),
                seconds=_seconds(record, steps),
                joules=_joules(record, steps),
                since_step=before,
            )
        before = evaluation.step
    return None


def _seconds(record: RunRecord, steps: Sequence[Step]) -> float:
    usual = record.step_ms_median  # None: there are no others to take the measure from
    return sum(usual if s.warmup and usual is not None else s.step_ms for s in steps) / 1000


def _joules(record: RunRecord, steps: Sequence[Step]) -> float | None:
    """A warm-up step counts as the mean: of single steps' energy the median says little."""
    per_token, timed = record.joules_per_token, record.timed_steps
    if per_token is None:
        return None
    usual = per_token * sum(s.tokens for s in timed) / len(timed)
    return sum(usual if s.warmup else s.energy_j or 0.0 for s in steps)


_UNITS: dict[str, Callable[[float], str]] = {
    "steps": lambda mean: plural(mean, "step"),
    "tokens": lambda mean: plural(round(mean), "token"),
    "seconds": "{:,.1f} s".format,
    "joules": "{:,.0f} J".format,
}


@dataclass(frozen=True)
class _Reached:
    """An arm's means over the seeds that reached the target."""

    arm: Arm
    found: list[TimeToTarget]

    def mean(self, what: str) -> float | None:
        values = [getattr(one, what) for one in self.found]
        return None if not values or None in values else fmean(values)

    @property
    def everywhere(self) -> bool:
        return len(self.found) == len(self.arm.finished)


def target_sentence(all_arms: Sequence[Arm]) -> str | None:
    """What each precision took to the target; seconds and joules only where all ran for real.

    Ratios are against the first arm, and only where both reached the target in every seed.
    """
    config = all_arms[0].runs[0].config
    target, every = config.measure.target_loss, config.training.eval_every
    if target is None:
        return None
    steps = plural(every, "step")
    looked = say.LOOKED_EVERY.format(steps=steps) if every else say.LOOKED_AT_ENDS
    real = all(arm.real for arm in all_arms)
    reached = [
        _Reached(arm, [t for r in arm.finished if (t := time_to_target(r))]) for arm in all_arms
    ]
    alike: dict[str, list[str]] = {}  # by what they took, in the order of the arms
    for one in reached:
        alike.setdefault(_took(one, reached[0], real), []).append(one.arm.label)
    parts = [say.TOOK.format(labels=joined(names), took=took) for took, names in alike.items()]
    apart = "" if real else say.TARGET_APART
    return say.TO_TARGET.format(target=target, looked=looked, parts=joined(parts, ";"), apart=apart)


def _took(one: _Reached, first: _Reached, real: bool) -> str:
    if not one.found:
        return say.NEVER
    means = {what: one.mean(what) for what in _UNITS if real or what in ("steps", "tokens")}
    took = say.COMMA.join(_UNITS[what](mean) for what, mean in means.items() if mean is not None)
    if not one.everywhere:
        reached, seeds = len(one.found), len(one.arm.finished)
        return say.IN_SEEDS.format(took=took, reached=reached, seeds=seeds)
    return took + _ratios(one, first, [what for what in means if what != "tokens"])


def _ratios(one: _Reached, first: _Reached, units: Sequence[str]) -> str:
    if one is first or not (one.everywhere and first.everywhere):
        return ""
    pairs = {what: (one.mean(what), first.mean(what)) for what in units}
    if all(a == b for a, b in pairs.values()):
        return ""
    known = {what: a / b for what, (a, b) in pairs.items() if a and b}
    shapes = [say.RATIO_FIRST, *[say.RATIO] * len(known)]
    parts = [
        shape.format(ratio=known[what], label=first.arm.label, what=say.WHAT[what])
        for what, shape in zip(known, shapes, strict=False)
    ]
    return say.RATIOS.format(parts=say.COMMA.join(parts)) if parts else ""
