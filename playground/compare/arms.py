"""The arms of a comparison: a precision each, with the runs of its seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median, stdev

from playground.compare.records import RunRecord
from playground.config import PRECISIONS


@dataclass(frozen=True)
class Arm:
    """One precision of a comparison. ``runs`` are in the order in which they ran, one a seed."""

    precision: str
    runs: tuple[RunRecord, ...]

    @property
    def label(self) -> str:
        return self.runs[0].label

    @property
    def healed(self) -> bool:
        """A finished run of it ended in a wider precision than its own."""
        return any(r.facts.healed_at_step is not None for r in self.finished)

    @property
    def storage_bits(self) -> float:
        return PRECISIONS[self.precision].storage_bits

    @cached_property
    def finished(self) -> tuple[RunRecord, ...]:
        return tuple(r for r in self.runs if r.status == "finished")

    @cached_property
    def judged(self) -> dict[int, RunRecord]:
        """By seed, the finished runs whose final held-out loss is a number."""
        after = {r.seed: (r, r.eval_loss("after")) for r in self.finished}
        return {s: r for s, (r, loss) in after.items() if loss is not None and math.isfinite(loss)}

    def eval_loss(self, when: str, seeds: Sequence[int] | None = None) -> float | None:
        """Mean held-out loss of the finished runs (of ``seeds``), nats; None if none has one."""
        chosen = [r for r in self.finished if seeds is None or r.seed in seeds]
        return mean_of([r.eval_loss(when) for r in chosen])

    def eval_spread(self, when: str = "after") -> float | None:
        """Standard deviation of the held-out loss over seeds; None for fewer than two."""
        return spread_of([r.eval_loss(when) for r in self.finished])

    def exact_match(self, when: str) -> float | None:
        return mean_of([r.exact_match(when) for r in self.finished])

    @property
    def skipped_updates(self) -> int:
        return sum(r.skipped_updates for r in self.finished)

    @property
    def real(self) -> bool:
        """Every finished run ran for real: native or weight-only, not emulated."""
        return bool(self.finished) and all(
            r.facts.how in ("native", "weight-only") for r in self.finished
        )

    @property
    def tokens_per_s(self) -> list[float]:
        """Throughput of every timed step of every seed."""
        return [s.tokens_per_s for r in self.finished for s in r.timed_steps]

    @property
    def tokens_per_s_median(self) -> float | None:
        return median(self.tokens_per_s) if self.tokens_per_s else None

    @property
    def peak_mib(self) -> float | None:
        """The highest peak of its seeds."""
        known = [r.facts.peak_mib for r in self.finished if r.facts.peak_mib is not None]
        return max(known) if known else None

    @property
    def joules_per_token(self) -> float | None:
        """Mean over the seeds; None unless energy was measured in each."""
        found = [r.joules_per_token for r in self.finished]
        return None if None in found else mean_of(found)


def arms(records: Sequence[RunRecord]) -> list[Arm]:
    """The runs of a group by the precision that was asked for, in the order of its first runs."""
    names = dict.fromkeys(r.config.precision for r in records)
    return [Arm(n, tuple(r for r in records if r.config.precision == n)) for n in names]


def several_seeds(records: Sequence[RunRecord]) -> bool:
    return len({r.seed for r in records}) > 1


def mean_of(values: Sequence[float | None]) -> float | None:
    """The mean of those that are known; None if none is."""
    known = [v for v in values if v is not None]
    return fmean(known) if known else None


def spread_of(values: Sequence[float | None]) -> float | None:
    """The sample's standard deviation; None for fewer than two, or where one is not finite."""
    known = [v for v in values if v is not None and math.isfinite(v)]
    return stdev(known) if len(known) > 1 else None
