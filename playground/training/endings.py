"""How a run ended without its result because its figures were no longer finite."""

from __future__ import annotations

import math

from playground.events import Status
from playground.training.optimise import Optimiser, Update

_REMEDY = "lower the learning rate or pick a precision with a larger range."


def diverged(number: int, update: Update, optimiser: Optimiser) -> Status | None:
    """Why training cannot go on after step ``number``, or None.

    A step that the loss scaler skipped is no reason.
    """
    at = f"At step {number}"
    if not math.isfinite(update.loss):
        return _ended(f"{at} the loss became {update.loss}; {_REMEDY}")
    if update.skipped and update.loss_scale is None:
        return _ended(f"{at} the gradients became {update.grad_norm}; {_REMEDY}")
    if optimiser.exhausted:
        return _ended(f"{at} no loss scale was small enough for finite gradients; {_REMEDY}")
    return None


def diverged_after(step: int, loss: float) -> Status:
    """The last update, of step ``step``, broke the model: its held-out loss is not finite."""
    return _ended(f"After step {step} the held-out loss became {loss}; {_REMEDY}")


def all_skipped(optimiser: Optimiser) -> Status:
    """A run that finished its steps, and none of them changed a weight."""
    skipped = optimiser.skipped
    return _ended(
        f"{skipped} of {skipped} updates were skipped, because the gradients overflowed at every "
        "loss scale that was tried, so nothing was learned; set max_steps higher, so that the loss "
        "scale can fall further, or pick a precision with a larger range."
    )


def _ended(error: str) -> Status:
    return Status(status="diverged", error=error, cause="not finite")
