"""Why a run ended without its result, in one sentence each."""

from __future__ import annotations

import math

from playground.training.optimise import Optimiser, Update

REMEDY = "lower the learning rate or pick a precision with a larger range."


def diverged(update: Update, optimiser: Optimiser) -> str | None:
    """Why training cannot go on, or None; a step that the loss scaler skipped is no reason."""
    if not math.isfinite(update.loss):
        return f"the loss became {update.loss}; {REMEDY}"
    if update.skipped and update.loss_scale is None:
        return f"the gradients became {update.grad_norm}; {REMEDY}"
    if optimiser.exhausted:
        return f"no loss scale was small enough for finite gradients; {REMEDY}"
    return None


def all_skipped(optimiser: Optimiser) -> str:
    """A run that finished its steps, and none of them changed a weight."""
    skipped = optimiser.skipped
    return (
        f"{skipped} of {skipped} updates were skipped, because the gradients overflowed at every "
        "loss scale that was tried, so nothing was learned; set max_steps higher, so that the loss "
        "scale can fall further, or pick a precision with a larger range."
    )
