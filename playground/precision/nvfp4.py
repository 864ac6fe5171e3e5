"""NVFP4 put into layers, by three recipes; the arithmetic is ``kernels/linear.py``'s.

    nvfp4              weights and activations in 4 bits; dgrad through the decoded forward weight,
                       which makes it the exact gradient of what the forward pass multiplied with
    nvfp4-2d           one weight scaled in 16x16 tiles; FP4 products both ways, dY rounded
                       stochastically
    nvfp4-weight-only  weights in 4 bits, everything else in BF16

The frozen weight is quantised once, so its scales can be searched for; an activation is quantised
at every use, once for all the Linears that read it. (Recipes: MLPerf Training v5.1,
llama2_70b_lora; NVIDIA, arXiv 2509.25149.)

An activation's tensor scale is the amax of its whole micro-batch, padding included, as on hardware.
So what else is in the micro-batch shows in how a row is rounded, and a loss depends a little on
``micro_batch_size``: the bundled model's, untrained, on 128 held-out rows lies between 3.987 and
4.009 for 1 to 64 rows at a time, without a trend, where FP16's is 3.9618 for all of them. Within a
comparison every precision has the same micro-batches; across two that differ in them, differences
of that size mean nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from kernels import SCALE_BLOCK, NVFP4Tensor, choose_backend, dequantize_nvfp4, quantize_nvfp4
from kernels.format import swizzle_scales
from kernels.linear import linear_nvfp4, quantize_activation
from kernels.selftest import Shape, self_test, verified
from playground.precision.linear import FrozenLinear
from playground.precision.operands import SharedOperand
from playground.precision.recipe import HowItRuns, Recipe

if TYPE_CHECKING:
    from playground.hardware import Device

_FP4_BACKENDS = ("native", "cublas")


class NVFP4Linear(FrozenLinear):
    """A Linear without a float weight: packed codes and their scales, 4.5 bits a weight."""

    def __init__(
        self, linear: nn.Linear, device: torch.device, operand: SharedOperand, recipe: NVFP4
    ) -> None:
        super().__init__(linear, device)
        self.operand, self.recipe = operand, recipe
        self.backend = choose_backend(device, recipe.name).name
        weight = quantize_nvfp4(
            linear.weight.detach().to(device),
            scaling=recipe.scaling,
            scale_rule=recipe.weight_scale_rule,
        )
        self.register_buffer("codes", weight.codes)
        self.register_buffer("block_scales", weight.block_scales)
        self.register_buffer("tensor_scale", weight.tensor_scale)
        # FP4 tensor cores read scales in tiles: made once, 1/9 more memory, and only where needed.
        tiled = swizzle_scales(weight.block_scales) if self.backend in _FP4_BACKENDS else None
        self.register_buffer("tiled_scales", tiled)
        self.first_seed = operand.first_seed(device) if recipe.rounds_stochastically else None

    @property
    def quantized_weight(self) -> NVFP4Tensor:
        shape = (self.out_features, self.in_features)
        return NVFP4Tensor(self.codes, self.block_scales, self.tensor_scale, shape)

    @property
    def qweight(self) -> Tensor:
        """peft's name for a packed weight; it looks here for the device of the base layer."""
        return self.codes

    def weight_tensors(self) -> list[Tensor]:
        tiled = [] if self.tiled_scales is None else [self.tiled_scales]
        return [self.codes, self.block_scales, self.tensor_scale, *tiled]

    def decoded_weight(self) -> Tensor:
        return dequantize_nvfp4(self.quantized_weight)

    def forward(self, x: Tensor) -> Tensor:
        return linear_nvfp4(
            x,
            self.quantized_weight,
            self.bias,
            recipe=self.recipe.name,
            operand=self.operand.get(x, self._quantized) if self.recipe.rounds_activations else [],
            tiled_scales=self.tiled_scales,
            seed=None if self.first_seed is None else self.operand.seed(self.first_seed),
            backend=self.backend,
        )

    def _quantized(self, x: Tensor) -> list[Tensor]:
        rule = self.recipe.activation_scale_rule
        return quantize_activation(x, scale_rule=rule, backend=self.backend)

    def _apply(self, fn, recurse=True):  # type: ignore[no-untyped-def]
        super()._apply(fn, recurse)
        if (
            self.block_scales.dtype != torch.float8_e4m3fn
            or self.tensor_scale.dtype != torch.float32
        ):
            raise TypeError(
                "an NVFP4 weight has no other dtype: move it with .to(device), "
                "or read its values with decoded_weight()"
            )
        return self


@dataclass(frozen=True)
class NVFP4(Recipe):
    """One of the three recipes; ``name`` says which.

    weight_scale_rule: ``search`` takes each block's best E4M3 scale; it costs only at load time.
    activation_scale_rule: how an activation's block scales are chosen, at every use. ``amax`` is
        what TransformerEngine does. ``four_over_six`` errs a fifth less on Gaussian values, but on
        SmolLM2 it left the loss where it was (4.9725 against 4.9723, from 4.678 in fp32) and made
        an emulated step an eighth slower.
    """

    weight_scale_rule: str = "search"
    activation_scale_rule: str = "amax"

    @property
    def scaling(self) -> str:
        """2D tiles round a weight and its transpose alike, which FP4 products both ways need."""
        return "2d" if self.name == "nvfp4-2d" else "1d"

    @property
    def rounds_activations(self) -> bool:
        return self.name != "nvfp4-weight-only"

    @property
    def rounds_stochastically(self) -> bool:
        return self.name == "nvfp4-2d"

    def refuses(self, linear: nn.Linear) -> str | None:
        if linear.in_features % SCALE_BLOCK:
            return f"its {linear.in_features} input features are not a multiple of {SCALE_BLOCK}"
        if self.scaling == "2d" and linear.out_features % SCALE_BLOCK:
            return f"its {linear.out_features} output features are not a multiple of {SCALE_BLOCK}"
        return None

    def convert(self, linear: nn.Linear, device: torch.device, operand: SharedOperand) -> nn.Linear:
        return NVFP4Linear(linear, device, operand, self)

    def self_test(
        self, device: torch.device, shapes: tuple[Shape, ...], cache: Path | None
    ) -> list[str]:
        if device.type != "cuda":
            return []
        if cache is None:
            found = self_test(device, self.name, shapes)
        else:
            found = verified(device, self.name, shapes, cache=cache)
        return [v.reason if v.passed else f"{v.backend} is off: {v.reason}" for v in found]

    def how(self, device: Device) -> HowItRuns:
        place = torch.device("cuda", device.index or 0) if device.kind == "cuda" else "cpu"
        backend = choose_backend(place, self.name)
        return HowItRuns(self.name, backend.how, backend.reason)


RECIPE = NVFP4("nvfp4", torch.bfloat16)
RECIPE_2D = NVFP4("nvfp4-2d", torch.bfloat16)
RECIPE_WEIGHT_ONLY = NVFP4("nvfp4-weight-only", torch.bfloat16)
