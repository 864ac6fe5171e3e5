"""Cross-entropy over supervised tokens only, without computing the logits of the others."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.data.batches import MicroBatch
from playground.training.chunked import chunked_cross_entropy

CHUNKED = "chunked cross-entropy in fp32, logits never whole"
SELECTED = "torch cross_entropy in fp32, logits at supervised positions only"


def choose_loss_kernel(model: Any) -> str:
    """Which kernel gives ``model`` the loss of its own logits; from then on it is used for it.

    The chunked one reads the head's matrix itself, so the head must be a plain frozen Linear (with
    or without a bias) and what it returns must be the logits: models that scale them or cap them
    softly afterwards (Granite, Cohere, Gemma 2), or that carry an adapter on the head, keep the
    other. Tried, not guessed: a pattern put in the place of the head's output has to come out.
    """
    head = model.get_output_embeddings()
    plain = type(head) is nn.Linear and not any(p.requires_grad for p in head.parameters())
    model.loss_kernel = CHUNKED if plain and _returns_what_its_head_returns(model) else SELECTED
    return model.loss_kernel


@torch.no_grad()
def _returns_what_its_head_returns(model: Any) -> bool:
    head, was_training = model.get_output_embeddings(), model.training
    pattern = torch.linspace(-100, 100, head.out_features).to(head.weight)
    hook = head.register_forward_hook(lambda head, inputs, out: pattern.expand_as(out).clone())
    try:
        model.eval()  # dropout must not draw
        ids = torch.zeros(1, 2, dtype=torch.int64, device=head.weight.device)
        logits = model(input_ids=ids, use_cache=False).logits
    finally:
        hook.remove()
        model.train(was_training)
    return logits.shape[-1:] == pattern.shape and bool((logits == pattern).all())


def summed_loss(model: nn.Module, batch: MicroBatch) -> Tensor:
    """The sum of -log p over the batch's supervised tokens, in nats: () fp32.

    A sum, not a mean, so that the caller divides by the tokens of the whole optimizer step and the
    micro-batching cannot show in the result (but for NVFP4's activations, scaled by micro-batch).
    """
    losses, _ = token_losses(model, batch)
    return losses.sum()


@torch.no_grad()
def row_losses(model: nn.Module, batch: MicroBatch) -> Tensor:
    """``summed_loss`` row by row, without a gradient: (B,) float64 on the CPU, in nats.

    The tokens' losses are those of ``summed_loss``; they are summed in float64, so that a row's
    figure does not depend on what else is in the batch.
    """
    losses, rows = token_losses(model, batch)
    return torch.bincount(rows.cpu(), losses.double().cpu(), minlength=len(batch.labels))


def token_losses(model: nn.Module, batch: MicroBatch) -> tuple[Tensor, Tensor]:
    """-log p of the n supervised tokens, row by row in order, in nats, and the row each is in.

    Padding needs no mask: it stands on the right, where a causal model's tokens do not look, and
    without a mask attention takes its fastest kernel. Packed rows are told apart by their
    positions, which start again at 0.

    Returns:
        (n,) fp32 and (n,) int64.
    """
    flat, targets = batch.supervised()
    chunked = getattr(model, "loss_kernel", SELECTED) == CHUNKED
    positions = {} if batch.position_ids is None else {"position_ids": batch.position_ids}
    with _head_sees_only(model, flat, nothing=chunked) as seen:
        logits = model(input_ids=batch.input_ids, use_cache=False, **positions).logits
    if chunked:
        head = model.get_output_embeddings()
        losses = chunked_cross_entropy(seen.hidden, head.weight, head.bias, targets)
    else:
        losses = F.cross_entropy(logits[0].float(), targets, reduction="none")
    return losses, flat // batch.labels.shape[1]


class _head_sees_only:
    """While active, the output head gets (1, n, hidden): the positions ``flat`` of the batch.

    Whatever a model does to its logits after the head (scaling, soft-capping) still happens, and
    the prompt's and the padding's positions, often most of them, cost nothing.

    nothing: the head gets (1, 0, hidden) instead, and ``hidden`` keeps (n, hidden) for the caller.
    """

    hidden: Tensor

    def __init__(self, model: Any, flat: Tensor, *, nothing: bool) -> None:
        self._head, self._flat, self._nothing = model.get_output_embeddings(), flat, nothing

    def __enter__(self) -> _head_sees_only:
        self._hook = self._head.register_forward_pre_hook(self._select)
        return self

    def __exit__(self, *failure: object) -> None:
        self._hook.remove()

    def _select(self, head: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        hidden, *others = inputs
        picked = hidden.reshape(-1, hidden.shape[-1]).index_select(0, self._flat)
        if self._nothing:
            self.hidden = picked
            picked = picked[:0].detach()
        return (picked.unsqueeze(0), *others)
