"""4-bit formats put into layers; the arithmetic is ``kernels/linear.py``'s.

The frozen weight is quantised once; an activation is quantised at every use, once for all the
Linears that read it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from kernels import choose_backend, linear_fp4, quantize_activation, round_to
from kernels.format import swizzle_scales
from kernels.mxfp4 import PackedTensor, packed
from kernels.selftest import Shape, self_test, verified
from playground.precision.linear import FrozenLinear
from playground.precision.operands import SharedOperand
from playground.precision.recipe import HowItRuns, Recipe

if TYPE_CHECKING:
    from playground.hardware import Device

_FP4_BACKENDS = ("native", "cublas")


class FP4Linear(FrozenLinear):
    """A Linear without a float weight: packed codes and their scales."""

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

    @property
    def qweight(self) -> Tensor:
        """peft's name for a packed weight; it looks here for the device of the base layer."""
        return self.codes

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
            seed=None if self.first_seed is None else self.operand.seed(self.first_seed),
            backend=self.backend,
        )

    def rounded_activation(self, x: Tensor) -> Tensor:
        if not self.recipe.rounds_activations:
            return round_to(x, "bf16")
        rule = self.recipe.activation_scale_rule
        return quantize_activation(
            x, recipe=self.recipe.name, scale_rule=rule, backend="reference"
        )[0]

    def rounded_gradient(self, dy: Tensor) -> Tensor:
        dy = round_to(dy, "bf16")
        if self.first_seed is None:
            return dy
        # The operator that the emulated dgrad calls, so that no second account of it can differ.
        seed = self.operand.seed(self.first_seed)
        return torch.ops.fp4_playground.fake_quantize(dy, self.recipe.block, "amax", seed)

    def _quantized(self, x: Tensor) -> list[Tensor]:
        return quantize_activation(
            x,
            recipe=self.recipe.name,
            scale_rule=self.recipe.activation_scale_rule,
            backend=self.backend,
        )

    def _apply(self, fn, recurse=True):  # type: ignore[no-untyped-def]
        before = [part.dtype for part in self.weight_tensors()]
        super()._apply(fn, recurse)
        if [part.dtype for part in self.weight_tensors()] != before:
            raise TypeError(
                "a packed 4-bit weight has no other dtype: move it with .to(device), "
                "or read its values with decoded_weight()"
            )
        return self


@dataclass(frozen=True)
class FP4(Recipe):
    """What the 4-bit recipes share. A subclass says how a weight is packed.

    block: values along K that share a scale.
    activation_scale_rule: how an activation's block scales are chosen, at every use.
    """

    block: ClassVar[int]
    activation_scale_rule: str = "amax"

    @abstractmethod
    def quantize_weight(self, weight: Tensor) -> PackedTensor:
        """(N, K), a frozen weight, packed once."""

    @property
    def rounds_activations(self) -> bool:
        return True

    @property
    def rounds_stochastically(self) -> bool:
        """Whether dY is, which takes a seed for each layer and pass."""
        return False

    def refuses(self, linear: nn.Linear) -> str | None:
        if linear.in_features % self.block:
            return f"its {linear.in_features} input features are not a multiple of {self.block}"
        return None

    def convert(self, linear: nn.Linear, device: torch.device, operand: SharedOperand) -> nn.Linear:
        return FP4Linear(linear, device, operand, self)

    def self_test(
        self, device: torch.device, shapes: tuple[Shape, ...], cache: Path | None
    ) -> list[str]:
        if device.type != "cuda":
            return []
        # Layers of other widths stay in the compute type.
        shapes = tuple(shape for shape in shapes if shape[2] % self.block == 0)
        if cache is None:
            found = self_test(device, self.name, shapes)
        else:
            found = verified(device, self.name, shapes, cache=cache)
        return [v.reason if v.passed else f"{v.backend} is off: {v.reason}" for v in found]

    def how(self, device: Device) -> HowItRuns:
        place = torch.device("cuda", device.index or 0) if device.kind == "cuda" else "cpu"
        backend = choose_backend(place, self.name)
        return HowItRuns(self.name, backend.how, backend.reason)
