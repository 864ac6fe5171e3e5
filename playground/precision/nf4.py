"""NF4 put into layers: QLoRA's storage format, weight-only; the codes are ``kernels/nf4.py``'s.

A weight is decoded to BF16 at every use and everything else is BF16, which is all that hardware can
do with values from a table. On a GPU bitsandbytes' kernels decode it where they are installed, else
our own code does, from the same table and to the same values; the run says which.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from kernels import NF4Tensor, choose_backend, linear_nf4, quantize_nf4, round_to
from playground.precision.linear import PackedLinear
from playground.precision.operands import SharedOperand
from playground.precision.quantized import Quantized


class NF4Linear(PackedLinear):
    """A Linear whose weight is 4-bit indices into a table and a scale to 64."""

    def __init__(self, linear: nn.Linear, device: torch.device, recipe: NF4) -> None:
        super().__init__(linear, device)
        self.backend = choose_backend(device, recipe.name).name
        weight = quantize_nf4(linear.weight.detach().to(device))
        self.register_buffer("codes", weight.codes)
        self.register_buffer("absmax", weight.absmax)

    @property
    def quantized_weight(self) -> NF4Tensor:
        return NF4Tensor(self.codes, self.absmax, (self.out_features, self.in_features))

    def weight_tensors(self) -> list[Tensor]:
        return [self.codes, self.absmax]

    def decoded_weight(self) -> Tensor:
        """As it is multiplied: rounded to BF16, in fp32."""
        return self.quantized_weight.dequantize(torch.bfloat16).float()

    def forward(self, x: Tensor) -> Tensor:
        return linear_nf4(x, self.quantized_weight, self.bias, backend=self.backend)

    def rounded_activation(self, x: Tensor) -> Tensor:
        return round_to(x, "bf16")

    def rounded_gradient(self, dy: Tensor) -> Tensor:
        return round_to(dy, "bf16")


@dataclass(frozen=True)
class NF4(Quantized):
    """The recipe. Any shape can be packed: blocks of 64 run on from row to row."""

    def convert(self, linear: nn.Linear, device: torch.device, operand: SharedOperand) -> nn.Linear:
        return NF4Linear(linear, device, self)


RECIPE = NF4("nf4", torch.bfloat16)
