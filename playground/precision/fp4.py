"""4-bit formats put into layers; the arithmetic is ``kernels/linear.py``'s.

The frozen weight is quantised once; an activation is quantised at every use, once for all the
Linears that read it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from kernels import choose_backend, linear_fp4, quantize_activation, round_to
from kernels.format import swizzle_scales
from kernels.mxfp4 import PackedTensor, packed
from playground.precision.linear import PackedLinear
from playground.precision.operands import SharedOperand
from playground.precision.quantized import Quantized

_FP4_BACKENDS = ("native", "cublas")


class FP4Linear(PackedLinear):
    """A Linear whose weight is 4-bit codes and the scales of their blocks."""

    def __init__(
        self, linear: nn.Linear, device: torch.device, operand: SharedOperand, recipe: FP4
    ) -> None:
        super().__init__(linear, device)
        self.operand, self.recipe = operand, recipe
        self.backend = choose_backend(device, recipe.name).name
        weight = recipe.quantize_weight(linear.weight.detach().to(device))
        self.register_buffer("codes", weight.codes)
        self.register_buffer("block_scales", weight.block_scales)
        self.register_buffer("tensor_scale", weight.tensor_scale)
        # FP4 tensor cores read scales in tiles: made once, at most 1/9 more memory, where needed.
        tiled = swizzle_scales(weight.block_scales) if self.backend in _FP4_BACKENDS else None
        self.register_buffer("tiled_scales", tiled)
        self.first_seed = operand.first_seed(device) if recipe.rounds_stochastically else None

    @property
    def quantized_weight(self) -> PackedTensor:
        return packed(self.codes, self.block_scales, self.tensor_scale)

    def weight_tensors(self) -> list[Tensor]:
        parts = (self.codes, self.block_scales, self.tensor_scale, self.tiled_scales)
        return [part for part in parts if part is not None]

    def decoded_weight(self) -> Tensor:
        return self.quantized_weight.dequantize()

    def forward(self, x: Tensor) -> Tensor:
        return linear_fp4(
            x,
            self.quantized_weight,
            self.bias,
            recipe=self.recipe.name,
            operand=self.operand.get(x, self._quantized) if self.recipe.rounds_activations else [],
            tiled_scales=self.tiled_scales,
            rounding="nearest" if self.first_seed is None else "stochastic",
            seed=None if self.first_seed is None else self.operand.seed(self.first_seed),
            backend=self.backend,
        )

    def rounded_activation(self, x: Tensor) -> Tensor:
        if not self.recipe.rounds_activations:
            return round_to(x, "bf16")
        rule = self.recipe.activation_rule
        return quantize_activation(
            x, recipe=self.recipe.name, scale_rule=rule, backend="reference"
        )[0]

    def rounded_gradient(self, dy: Tensor) -> Tensor:
        dy = round_to(dy, "bf16")
        if not self.recipe.rounds_gradients:
            return dy
        # The operator that the emulated dgrad calls, so that no second account of it can differ.
        seed = None if self.first_seed is None else self.operand.seed(self.first_seed)
        return torch.ops.fp4_playground.fake_quantize(dy, self.recipe.block, "amax", seed)

    def _quantized(self, x: Tensor) -> list[Tensor]:
        return quantize_activation(
            x,
            recipe=self.recipe.name,
            scale_rule=self.recipe.activation_rule,
            backend=self.backend,
        )


@dataclass(frozen=True)
class FP4(Quantized):
    """What the 4-bit recipes share. A subclass says how a weight is packed.

    block: values along K that share a scale.
    """

    block: ClassVar[int]

    @abstractmethod
    def quantize_weight(self, weight: Tensor) -> PackedTensor:
        """(N, K), a frozen weight, packed once."""

    @property
    def rounds_activations(self) -> bool:
        return True

    @property
    def rounds_gradients(self) -> bool:
        """Whether dY is rounded to 4 bits, so that dgrad is a 4-bit product too."""
        return False

    @property
    def rounds_stochastically(self) -> bool:
        """Whether dY is so rounded, which takes a seed for each layer and pass."""
        return False

    def refuses_shape(self, n: int, k: int) -> str | None:
        if k % self.block:
            return f"its {k} input features are not a multiple of {self.block}"
        return None

    def convert(self, linear: nn.Linear, device: torch.device, operand: SharedOperand) -> nn.Linear:
        return FP4Linear(linear, device, operand, self)
