"""NVFP4 put into layers, by three recipes.

    nvfp4              weights and activations in 4 bits; dgrad through the decoded forward weight,
                       which makes it the exact gradient of what the forward pass multiplied with
    nvfp4-2d           one weight scaled in 16x16 tiles; FP4 products both ways, dY rounded
                       stochastically
    nvfp4-weight-only  weights in 4 bits, everything else in BF16

The frozen weight is quantised once, so its scales can be searched for. (Recipes: MLPerf Training
v5.1, llama2_70b_lora; NVIDIA, arXiv 2509.25149.)

An activation's tensor scale is the amax of its whole micro-batch, padding included, as on hardware.
So what else is in the micro-batch shows in how a row is rounded, and a loss depends a little on
``micro_batch_size``: the bundled model's, untrained, on 128 held-out rows lies between 3.987 and
4.009 for 1 to 64 rows at a time, without a trend, where FP16's is 3.9618 for all of them. Within a
comparison every precision has the same micro-batches; across two that differ in them, differences
of that size mean nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Tensor

from kernels import SCALE_BLOCK, NVFP4Tensor, quantize_nvfp4
from playground.config import QuantizationSettings
from playground.precision.fp4 import FP4


@dataclass(frozen=True)
class NVFP4(FP4):
    """One of the three recipes; ``name`` says which.

    weight_scale_rule: ``search`` takes each block's best E4M3 scale; it costs only at load time.
    gradient_rounding: of dY where it is rounded to 4 bits (``nvfp4-2d``).
    activation_scale_rule: ``amax`` is what TransformerEngine does. ``four_over_six`` errs a fifth
        less on Gaussian values, but fine-tuned SmolLM2 ended at the same loss with it (0.1378
        against 0.1377, 0.0650 in fp32), and emulated it takes two to three times as long a value.
    """

    block: ClassVar[int] = SCALE_BLOCK
    weight_scale_rule: str = "search"
    activation_scale_rule: str = "amax"
    gradient_rounding: str = "stochastic"

    def with_options(self, settings: QuantizationSettings) -> Self:
        return replace(
            super().with_options(settings),
            weight_scale_rule=settings.weight_scale_rule,
            activation_scale_rule=settings.activation_scale_rule,
            gradient_rounding=settings.gradient_rounding,
        )

    @property
    def scaling(self) -> str:
        """2D tiles round a weight and its transpose alike, which FP4 products both ways need."""
        return "2d" if self.name == "nvfp4-2d" else "1d"

    @property
    def rounds_activations(self) -> bool:
        return self.name != "nvfp4-weight-only"

    @property
    def rounds_gradients(self) -> bool:
        return self.name == "nvfp4-2d"

    @property
    def rounds_stochastically(self) -> bool:
        return self.rounds_gradients and self.gradient_rounding == "stochastic"

    @property
    def activation_rule(self) -> str:
        return self.activation_scale_rule

    def quantize_weight(self, weight: Tensor) -> NVFP4Tensor:
        return quantize_nvfp4(weight, scaling=self.scaling, scale_rule=self.weight_scale_rule)

    def refuses_shape(self, n: int, k: int) -> str | None:
        if self.scaling == "2d" and n % SCALE_BLOCK:
            return f"its {n} output features are not a multiple of {SCALE_BLOCK}"
        return super().refuses_shape(n, k)


RECIPE = NVFP4("nvfp4", torch.bfloat16)
RECIPE_2D = NVFP4("nvfp4-2d", torch.bfloat16)
RECIPE_WEIGHT_ONLY = NVFP4("nvfp4-weight-only", torch.bfloat16)
