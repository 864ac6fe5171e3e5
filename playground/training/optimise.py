"""One optimizer step: token-weighted accumulation, loss scaling, clipping, learning rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from playground.config import TrainingSettings
from playground.data.batches import MicroBatch

SMALLEST_SCALE = 2.0**-14
"""Below this the loss scaler has halved thirty times in vain: nothing makes them finite."""


OPTIMIZER = "AdamW (torch, fused)"


class Update(NamedTuple):
    """What one optimizer step did.

    loss: mean over the step's supervised tokens, in nats.
    grad_norm: before clipping, in the unscaled loss's units; not finite when skipped.
    learning_rate: of this update. loss_scale: that this step's gradients were computed with.
    skipped: the gradients were not finite, so the weights were left as they were.
    """

    loss: float
    grad_norm: float
    learning_rate: float
    loss_scale: float | None
    skipped: bool


class Optimiser:
    """AdamW on the adapter, with a schedule that counts real updates, and a scaler for FP16."""

    def __init__(
        self,
        parameters: list[nn.Parameter],
        settings: TrainingSettings,
        *,
        scales_loss: bool,
        device: torch.device,
    ) -> None:
        self._parameters, self._settings = parameters, settings
        self.adamw = torch.optim.AdamW(
            parameters,
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True,  # one call for all matrices; there are hundreds, and most are small
        )
        self._scaler = torch.amp.GradScaler(device.type, enabled=scales_loss)
        self.updates = self.skipped = 0

    @property
    def exhausted(self) -> bool:
        """The loss scaler has nowhere left to go."""
        return self._scaler.is_enabled() and self._scaler.get_scale() < SMALLEST_SCALE

    def step(
        self, batches: list[MicroBatch], summed_loss: Callable[[MicroBatch], Tensor]
    ) -> Update:
        """Learns from the micro-batches of one optimizer step.

        Each token of the step weighs the same, in whichever micro-batch it is. Without a scaler,
        gradients that are not finite leave the weights alone too; the caller decides what it means.
        """
        tokens = sum(batch.supervised_tokens for batch in batches)
        rate = self._settings.learning_rate * learning_rate_share(self.updates, self._settings)
        for group in self.adamw.param_groups:
            group["lr"] = rate
        scale = self._scaler.get_scale() if self._scaler.is_enabled() else None
        total: Tensor | float = 0.0
        for batch in batches:
            loss = summed_loss(batch) / tokens
            self._scaler.scale(loss).backward()
            # Not read yet: that would make a GPU wait between micro-batches.
            total = total + loss.detach().double()
        self._scaler.unscale_(self.adamw)
        norm = float(nn.utils.clip_grad_norm_(self._parameters, self._settings.max_grad_norm))
        skipped = not math.isfinite(norm)
        if self._scaler.is_enabled():
            self._scaler.step(self.adamw)  # leaves the weights alone when a gradient is not finite
            self._scaler.update()
        elif not skipped:
            self.adamw.step()
        self.adamw.zero_grad(set_to_none=True)
        self.skipped += skipped
        self.updates += not skipped
        return Update(float(total), norm, rate, scale, skipped)

    def state_dict(self) -> dict[str, Any]:
        """Tensors and numbers: all that the next step depends on, the weights aside."""
        return {
            "adamw": self.adamw.state_dict(),
            "scaler": self._scaler.state_dict(),
            "updates": self.updates,
            "skipped": self.skipped,
        }

    def load_state_dict(self, stored: dict[str, Any]) -> None:
        """The next step is what it would have been after ``stored`` was taken."""
        self.adamw.load_state_dict(stored["adamw"])
        if self._scaler.is_enabled():
            self._scaler.load_state_dict(stored["scaler"])
        self.updates, self.skipped = stored["updates"], stored["skipped"]

    def state_tensors(self) -> list[Tensor]:
        """AdamW's moments and counters, which exist after the first real update."""
        states = self.adamw.state.values()
        return [t for state in states for t in state.values() if isinstance(t, Tensor)]


def learning_rate_share(updates: int, settings: TrainingSettings) -> float:
    """Share of the peak learning rate for the update after ``updates`` real ones.

    Rises linearly to 1 over the warm-up, then stays, or falls to 0 in a line or half a cosine.
    """
    warmup = math.ceil(settings.warmup_share * settings.max_steps)
    if updates < warmup:
        return (updates + 1) / warmup
    if settings.schedule == "constant":
        return 1.0
    # The last update is made with a little rate left, not with none.
    done = (updates - warmup) / max(1, settings.max_steps - warmup)
    return 1 - done if settings.schedule == "linear" else (1 + math.cos(math.pi * done)) / 2
