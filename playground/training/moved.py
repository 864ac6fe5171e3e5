"""Whether training has moved the adapter at all: one that has not changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.events import Event, Message
from playground.training.adapter import trainable


def silent_layers(model: Any) -> tuple[list[str], int]:
    """Adapted layers whose matrix B is zero, as it was at the start, and how many there are.

    Such a layer adds (alpha / r) B A x = 0 to its base, whatever A became.
    """
    matrices = {name: p for name, p in trainable(model).items() if ".lora_B." in name}
    return [name for name, b in matrices.items() if not b.any()], len(matrices)


def warn_if_silent(model: Any) -> Iterator[Event]:
    """Yields a warning if the adapter, or a part of it, does nothing."""
    silent, there = silent_layers(model)
    if not silent:
        return
    if len(silent) == there:
        text = (
            "The adapter changes nothing: its matrices B are all zero after training, as they were "
            "before. Raise learning_rate or max_steps."
        )
    else:
        text = (
            f"In {len(silent)} of {there} adapted layers the adapter changes nothing: their "
            "matrices B are still zero after training."
        )
    yield Message(level="warning", text=text)
