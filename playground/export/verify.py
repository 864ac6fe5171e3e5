"""Whether a model that was loaded again says what the run's own model says, on held-out rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from playground.data.tokenise import IGNORED, Example
from playground.training.compile import uncompiled

ROWS = 8
POSITIONS = 32  # of each row: the logits of a large vocabulary add up

UNIT = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
"""The most that rounding to nearest moves a number, relative to it."""


class Difference(NamedTuple):
    """How far one model's logits are from another's, over the same positions.

    largest: max |a - b|. relative: ||a - b|| / ||b||, over all of them. agreement: share of the
    positions at which both find the same token likeliest.
    """

    positions: int
    largest: float
    relative: float
    agreement: float


def logits_of(
    model: Any, examples: Sequence[Example], check: Callable[[], None] = lambda: None
) -> list[Tensor]:
    """fp32 logits on the CPU, (positions, vocabulary), that predict learned tokens of each row.

    Row by row: NVFP4 scales an activation by its whole batch, so the same rows must stand alone
    here and there.
    """
    found = []
    model.eval()
    with torch.no_grad(), uncompiled():
        for example in examples[:ROWS]:
            check()
            ids = torch.tensor([example.input_ids], device=model.device)
            at = [i - 1 for i, label in enumerate(example.labels) if label != IGNORED and i]
            found.append(model(input_ids=ids).logits[0, at[:POSITIONS]].float().cpu())
    return found


def difference(ours: Sequence[Tensor], reference: Sequence[Tensor]) -> Difference:
    """Of ``logits_of`` two models."""
    a, b = torch.cat(list(ours)).double(), torch.cat(list(reference)).double()
    apart = a - b
    return Difference(
        positions=len(a),
        largest=float(apart.abs().max()),
        relative=float(apart.norm() / b.norm()),
        agreement=float((a.argmax(-1) == b.argmax(-1)).double().mean()),
    )


def objection(found: Difference, tolerance: float, effect: float | None = None) -> str | None:
    """One sentence when a model that was loaded again must not be offered, else None.

    Args:
        effect: ``Difference.relative`` that the adapter makes; what rounding takes away must be
            less than half of it, unless it makes none.
    """
    if not found.relative <= tolerance:  # NaN is no smaller
        return (
            f"What was written does not say what the run's model says (logits {found.relative:.2%} "
            f"off, {tolerance:.2%} allowed), so it was removed; the run's own adapter is untouched."
        )
    if effect and found.relative > effect / 2:
        return (
            "Rounding the merged weights takes away what the adapter has learned: the logits are "
            f"{found.relative:.1e} off, and all of the adapter's effect is {effect:.1e}; "
            "export the adapter instead."
        )
    return None


def merged_tolerance(layers: int, dtype: torch.dtype) -> float:
    """What ``Difference.relative`` a merged model may have to its adapter on unrounded weights.

    Each merged weight is rounded once more, by at most u of itself, and independently. So a layer's
    output is off by less than u of its size, and through L layers the errors add like a random
    walk, to less than sqrt(L) u. (Seen: a tenth of that on tiny, a fifth on SmolLM2.) A merge that
    goes wrong, with the adapter left out or added twice, is off by the adapter's whole effect,
    which is asked for apart.
    """
    return math.sqrt(layers) * UNIT[dtype]
