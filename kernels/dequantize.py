"""Decoding NVFP4 and MXFP4 in Triton: to fp32, bf16 or fp16, as stored or transposed.

A decoded value is exact in fp32 up to the last product, with the tensor scale, and is rounded to
the wanted type once after it: the same bits as ``reference.py``. The transpose is written from the
same codes, so the backward pass needs no second packed copy of a weight.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from .codec import e2m1_value, scale_value
from .format import SCALE_BLOCK, NVFP4Tensor
from .mxfp4 import PackedTensor

BLOCK_M, BLOCK_K, NUM_WARPS = 32, 64, 4


@triton.jit
def decode_tile(codes, scales, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    """Values over the tensor scale, at most 6 significant bits: exact in fp32 and bf16.

    In fp16 NVFP4's are exact too, and MXFP4's where a block's scale is from 2^-23 to 2^13.

    Args:
        codes: (BLOCK_M, BLOCK_K // 2) uint8.
        scales: (BLOCK_M, BLOCK_K // GROUP) uint8.
    Returns:
        (BLOCK_M, BLOCK_K) fp32.
    """
    byte = codes.to(tl.int32)
    value = tl.reshape(tl.join(e2m1_value(byte), e2m1_value(byte >> 4)), (BLOCK_M, BLOCK_K))
    scale = scale_value(scales.to(tl.int32), GROUP)
    wide = tl.broadcast_to(scale[:, :, None], (BLOCK_M, BLOCK_K // GROUP, GROUP))
    return value * tl.reshape(wide, (BLOCK_M, BLOCK_K))


@triton.jit
def round_to_bf16(x):
    """fp32 -> bf16, ties to even, in integers: the interpreter's cast truncates. NaN stays NaN."""
    bits = x.to(tl.int32, bitcast=True)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    rounded = tl.where(x == x, rounded, 0x7FC0)
    return rounded.to(tl.int16).to(tl.bfloat16, bitcast=True)


@triton.jit
def _dequantize_kernel(
    codes_ptr,
    scales_ptr,
    tensor_scale_ptr,
    out_ptr,
    M,
    K,
    stride_m,
    stride_k,
    HAS_TENSOR_SCALE: tl.constexpr,
    GROUP: tl.constexpr,  # values to a scale: 16 in NVFP4, 32 in MXFP4
    BLOCK_M: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    halves = tl.program_id(1).to(tl.int64) * (BLOCK_K // 2) + tl.arange(0, BLOCK_K // 2)
    blocks = tl.program_id(1).to(tl.int64) * (BLOCK_K // GROUP) + tl.arange(0, BLOCK_K // GROUP)
    columns = tl.program_id(1).to(tl.int64) * BLOCK_K + tl.arange(0, BLOCK_K)
    row_fits = (rows < M)[:, None]

    code_fits = row_fits & (halves < K // 2)[None, :]
    codes = tl.load(codes_ptr + rows[:, None] * (K // 2) + halves[None, :], mask=code_fits, other=0)
    scale_fits = row_fits & (blocks < K // GROUP)[None, :]
    scales = tl.load(
        scales_ptr + rows[:, None] * (K // GROUP) + blocks[None, :], mask=scale_fits, other=0
    )
    value = decode_tile(codes, scales, BLOCK_M, BLOCK_K, GROUP)
    if HAS_TENSOR_SCALE:
        value *= tl.load(tensor_scale_ptr)

    at = out_ptr + rows[:, None] * stride_m + columns[None, :] * stride_k
    if out_ptr.dtype.element_ty == tl.bfloat16:
        value = round_to_bf16(value)
    tl.store(at, value.to(out_ptr.dtype.element_ty), mask=row_fits & (columns < K)[None, :])


def dequantize_triton(
    q: PackedTensor, dtype: torch.dtype = torch.float32, *, transpose: bool = False
) -> torch.Tensor:
    """The (M, K) values of a packed tensor, or with ``transpose`` the (K, M) ones, contiguous."""
    m, k = q.shape
    out = torch.empty((k, m) if transpose else (m, k), dtype=dtype, device=q.device)
    if out.numel() == 0:
        return out
    strides = reversed(out.stride()) if transpose else out.stride()
    _dequantize_kernel[(triton.cdiv(m, BLOCK_M), triton.cdiv(k, BLOCK_K))](
        q.codes,
        q.block_scales.view(torch.uint8),
        q.tensor_scale,
        out,
        m,
        k,
        *strides,
        HAS_TENSOR_SCALE=q.tensor_scale is not None,
        GROUP=q.group,
        BLOCK_M=BLOCK_M,
        BLOCK_K=BLOCK_K,
        num_warps=NUM_WARPS,
        enable_fp_fusion=False,
    )
    return out


@triton.jit
def _transpose_codes_kernel(codes_ptr, out_ptr, M, K, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    halves = tl.program_id(1).to(tl.int64) * (BLOCK_K // 2) + tl.arange(0, BLOCK_K // 2)
    fits = (rows < M)[:, None] & (halves < K // 2)[None, :]
    byte = tl.load(codes_ptr + rows[:, None] * (K // 2) + halves[None, :], mask=fits, other=0)
    byte = byte.to(tl.int32)
    codes = tl.reshape(tl.join(byte & 15, byte >> 4), (BLOCK_M, BLOCK_K))
    low, high = tl.split(tl.reshape(tl.trans(codes), (BLOCK_K, BLOCK_M // 2, 2)))
    columns = tl.program_id(1).to(tl.int64) * BLOCK_K + tl.arange(0, BLOCK_K)
    pairs = tl.program_id(0).to(tl.int64) * (BLOCK_M // 2) + tl.arange(0, BLOCK_M // 2)
    fits = (columns < K)[:, None] & (pairs < M // 2)[None, :]
    at = out_ptr + columns[:, None] * (M // 2) + pairs[None, :]
    tl.store(at, (low | (high << 4)).to(tl.uint8), mask=fits)


def transpose_nvfp4_2d(q: NVFP4Tensor) -> NVFP4Tensor:
    """The transpose of a matrix packed with 2D scaling: the same values, blocks along M now.

    Made when it is needed and dropped again, so that the weight is held once.

    Args:
        q: (M, K), M a multiple of 16, all 16 rows of a tile with the same scale.
    Returns:
        (K, M).
    """
    m, k = q.shape
    codes = torch.empty(k, m // 2, dtype=torch.uint8, device=q.device)
    if codes.numel():
        _transpose_codes_kernel[(triton.cdiv(m, BLOCK_M), triton.cdiv(k, BLOCK_K))](
            q.codes, codes, m, k, BLOCK_M=BLOCK_M, BLOCK_K=BLOCK_K, num_warps=NUM_WARPS
        )
    tiles = q.block_scales.view(torch.uint8)[::SCALE_BLOCK].t()
    scales = tiles.repeat_interleave(SCALE_BLOCK, 0).view(torch.float8_e4m3fn)
    return NVFP4Tensor(codes, scales, q.tensor_scale, (k, m))
