"""FP32: nothing is rounded. The yardstick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.precision.linear import FrozenLinear
from playground.precision.operands import SharedOperand
from playground.precision.recipe import HowItRuns, Recipe

if TYPE_CHECKING:
    from playground.hardware import Device


class FP32Linear(FrozenLinear):
    """A frozen Linear in fp32."""

    def __init__(self, linear: nn.Linear, device: torch.device) -> None:
        super().__init__(linear, device)
        weight = linear.weight.detach().to(device=device, dtype=torch.float32)
        self.weight = nn.Parameter(weight, requires_grad=False)

    def weight_tensors(self) -> list[Tensor]:
        return [self.weight]

    def decoded_weight(self) -> Tensor:
        return self.weight

    def rounded_activation(self, x: Tensor) -> Tensor:
        return x

    def rounded_gradient(self, dy: Tensor) -> Tensor:
        return dy

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


class FP32(Recipe):
    """Recipe of the yardstick."""

    def convert(self, linear: nn.Linear, device: torch.device, operand: SharedOperand) -> nn.Linear:
        return FP32Linear(linear, device)

    def how(self, device: Device) -> HowItRuns:
        return HowItRuns(self.name, "native", f"FP32 products on {device.name}.")


RECIPE = FP32("fp32", torch.float32)
