"""MXFP4 put into layers: the format NVFP4 is compared with, by the same recipe as ``nvfp4``.

Weights and activations in 4 bits, a power of two (E8M0) for every 32 values along K; dgrad through
the decoded forward weight. There is no tensor scale, so a row is rounded alike whatever else its
micro-batch holds. (Format: Open Compute Project, Microscaling Formats specification 1.0.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from kernels import MX_BLOCK, MXFP4Tensor, quantize_mxfp4
from playground.precision.fp4 import FP4


@dataclass(frozen=True)
class MXFP4(FP4):
    """The recipe. A block's scale follows from its largest value: there is nothing to choose."""

    block: ClassVar[int] = MX_BLOCK

    def quantize_weight(self, weight: Tensor) -> MXFP4Tensor:
        return quantize_mxfp4(weight)


RECIPE = MXFP4("mxfp4", torch.bfloat16)
