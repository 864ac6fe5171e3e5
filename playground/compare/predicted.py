"""What a run said it would take beside what it took, for everybody who shows it."""

from __future__ import annotations

from typing import NamedTuple

from playground.events import Facts

PARTS = ("weights", "adapters", "optimizer", "gradients", "activations", "peak")


class Prediction(NamedTuple):
    """MiB of one part of a run's memory; ``measured`` is None where the run ended before."""

    predicted: float
    measured: float | None

    @property
    def off(self) -> float | None:
        """The prediction's error as a share of what was measured; above 0: it said more."""
        return self.predicted / self.measured - 1 if self.measured else None


def predictions(facts: Facts) -> dict[str, Prediction]:
    """By part, in the order of ``PARTS``; without those that were not predicted."""
    told = {part: getattr(facts, f"predicted_{part}_mib") for part in PARTS}
    return {
        part: Prediction(mib, getattr(facts, f"{part}_mib"))
        for part, mib in told.items()
        if mib is not None
    }
