"""BF16: FP32's range in two bytes, coarser steps."""

import torch

from playground.precision.sixteen_bit import SixteenBit

RECIPE = SixteenBit("bf16", torch.bfloat16, native_from=8.0)
