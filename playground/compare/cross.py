"""The finished adapter on other bases, and what merging it into one loses."""

from __future__ import annotations

from collections.abc import Sequence

from playground.compare.arms import Arm, mean_of
from playground.compare.words import signed
from playground.config import PRECISIONS

FOUR_BITS = 5.0
"""Below this many bits a weight, a step of the format's grid is large beside an adapter."""


def cross_losses(arm: Arm) -> dict[tuple[str, bool], float]:
    """Mean held-out loss by (base, merged) over the arm's finished runs, nats.

    The adapter on the base it was trained on is the run's own evaluation.
    """
    found: dict[tuple[str, bool], list[float]] = {}
    for run in arm.finished:
        for evaluation in run.cross:
            found.setdefault((evaluation.base, evaluation.merged), []).append(evaluation.loss)
    means = {key: mean_of(losses) for key, losses in found.items()}
    own, after = (arm.precision, False), arm.eval_loss("after")
    return means if not means or after is None else {own: after} | means


def cross_sentences(all_arms: Sequence[Arm]) -> list[str]:
    """What was found on the other bases, then what merging loses."""
    apart = [s for arm in all_arms if (s := _bases(arm))]
    return apart + [s for arm in all_arms if (s := _merging(arm))]


def _bases(arm: Arm) -> str | None:
    found = cross_losses(arm)
    others = [
        f"{loss:.4f} on {PRECISIONS[base].label}"
        for (base, merged), loss in found.items()
        if not merged and base != arm.precision
    ]
    if not others:
        return None
    own = found.get((arm.precision, False))
    beside = f", {own:.4f} on its own" if own is not None else ""
    return f"{arm.label}'s adapter on other bases: {', '.join(others)}{beside}."


def _merging(arm: Arm) -> str | None:
    found = cross_losses(arm)
    own = found.get((arm.precision, False))
    merged = {base: loss for (base, is_merged), loss in found.items() if is_merged}
    if own is None or not merged:
        return None
    parts = []
    for base, loss in merged.items():
        info = PRECISIONS[base]
        into = f"{info.label}'s 4-bit weights" if info.storage_bits < FOUR_BITS else info.label
        word = "loses" if loss >= own else "gains"
        parts.append(f"into {into} it {word} {signed(abs(loss - own))} nats ({loss:.4f})")
    return f"{arm.label}'s adapter apart has {own:.4f}; merged {', '.join(parts)}."
