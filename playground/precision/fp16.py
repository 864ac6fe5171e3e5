"""FP16: fine steps, a small range. Its gradients need loss scaling."""

import torch

from playground.precision.sixteen_bit import SixteenBit

RECIPE = SixteenBit("fp16", torch.float16, scales_loss=True, native_from=7.0)
