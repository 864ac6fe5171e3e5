"""Stop and Pause as the loop hears them: also in the middle of a pass that takes many seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_layers import GradientCheckpointingLayer


class Stopped(Exception):
    """Someone asked to stop in the middle of something."""


def listen_within_passes(model: nn.Module, device: torch.device, check: Callable[[], None]) -> None:
    """From now on ``check`` is called at each transformer block, forward and backward, in training.

    Only on a CPU, where one pass of a real model takes longer than a person who pressed Stop will
    wait; what is computed stays the same. A GPU's pass is over sooner, and its compiled blocks
    would have to be left for the question.

    Args:
        check: raises to give up; it comes out of the forward or the backward pass.
    """
    if device.type != "cpu":
        return

    def ask(block: nn.Module, inputs: tuple[Any, ...]) -> None:
        if not block.training:
            return
        check()
        hidden = inputs[0] if inputs else None
        if isinstance(hidden, Tensor) and hidden.requires_grad:
            hidden.register_hook(lambda gradient: check())

    for module in model.modules():
        if isinstance(module, GradientCheckpointingLayer):  # what a transformers model is built of
            module.register_forward_pre_hook(ask)
