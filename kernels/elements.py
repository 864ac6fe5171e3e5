"""A packed tensor looked at value by value: what was rounded, which code it got, under which scale.

Tensors are packed for machines: two codes to a byte, scales in another array. Here every value has
its own code and scale beside it, in the formats' own arithmetic, for people to look at.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from .format import SCALE_BLOCK, NVFP4Tensor
from .fp8 import FP8Tensor
from .mxfp4 import MX_BLOCK, MXFP4Tensor, divide_by_e8m0, e8m0_values
from .nf4 import NF4_BLOCK, NF4Tensor, divide_by_absmax
from .rounding import fp8_values
from .scales import divide_by_scales

Packed = NVFP4Tensor | MXFP4Tensor | NF4Tensor | FP8Tensor


class Elements(NamedTuple):
    """Of a matrix of shape (M, K), each part (M, K) on its device.

    Attributes:
        scaled: fp32, the value over its scale or scales: what was rounded to the format's grid,
            before it was clamped to it.
        codes: uint8, 0 to 15; of FP8 the byte.
        decoded: fp32, what the code means in place.
        scales: fp32, the exact scale of the value's block; of FP8 that of the tensor.
        scale_codes: uint8, the byte that holds it (E4M3's or E8M0's); None where it is an fp32.
    """

    scaled: Tensor
    codes: Tensor
    decoded: Tensor
    scales: Tensor
    scale_codes: Tensor | None


def elements(x: Tensor, packed: Packed) -> Elements:
    """The values of ``x`` beside what ``packed``, made of it, holds for each.

    Args:
        x: (M, K) fp32, bf16 or fp16.
    Raises:
        ValueError: the shapes differ.
    """
    if tuple(x.shape) != tuple(packed.shape):
        raise ValueError(
            f"x is {tuple(x.shape)} and what was packed {tuple(packed.shape)}; pass the same matrix"
        )
    x = x.to(torch.float32).contiguous()
    if isinstance(packed, NVFP4Tensor):
        return _nvfp4(x, packed)
    if isinstance(packed, MXFP4Tensor):
        return _mxfp4(x, packed)
    if isinstance(packed, NF4Tensor):
        return _nf4(x, packed)
    scaled = x * packed.scale.reciprocal()  # a power of two, so exact
    scales = packed.scale.expand(x.shape)
    return Elements(scaled, packed.codes.view(torch.uint8), packed.dequantize(), scales, None)


def _nvfp4(x: Tensor, q: NVFP4Tensor) -> Elements:
    scaled = divide_by_scales(x, q.block_scales, q.tensor_scale)
    bytes_ = q.block_scales.view(torch.uint8).repeat_interleave(SCALE_BLOCK, 1)
    scales = fp8_values(q.block_scales).repeat_interleave(SCALE_BLOCK, 1)
    return Elements(scaled, _low_first(q.codes), q.dequantize(), scales, bytes_)


def _mxfp4(x: Tensor, q: MXFP4Tensor) -> Elements:
    bytes_ = q.block_scales.repeat_interleave(MX_BLOCK, 1)
    scaled = divide_by_e8m0(x, q.block_scales)
    return Elements(scaled, _low_first(q.codes), q.dequantize(), e8m0_values(bytes_), bytes_)


def _nf4(x: Tensor, q: NF4Tensor) -> Elements:
    count = x.numel()
    blocks = F.pad(x.reshape(-1), (0, -count % NF4_BLOCK)).view(-1, NF4_BLOCK)
    scaled = divide_by_absmax(blocks, q.absmax).view(-1)[:count].view(x.shape)
    codes = torch.stack([q.codes >> 4, q.codes & 15], 1).view(-1)[:count].view(x.shape)
    scales = q.absmax.repeat_interleave(NF4_BLOCK)[:count].view(x.shape)
    return Elements(scaled, codes, q.dequantize(), scales, None)


def _low_first(codes: Tensor) -> Tensor:
    """(M, K // 2) bytes to (M, K) codes, the even column from the low nibble."""
    return torch.stack([codes & 15, codes >> 4], 2).view(codes.shape[0], -1)
