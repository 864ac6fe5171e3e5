"""Whether a model keeps packed rows apart: tried on the model at hand, before training on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from playground.config import SettingsError
from playground.data.batches import collate, lay_out
from playground.data.tokenise import Example
from playground.training.loss import token_losses

_ROWS = 3
_TOLERANCE = 0.1
"""Mean nats a token. Rounding to 16 or 4 bits moves a token by less; another row in sight, by more.
"""


@torch.no_grad()
def refuse_leaks(
    model: Any, examples: Sequence[Example], pad_id: int, device: torch.device
) -> None:
    """Compares the first rows' losses packed and by themselves.

    Models tell packed rows apart by positions that start again at 0. One that keeps a state along
    the sequence (Mamba and its relatives) or counts positions its own way would let each row see
    the one before.

    Raises:
        SettingsError: this model does.
    """
    rows, was_training = list(examples[:_ROWS]), model.training
    try:
        model.eval()
        packed, _ = token_losses(model, lay_out([rows], pad_id, packed=True).to(device))
        alone = [token_losses(model, collate([row], pad_id).to(device))[0] for row in rows]
    finally:
        model.train(was_training)
    difference = (packed - torch.cat(alone)).abs().mean().item()
    if difference > _TOLERANCE:
        raise SettingsError(
            "packing is true, but in this model packed rows see one another: their losses are "
            f"{difference:.2g} nats a token off those of the same rows alone; set it to false."
        )
