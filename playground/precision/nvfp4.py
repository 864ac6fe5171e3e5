"""NVFP4: 4-bit weights and activations in the forward pass, 16 bits in the backward pass.

The frozen weight is quantised once, so its scales can be searched for; an activation is quantised
at every use. dgrad goes through the decoded forward weight, which makes it the exact gradient of
what the forward pass multiplied with; only dY is rounded, to BF16. (Recipes: MLPerf Training v5.1,
llama2_70b_lora; NVIDIA, arXiv 2509.25149.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kernels import NVFP4Tensor, dequantize_nvfp4, fake_quantize_nvfp4, quantize_nvfp4, round_to
from kernels.dispatch import choose_backend
from playground.precision.linear import FrozenLinear
from playground.precision.operands import SharedOperand
from playground.precision.recipe import HowItRuns, Recipe

if TYPE_CHECKING:
    from playground.hardware import Device

SCALE_BLOCK = 16


class NVFP4Linear(FrozenLinear):
    """A Linear without a float weight: packed codes and their scales, 4.5 bits a weight."""

    def __init__(
        self,
        linear: nn.Linear,
        device: torch.device,
        operand: SharedOperand,
        *,
        weight_scale_rule: str,
        activation_scale_rule: str,
    ) -> None:
        super().__init__(linear, device)
        self.operand, self.activation_scale_rule = operand, activation_scale_rule
        weight = quantize_nvfp4(linear.weight.detach().to(device), scale_rule=weight_scale_rule)
        self.register_buffer("codes", weight.codes)
        self.register_buffer("block_scales", weight.block_scales)
        self.register_buffer("tensor_scale", weight.tensor_scale)

    @property
    def quantized_weight(self) -> NVFP4Tensor:
        shape = (self.out_features, self.in_features)
        return NVFP4Tensor(self.codes, self.block_scales, self.tensor_scale, shape)

    @property
    def qweight(self) -> Tensor:
        """peft's name for a packed weight; it looks here for the device of the base layer."""
        return self.codes

    def weight_tensors(self) -> list[Tensor]:
        return [self.codes, self.block_scales, self.tensor_scale]

    def decoded_weight(self) -> Tensor:
        return dequantize_nvfp4(self.quantized_weight)

    def fprop(self, x: Tensor) -> Tensor:
        bias = None if self.bias is None else self.bias.float()
        y = F.linear(self.operand.get(x, self._quantized), self.decoded_weight(), bias)
        return round_to(y, "bf16").to(x.dtype)

    def dgrad(self, dy: Tensor) -> Tensor:
        return round_to(round_to(dy, "bf16") @ self.decoded_weight(), "bf16").to(dy.dtype)

    def _quantized(self, x: Tensor) -> Tensor:
        if not all(torch.isfinite(end) for end in torch.aminmax(x)):
            # One NaN takes the tensor's scale with it, on hardware as here; the loss will say so.
            return torch.full_like(x, torch.nan, dtype=torch.float32)
        return fake_quantize_nvfp4(x.float(), scale_rule=self.activation_scale_rule)

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
    """W4A4 forward, dgrad through the decoded forward weight.

    weight_scale_rule: ``search`` takes each block's best E4M3 scale; it costs only at load time.
    activation_scale_rule: how an activation's block scales are chosen, at every use. ``amax`` is
        what TransformerEngine does. ``four_over_six`` errs a fifth less on Gaussian values, but on
        SmolLM2 it left the loss where it was (4.9725 against 4.9723, from 4.678 in fp32) and made
        an emulated step an eighth slower.
    """

    weight_scale_rule: str = "search"
    activation_scale_rule: str = "amax"

    def refuses(self, linear: nn.Linear) -> str | None:
        if linear.in_features % SCALE_BLOCK:
            return f"its {linear.in_features} input features are not a multiple of {SCALE_BLOCK}"
        return None

    def convert(self, linear: nn.Linear, device: torch.device, operand: SharedOperand) -> nn.Linear:
        return NVFP4Linear(
            linear,
            device,
            operand,
            weight_scale_rule=self.weight_scale_rule,
            activation_scale_rule=self.activation_scale_rule,
        )

    def how(self, device: Device) -> HowItRuns:
        backend = choose_backend(torch.device(device.kind))
        return HowItRuns(self.name, backend.how, backend.reason)


RECIPE = NVFP4("nvfp4", torch.bfloat16)
