"""Quantisation to MXFP4 in Triton: one launch, for there is no tensor scale to find first.

Same bytes as ``mxfp4.py``. A block with a NaN or inf gets E8M0's NaN, 0xFF, for a scale, so that it
shows in the product.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from .codec import e2m1_code_nearest
from .mxfp4 import MX_BLOCK
from .quantize import store_codes, store_scales

BLOCK_M, BLOCK_K, NUM_WARPS = 16, 128, 4


@triton.jit
def _quantize_mxfp4_kernel(
    x_ptr,
    codes_ptr,
    scales_ptr,
    M,
    K,
    stride_m,
    stride_k,
    SWIZZLED: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    BLOCKS: tl.constexpr = BLOCK_K // 32
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1).to(tl.int64) * BLOCK_K + tl.arange(0, BLOCK_K)
    inside = (rows < M)[:, None] & (columns < K)[None, :]
    at = x_ptr + rows[:, None] * stride_m + columns[None, :] * stride_k
    x = tl.load(at, mask=inside, other=0.0).to(tl.float32)  # (BLOCK_M, BLOCK_K)

    # Magnitudes as integers: NaN above infinity above all else, and the exponent on top.
    bits = x.to(tl.int32, bitcast=True) & 0x7FFFFFFF
    amax = tl.max(tl.reshape(bits, (BLOCK_M, BLOCKS, 32)), axis=2)
    byte = tl.maximum((amax >> 23) - 2, 0)
    inverse = ((254 - byte) << 23).to(tl.float32, bitcast=True)  # 2^(127 - byte)
    byte = tl.where(amax >= 0x7F800000, 255, byte)
    wide = tl.broadcast_to(inverse[:, :, None], (BLOCK_M, BLOCKS, 32))
    code = e2m1_code_nearest(x * tl.reshape(wide, (BLOCK_M, BLOCK_K)))

    store_codes(codes_ptr, code, rows, M, K, BLOCK_M, BLOCK_K)
    blocks = tl.program_id(1).to(tl.int64) * BLOCKS + tl.arange(0, BLOCKS)
    store_scales(scales_ptr, byte, rows, blocks, M, K // 32, SWIZZLED)


def quantize_mxfp4_triton(
    x: torch.Tensor, *, swizzled: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Packs a matrix in MXFP4 on its own device, without waiting for it.

    Args:
        x: (M, K) fp32, bf16 or fp16, any strides, K a multiple of 32.
        swizzled: write the scales in the 128x4 tiling that FP4 matrix units read.
    Returns:
        codes (M, K // 2) uint8; E8M0 scales as uint8, (M, K // 32) or flat in tiles of 512 bytes.
    """
    m, k = x.shape
    count = k // MX_BLOCK
    rows, columns = (-(-m // 128) * 128, -(-count // 4) * 4) if swizzled else (m, count)
    codes = torch.empty(m, k // 2, dtype=torch.uint8, device=x.device)
    size = (rows * columns,) if swizzled else (m, count)
    scales = torch.empty(size, dtype=torch.uint8, device=x.device)
    if x.numel():
        grid = (triton.cdiv(rows, BLOCK_M), triton.cdiv(columns * MX_BLOCK, BLOCK_K))
        _quantize_mxfp4_kernel[grid](
            x,
            codes,
            scales,
            m,
            k,
            *x.stride(),
            SWIZZLED=swizzled,
            BLOCK_M=BLOCK_M,
            BLOCK_K=BLOCK_K,
            num_warps=NUM_WARPS,
        )
    return codes, scales
