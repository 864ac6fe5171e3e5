"""How far rounding is off: two numbers for a tensor and what a format made of it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class RoundingError(NamedTuple):
    """relative_error: ||rounded - exact|| / ||exact||, Frobenius norms; 0 where both are zero.
    zeroed_share: share of the elements that were not zero and were rounded to it."""

    relative_error: float
    zeroed_share: float


@torch.no_grad()
def rounding_error(exact: Tensor, rounded: Tensor) -> RoundingError:
    """Compares two tensors of one shape, summed in float64. NaN or inf in them gives NaN or inf.

    Args:
        exact: any float dtype; taken to ``rounded``'s device.
    """
    exact = exact.detach().to(device=rounded.device, dtype=torch.float32)
    rounded = rounded.detach().to(torch.float32)
    size, error = _norm(exact), _norm(rounded - exact)
    relative = error / size if size or error != error else float("inf") if error else 0.0
    present = int((exact != 0).sum())
    zeroed = int(((exact != 0) & (rounded == 0)).sum())
    return RoundingError(relative, zeroed / present if present else 0.0)


def _norm(tensor: Tensor) -> float:
    # In fp32 the squares of a gradient under 1e-23 would all be zero.
    return float(torch.linalg.vector_norm(tensor, dtype=torch.float64))
