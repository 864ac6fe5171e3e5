"""FP16 and BF16 Linears: two bytes a weight, 16-bit products on a GPU, emulated on a CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from kernels import round_to
from kernels.format import has_values
from playground.precision.linear import FrozenLinear
from playground.precision.operands import SharedOperand
from playground.precision.recipe import HowItRuns, Recipe

if TYPE_CHECKING:
    from playground.hardware import Device

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


class SixteenBitLinear(FrozenLinear):
    """On a CPU: operands rounded to 16 bits, product in fp32, result rounded to 16 bits.

    So an FP16 product beyond 65504 becomes inf and a small dY becomes 0, as on hardware.
    """

    def __init__(
        self, linear: nn.Linear, format: str, device: torch.device, operand: SharedOperand
    ) -> None:
        super().__init__(linear, device)
        self.format, self.operand = format, operand
        self.emulated = device.type != "cuda"
        weight = linear.weight.detach().to(device=device, dtype=DTYPES[format])
        self.weight = nn.Parameter(weight, requires_grad=False)

    def weight_tensors(self) -> list[Tensor]:
        return [self.weight]

    def decoded_weight(self) -> Tensor:
        return self.weight.float()

    def forward(self, x: Tensor) -> Tensor:
        if not self.emulated:
            bias = None if self.bias is None else self.bias.to(self.weight.dtype)
            return F.linear(x.to(self.weight.dtype), self.weight, bias).to(x.dtype)
        return super().forward(x)

    def fprop(self, x: Tensor) -> Tensor:
        rounded = self.operand.get(x, lambda x: round_to(x, self.format))
        return round_to(F.linear(rounded, self.decoded_weight(), self.bias), self.format)

    def dgrad(self, dy: Tensor) -> Tensor:
        return round_to(round_to(dy, self.format) @ self.decoded_weight(), self.format)

    def rounded_activation(self, x: Tensor) -> Tensor:
        return round_to(x, self.format)

    def rounded_gradient(self, dy: Tensor) -> Tensor:
        return round_to(dy, self.format)


@dataclass(frozen=True)
class SixteenBit(Recipe):
    """Recipe of both 16-bit formats.

    native_from: the first CUDA compute capability whose tensor cores multiply this format.
    """

    native_from: float = 7.0
    labels: ClassVar[dict[str, str]] = {"fp16": "FP16", "bf16": "BF16"}

    def refuses(self, linear: nn.Linear) -> str | None:
        if not has_values(linear.weight):
            return None
        largest = torch.finfo(self.compute_dtype).max
        amax = linear.weight.detach().abs().amax().item()
        if amax > largest:
            return f"its weight reaches {amax:.3g}, beyond {self.labels[self.name]}'s {largest:.3g}"
        return None

    def convert(self, linear: nn.Linear, device: torch.device, operand: SharedOperand) -> nn.Linear:
        return SixteenBitLinear(linear, self.name, device, operand)

    def how(self, device: Device) -> HowItRuns:
        label = self.labels[self.name]
        if device.kind != "cuda":
            reason = (
                f"Without a GPU, {label} is emulated: operands and results are rounded to {label}, "
                "products are summed in FP32."
            )
            return HowItRuns(self.name, "emulated", reason)
        if float(device.compute_capability or 0) < self.native_from:
            reason = f"{device.name} has no {label} tensor cores, so its products are emulated."
            return HowItRuns(self.name, "emulated", reason)
        return HowItRuns(self.name, "native", f"{label} products on {device.name}'s tensor cores.")
