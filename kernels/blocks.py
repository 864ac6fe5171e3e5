"""What a block's size and its scale's kind each buy: E2M1 values under four pairs of the two.

NVFP4 differs from MXFP4 in two ways at once: 16 values to a scale instead of 32, and a scale with a
mantissa (E4M3, below a scale of the tensor) instead of a power of two (E8M0). Here either can be
changed alone. The arithmetic is the formats' own: of 16 and E4M3 it is NVFP4's bit for bit, and of
32 and E8M0 MXFP4's.

    bits a value   4 + 8 / block, whichever the scale's kind: both scales take a byte
"""

from __future__ import annotations

from typing import Literal

import torch

from .format import E2M1_MAX, FLT_MAX, SCALE_BLOCK, NVFP4Tensor, check_input
from .mxfp4 import fake_quantize_e8m0
from .reference import dequantize_nvfp4_reference, pack_codes
from .rounding import round_e2m1
from .scales import block_amax, divide_by_scales, scales_to, tensor_scale_of

ScaleFormat = Literal["e4m3", "e8m0"]


def fake_quantize_blocks(
    x: torch.Tensor,
    *,
    block: int = SCALE_BLOCK,
    scale_format: ScaleFormat = "e4m3",
    tensor_scale: torch.Tensor | float | None = None,
) -> torch.Tensor:
    """The values x would have after E2M1 in blocks of ``block`` with scales of one kind.

    Args:
        x: (..., K) fp32, bf16 or fp16; K a multiple of ``block``.
        block: 16, 32, 48, ... consecutive values along K to a scale.
        scale_format: "e4m3" maps a block's largest value to 6; "e8m0" is MXFP4's rule.
        tensor_scale: for "e4m3"; None takes amax / 2688, and 1.0 is as good as having none.
    Returns:
        Like x.
    Raises:
        ValueError: wrong dtype, K or block; NaN or inf in x (under "e8m0" they give NaN, as in
            MXFP4); a tensor scale for "e8m0", which has none.
    """
    if block < SCALE_BLOCK or block % SCALE_BLOCK:
        raise ValueError(f"block is {block}; pass a multiple of {SCALE_BLOCK}")
    if scale_format == "e8m0":
        if tensor_scale is not None:
            raise ValueError(
                "E8M0 spans fp32's whole range and takes no tensor scale; leave it out"
            )
        return fake_quantize_e8m0(x, block)
    if scale_format != "e4m3":
        raise ValueError(f"scale_format is {scale_format!r}; choose from e4m3, e8m0")
    check_input(x, block)
    rows = x.reshape(-1, x.shape[-1]).to(torch.float32).contiguous()
    scale = tensor_scale_of(rows, tensor_scale, "amax")
    encode = scale.reciprocal().clamp_(max=FLT_MAX)
    amax = block_amax(rows.view(rows.shape[0], -1, block))
    # A wide block's scale stands in each of its sixteens, as a tile's does in each of its rows: so
    # NVFP4's own code divides and decodes.
    bytes_ = scales_to(E2M1_MAX, amax, encode).view(torch.uint8)
    scales = bytes_.repeat_interleave(block // SCALE_BLOCK, 1).view(torch.float8_e4m3fn)
    values = round_e2m1(divide_by_scales(rows, scales, scale))
    packed = NVFP4Tensor(pack_codes(values), scales, scale, tuple(rows.shape))
    return dequantize_nvfp4_reference(packed, x.dtype).view(x.shape)
