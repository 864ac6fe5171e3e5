"""Whether a model keeps packed rows apart: tried on the model at hand, before training on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from playground.config import SettingsError
from playground.data.batches import lay_out
from playground.data.tokenise import Example
from playground.training.loss import token_losses

_TOKENS = 32


def refuse_leaks(
    model: Any, examples: Sequence[Example], pad_id: int, device: torch.device
) -> None:
    """Asks how the loss of one row depends on the row packed before it: the gradient must be 0.

    Models tell packed rows apart by positions that start again at 0. One that carries a state along
    the sequence (Mamba and its relatives) or counts positions its own way lets each row see the one
    before. Unlike the loss, the gradient is exactly 0 in every precision, or there is a leak.

    Raises:
        SettingsError: the model mixes packed rows.
    """
    ids = [example.input_ids[:_TOKENS] for example in (examples[0], examples[-1])]
    rows = [Example(row, list(row), [], None) for row in ids]
    batch = lay_out([rows], pad_id, packed=True).to(device)
    embedded: list[Tensor] = []

    def watch(module: Any, inputs: Any, output: Tensor) -> Tensor:
        embedded.append(output.detach().requires_grad_())
        return embedded[-1]

    was_training = model.training
    hook = model.get_input_embeddings().register_forward_hook(watch)
    try:
        model.eval()
        losses, _ = token_losses(model, batch)
    finally:
        hook.remove()
        model.train(was_training)
    of_the_second = losses[len(ids[0]) - 1 :].sum()
    (gradient,) = torch.autograd.grad(of_the_second, embedded[-1])
    if bool((gradient[0, : len(ids[0])] != 0).any()):
        raise SettingsError(
            "packing is true, but this model lets a packed row see the one before it; "
            "set packing to false."
        )
