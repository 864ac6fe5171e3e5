"""FP8 put into layers: E4M3 forward, E5M2 or E4M3 for dY; the arithmetic is ``kernels/fp8.py``'s.

A weight takes one byte a value and four for its scale, and there is one copy of it for both
directions. Activations and gradients have a scale for each token.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from kernels import (
    FP8Tensor,
    choose_backend,
    fake_quantize_fp8,
    linear_fp8,
    quantize_fp8,
    quantize_fp8_operand,
    round_to,
)
from kernels.fp8 import FP8_ALIGNMENT
from playground.config import QuantizationSettings
from playground.precision.linear import PackedLinear
from playground.precision.operands import SharedOperand
from playground.precision.quantized import Quantized


class FP8Linear(PackedLinear):
    """A Linear whose weight is E4M3 codes and one scale."""

    def __init__(
        self, linear: nn.Linear, device: torch.device, operand: SharedOperand, recipe: FP8
    ) -> None:
        super().__init__(linear, device)
        self.operand, self.recipe = operand, recipe
        self.backend = choose_backend(device, recipe.name).name
        weight = quantize_fp8(linear.weight.detach().to(device))
        self.register_buffer("codes", weight.codes)
        self.register_buffer("scale", weight.scale)

    @property
    def quantized_weight(self) -> FP8Tensor:
        return FP8Tensor(self.codes, self.scale)

    def weight_tensors(self) -> list[Tensor]:
        return [self.codes, self.scale]

    def decoded_weight(self) -> Tensor:
        return self.quantized_weight.dequantize()

    def forward(self, x: Tensor) -> Tensor:
        return linear_fp8(
            x,
            self.quantized_weight,
            self.bias,
            operand=self.operand.get(x, lambda x: quantize_fp8_operand(x, backend=self.backend)),
            gradients=self.recipe.gradients,
            backend=self.backend,
        )

    def rounded_activation(self, x: Tensor) -> Tensor:
        return fake_quantize_fp8(x)

    def rounded_gradient(self, dy: Tensor) -> Tensor:
        return fake_quantize_fp8(round_to(dy, "bf16"), self.recipe.gradients)


@dataclass(frozen=True)
class FP8(Quantized):
    """The recipe. gradients: the format that dY is rounded to."""

    gradients: str = "e5m2"

    def with_options(self, settings: QuantizationSettings) -> Self:
        return replace(super().with_options(settings), gradients=settings.fp8_gradients)

    def refuses_shape(self, n: int, k: int) -> str | None:
        for size, what in ((k, "input"), (n, "output")):
            if size % FP8_ALIGNMENT:
                return f"its {size} {what} features are not a multiple of {FP8_ALIGNMENT}"
        return None

    def convert(self, linear: nn.Linear, device: torch.device, operand: SharedOperand) -> nn.Linear:
        return FP8Linear(linear, device, operand, self)


RECIPE = FP8("fp8", torch.bfloat16)
