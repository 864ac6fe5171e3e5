"""Cross-entropy behind a frozen head, a few rows of logits at a time.

torch 2.13 has ``linear_cross_entropy``, which is chunked too. It returns loss and gradient in the
head's type: in FP16 a summed loss beyond 65504 is inf, and the gradient is rounded before the loss
scale can save what is small. Here both are kept in fp32 until the scale is known.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from kernels.format import has_values

LOGITS_BYTES = {"cpu": 16 * 2**20, "cuda": 256 * 2**20}
"""Of one chunk in fp32: enough rows that the product runs at full speed, and no more."""

_SHIFT = 2.0**14
"""exp(logit - highest) lies in 0..1; times this, FP16 still tells 1e-11 from 0. Exact, undone."""


def chunked_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor
) -> Tensor:
    """-log p of each target: (n,) fp32, in nats, differentiable in ``hidden`` only.

    The gradient is computed with the loss, while a chunk's logits are there, so no product is made
    twice; of the logits (n, V) never more than ``LOGITS_BYTES`` exist. Products of 16-bit operands
    are summed, kept and exponentiated in fp32.

    Args:
        hidden: (n, H), what the head reads. weight: (V, H), of the same dtype, frozen.
        bias: (V,), frozen. targets: (n,) int64.
    """
    return _ChunkedCrossEntropy.apply(hidden, weight, bias, targets)


class _ChunkedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor
    ) -> Tensor:
        losses = hidden.new_empty(len(hidden), dtype=torch.float32)
        needs_gradient = ctx.needs_input_grad[0]
        gradient = torch.empty_like(hidden, dtype=torch.float32) if needs_gradient else None
        for part in _parts(len(hidden), weight):
            logits = _fp32_product(hidden[part], weight.t())
            if bias is not None:
                logits += bias
            # In place from here on, and the sum is divided by last: a chunk is all that exists.
            logits -= logits.amax(dim=1, keepdim=True)
            of_target = logits.gather(1, targets[part, None])
            total = logits.exp_().sum(dim=1, keepdim=True)
            losses[part] = (total.log() - of_target).squeeze(1)
            if gradient is not None:  # softmax(logits) @ W - W[target]
                gradient[part] = _weighed_rows(logits, weight).div_(total) - weight[targets[part]]
        if gradient is not None:
            ctx.save_for_backward(gradient)
            ctx.dtype = hidden.dtype
        return losses

    @staticmethod
    def backward(ctx: Any, of_losses: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return (gradient * of_losses[:, None]).to(ctx.dtype), None, None, None


def _weighed_rows(shares: Tensor, weight: Tensor) -> Tensor:
    """(M, V) fp32 in 0..1, x (V, H) -> (M, H) fp32."""
    if weight.dtype == torch.float32:
        return shares @ weight
    return _fp32_product(shares.mul_(_SHIFT).to(weight.dtype), weight) / _SHIFT


def _parts(count: int, weight: Tensor) -> list[slice]:
    if not has_values(weight):  # fake logits take no memory, and every chunk takes time
        return [slice(0, count)]
    rows = max(1, LOGITS_BYTES[weight.device.type] // (4 * len(weight)))
    return [slice(start, start + rows) for start in range(0, count, rows)]


def _fp32_product(a: Tensor, b: Tensor) -> Tensor:
    """(M, K) x (K, N) -> (M, N) fp32, summed in fp32 whatever the operands' type."""
    if a.dtype == torch.float32:
        return a @ b
    if a.is_cuda:
        return torch.mm(a, b, out_dtype=torch.float32)
    return a.float() @ b.float()
