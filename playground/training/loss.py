"""Cross-entropy over supervised tokens only, without computing the logits of the others."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.data.batches import MicroBatch
from playground.data.tokenise import IGNORED

LOSS_KERNEL = "torch cross_entropy in fp32, logits at supervised positions only"


def summed_loss(model: nn.Module, batch: MicroBatch) -> Tensor:
    """The sum of -log p over the batch's supervised tokens, in nats: () fp32.

    A sum, not a mean, so that the caller divides by the tokens of the whole optimizer step and the
    micro-batching cannot show in the result (but for NVFP4's activations, scaled by micro-batch).
    """
    losses, _ = _token_losses(model, batch, reduction="sum")
    return losses


@torch.no_grad()
def row_losses(model: nn.Module, batch: MicroBatch) -> Tensor:
    """``summed_loss`` row by row, without a gradient: (B,) float64 on the CPU, in nats.

    The tokens' losses are those of ``summed_loss``; they are summed in float64, so that a row's
    figure does not depend on what else is in the batch.
    """
    losses, rows = _token_losses(model, batch, reduction="none")
    return torch.bincount(rows.cpu(), losses.double().cpu(), minlength=len(batch.labels))


def _token_losses(model: nn.Module, batch: MicroBatch, reduction: str) -> tuple[Tensor, Tensor]:
    """-log p of the n supervised tokens, reduced, in fp32, and the row each is in: (n,) int64."""
    rows, columns = (batch.labels[:, 1:] != IGNORED).nonzero(as_tuple=True)
    targets = batch.labels[rows, columns + 1]
    flat = rows * batch.labels.shape[1] + columns
    with _head_sees_only(model, flat):
        logits = model(
            input_ids=batch.input_ids, attention_mask=batch.attention_mask, use_cache=False
        ).logits
    return F.cross_entropy(logits[0].float(), targets, reduction=reduction), rows


class _head_sees_only:
    """While active, the output head gets (1, n, hidden): the positions ``flat`` of the batch.

    Whatever a model does to its logits after the head (scaling, soft-capping) still happens, and
    the prompt's and the padding's positions, often most of them, cost nothing.
    """

    def __init__(self, model: Any, flat: Tensor) -> None:
        self._head, self._flat = model.get_output_embeddings(), flat

    def __enter__(self) -> None:
        self._hook = self._head.register_forward_pre_hook(self._select)

    def __exit__(self, *failure: object) -> None:
        self._hook.remove()

    def _select(self, head: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        hidden, *others = inputs
        picked = hidden.reshape(-1, hidden.shape[-1]).index_select(0, self._flat)
        return (picked.unsqueeze(0), *others)
