"""The finished adapter on other bases, and what merging it into one costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from playground.compare import sentences as say
from playground.compare.arms import Arm, mean_of
from playground.compare.words import joined
from playground.config import PRECISIONS

_MOST_TOLD = 8


class _Part(NamedTuple):
    """A clause of a sentence, and how large the change is that it tells of, nats."""

    text: str
    change: float


def cross_losses(arm: Arm) -> dict[tuple[str, bool], float]:
    """Mean held-out loss by (base, merged) over the arm's finished runs, nats.

    The adapter on the base it ended its training on is the run's own evaluation.
    """
    found: dict[tuple[str, bool], list[float]] = {}
    for run in arm.finished:
        for evaluation in run.cross:
            found.setdefault((evaluation.base, evaluation.merged), []).append(evaluation.loss)
    means = {key: mean_of(losses) for key, losses in found.items()}
    own, after = (own_base(arm), False), arm.eval_loss("after")
    return means if not means or after is None else {own: after} | means


def own_base(arm: Arm) -> str:
    """The precision an arm ended in: what it healed to, if it did."""
    return next((r.facts.healed_to for r in arm.finished if r.facts.healed_to), arm.precision)


def cross_sentences(all_arms: Sequence[Arm]) -> list[str]:
    """How the adapters do on other bases, then what merging them costs."""
    on_others = _told([part for arm in all_arms for part in _on_others(arm)])
    merged = _told([part for arm in all_arms for part in _merged(arm)])
    sentences = []
    if on_others:
        sentences.append(say.ON_ANOTHER.format(parts=joined(on_others, ";")))
    if merged:
        sentences.append(say.MERGING.format(parts=joined(merged, ";")))
    return sentences


def _told(parts: Sequence[_Part]) -> list[str]:
    """Each; of very many only those with the largest change, for the table has them all."""
    if len(parts) <= _MOST_TOLD:
        return [part.text for part in parts]
    largest = sorted(parts, key=lambda part: -part.change)[:_MOST_TOLD]
    told = [part.text for part in parts if part in largest]
    left = len(parts) - len(told)
    return [*told, say.OTHERS_LESS.format(count=left) if left > 1 else say.ANOTHER_LESS]


def _on_others(arm: Arm) -> list[_Part]:
    found, own = cross_losses(arm), arm.eval_loss("after")
    return [
        _Part(
            say.ON_OTHER.format(label=arm.label, loss=loss, base=_label(base), own=own),
            _size(loss - own),
        )
        for (base, merged), loss in found.items()
        if not merged and base != own_base(arm) and own is not None
    ]


def _merged(arm: Arm) -> list[_Part]:
    """Against the same base where the adapter was judged there too, else against its own."""
    found, own = cross_losses(arm), arm.eval_loss("after")
    parts = []
    for (base, merged), loss in found.items():
        if not merged or own is None:
            continue
        on = base if (base, False) in found else own_base(arm)
        apart = found.get((on, False), own)
        if not math.isfinite(loss):
            said = say.MERGED_NOT_FINITE.format(label=arm.label, base=_label(base))
            parts.append(_Part(said, math.inf))
            continue
        change = loss - apart
        nothing = round(change, 4) == 0
        cost = say.COSTS_NOTHING if nothing else say.COSTS if change > 0 else say.SAVES
        text = say.MERGED.format(
            label=arm.label,
            base=_label(base),
            cost=cost.format(change=abs(change)),
            loss=loss,
            on=_label(on),
            apart=apart,
        )
        parts.append(_Part(text, _size(change)))
    return parts


def _size(change: float) -> float:
    return abs(change) if math.isfinite(change) else math.inf


def _label(base: str) -> str:
    return PRECISIONS[base].label
