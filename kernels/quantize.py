"""Quantisation to NVFP4 in Triton: a pass over x for its amax, and one for everything else.

Same bytes as ``reference.py`` for every rule, scaling and rounding. The amax pass leaves a partial
maximum for each program and the second pass reduces those itself: so two launches, no atomics,
nothing to clear, and the tensor scale never visits the host. A small x, or a given tensor scale,
takes one launch.

A NaN or inf in x makes the tensor scale NaN or inf: the host is not waited for to refuse it, it
shows in the decoded values and thus in the loss, where the run's finite check reports it.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from .codec import (
    e2m1_code_nearest,
    e2m1_code_stochastic,
    e2m1_value,
    e4m3_byte,
    e4m3_value,
    random_word,
    sum_neighbours,
)
from .format import SCALE_BLOCK
from .scales import SEARCH_STEPS, ScaleRule, Scaling, scale_bound

AMAX_PROGRAMS = 512
"""Partial maxima at most: few enough that each program of the second pass can read them all."""
WHOLE_AMAX = 65536
"""Up to so many values each program finds the amax of all x itself, from the cache: one launch."""
BLOCK_M, BLOCK_K, NUM_WARPS = 16, 128, 4

_FIRST_STEP = min(SEARCH_STEPS)
_LAST_STEP = max(SEARCH_STEPS)


@triton.jit
def _amax_bits(
    x_ptr,
    M,
    K,
    stride_m,
    stride_k,
    first,
    step,
    BLOCK_M: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Largest magnitude of every ``step``-th tile of x from ``first`` on, as the bits of an fp32.

    Compared as integers, because then NaN is above infinity and infinity above all else.
    """
    wide = (K + BLOCK_K - 1) // BLOCK_K
    tiles = ((M + BLOCK_M - 1) // BLOCK_M) * wide
    largest = tl.full((BLOCK_M, BLOCK_K), 0, tl.int32)
    for tile in range(first, tiles, step):
        rows = (tile // wide).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
        columns = (tile % wide).to(tl.int64) * BLOCK_K + tl.arange(0, BLOCK_K)
        inside = (rows < M)[:, None] & (columns < K)[None, :]
        at = x_ptr + rows[:, None] * stride_m + columns[None, :] * stride_k
        x = tl.load(at, mask=inside, other=0.0).to(tl.float32)
        largest = tl.maximum(largest, x.to(tl.int32, bitcast=True) & 0x7FFFFFFF)
    return tl.max(tl.max(largest, axis=1), axis=0)


@triton.jit
def _amax_kernel(
    x_ptr,
    partial_ptr,
    M,
    K,
    stride_m,
    stride_k,
    COUNT: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Program i leaves the amax of every COUNT-th tile."""
    first = tl.program_id(0)
    bits = _amax_bits(x_ptr, M, K, stride_m, stride_k, first, COUNT, BLOCK_M, BLOCK_K)
    tl.store(partial_ptr + first, bits)


@triton.jit
def _tensor_scale(amax_bits, BOUND: tl.constexpr):
    """amax / (BOUND * 6); 1 where that is 0."""
    scale = tl.div_rn(amax_bits.to(tl.float32, bitcast=True), BOUND * 6.0)
    return tl.where(scale == 0.0, 1.0, scale)


@triton.jit
def _times_block(x, figure, BLOCK_M: tl.constexpr, BLOCKS: tl.constexpr):
    """Values (BLOCK_M, BLOCKS * 16), each times its block's figure, (BLOCK_M, BLOCKS)."""
    return tl.reshape(
        tl.reshape(x, (BLOCK_M, BLOCKS, 16)) * figure[:, :, None], (BLOCK_M, BLOCKS * 16)
    )


@triton.jit
def _inverse(byte, tensor_scale):
    """1 / (block scale * tensor scale), at most FLT_MAX."""
    return tl.minimum(tl.div_rn(1.0, e4m3_value(byte) * tensor_scale), 3.4028234663852886e38)


@triton.jit
def _block_amax(x, BLOCK_M: tl.constexpr, BLOCKS: tl.constexpr, TILED: tl.constexpr):
    amax = tl.max(tl.reshape(tl.abs(x), (BLOCK_M, BLOCKS, 16)), axis=2)
    if TILED:
        tiles = tl.max(tl.reshape(amax, (BLOCK_M // 16, 16, BLOCKS)), axis=1)
        tiles = tl.broadcast_to(tiles[:, None, :], (BLOCK_M // 16, 16, BLOCKS))
        amax = tl.reshape(tiles, (BLOCK_M, BLOCKS))
    return amax


@triton.jit
def _squared_error(
    x, encoded, byte, tensor_scale, BLOCK_M: tl.constexpr, BLOCKS: tl.constexpr, TILED: tl.constexpr
):
    """(BLOCK_M, BLOCKS): squared error in encoded units, summed in the reference's order."""
    y = _times_block(x, _inverse(byte, tensor_scale), BLOCK_M, BLOCKS)
    value = e2m1_value(e2m1_code_nearest(y))
    decoded = _times_block(value, e4m3_value(byte), BLOCK_M, BLOCKS)
    error = decoded - encoded
    error = error * error
    error = sum_neighbours(error, BLOCK_M, BLOCKS * 16)
    error = sum_neighbours(error, BLOCK_M, BLOCKS * 8)
    error = sum_neighbours(error, BLOCK_M, BLOCKS * 4)
    error = sum_neighbours(error, BLOCK_M, BLOCKS * 2)
    if TILED:
        rows = tl.reshape(tl.trans(error), (BLOCKS * BLOCK_M // 16, 16))
        rows = sum_neighbours(rows, BLOCKS * BLOCK_M // 16, 16)
        rows = sum_neighbours(rows, BLOCKS * BLOCK_M // 16, 8)
        rows = sum_neighbours(rows, BLOCKS * BLOCK_M // 16, 4)
        rows = sum_neighbours(rows, BLOCKS * BLOCK_M // 16, 2)
        rows = tl.broadcast_to(rows, (BLOCKS * BLOCK_M // 16, 16))
        error = tl.trans(tl.reshape(rows, (BLOCKS, BLOCK_M)))
    return error


@triton.jit
def store_codes(codes_ptr, code, rows, M, K, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    """Packs codes (BLOCK_M, BLOCK_K) two to a byte, the even column low, and writes them."""
    low, high = tl.split(tl.reshape(code, (BLOCK_M, BLOCK_K // 2, 2)))
    halves = tl.program_id(1).to(tl.int64) * (BLOCK_K // 2) + tl.arange(0, BLOCK_K // 2)
    fits = (rows < M)[:, None] & (halves < K // 2)[None, :]
    packed = (low | (high << 4)).to(tl.uint8)
    tl.store(codes_ptr + rows[:, None] * (K // 2) + halves[None, :], packed, mask=fits)


@triton.jit
def store_scales(scales_ptr, byte, rows, blocks, M, count, SWIZZLED: tl.constexpr):
    """Writes the scale bytes of blocks ``rows`` x ``blocks``, row-major or in tiles."""
    r, c = rows[:, None], blocks[None, :]
    if SWIZZLED:
        # Tiles of 128 rows by 4 scales, 512 bytes each; what pads them is written too, as 0.
        wide = (count + 3) // 4
        place = ((r // 128) * wide + c // 4) * 512 + (r % 32) * 16 + ((r % 128) // 32) * 4 + c % 4
        fits = (r < (M + 127) // 128 * 128) & (c < wide * 4)
    else:
        place = r * count + c
        fits = (r < M) & (c < count)
    tl.store(scales_ptr + place, byte.to(tl.uint8), mask=fits)


@triton.jit
def _quantize_nvfp4_kernel(
    x_ptr,
    partial_ptr,
    tensor_scale_ptr,
    codes_ptr,
    scales_ptr,
    seed_ptr,
    offset,
    M,
    K,
    stride_m,
    stride_k,
    AMAX: tl.constexpr,  # "given" tensor scale, "partial" maxima, or "whole": found here
    COUNT: tl.constexpr,
    COUNT_PADDED: tl.constexpr,
    BOUND: tl.constexpr,
    RULE: tl.constexpr,
    TILED: tl.constexpr,
    STOCHASTIC: tl.constexpr,
    SWIZZLED: tl.constexpr,
    FIRST_STEP: tl.constexpr,
    LAST_STEP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    BLOCKS: tl.constexpr = BLOCK_K // 16
    if AMAX == "given":
        tensor_scale = tl.load(tensor_scale_ptr)
    else:
        if AMAX == "partial":
            at = tl.arange(0, COUNT_PADDED)
            bits = tl.max(tl.load(partial_ptr + at, mask=at < COUNT, other=0), axis=0)
        else:
            bits = _amax_bits(x_ptr, M, K, stride_m, stride_k, 0, 1, BLOCK_M, BLOCK_K)
        tensor_scale = _tensor_scale(bits, BOUND)
        if (tl.program_id(0) == 0) & (tl.program_id(1) == 0):
            tl.store(tensor_scale_ptr, tensor_scale)

    rows = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1).to(tl.int64) * BLOCK_K + tl.arange(0, BLOCK_K)
    inside = (rows < M)[:, None] & (columns < K)[None, :]
    at = x_ptr + rows[:, None] * stride_m + columns[None, :] * stride_k
    x = tl.load(at, mask=inside, other=0.0).to(tl.float32)  # (BLOCK_M, BLOCK_K)

    encode = tl.minimum(tl.div_rn(1.0, tensor_scale), 3.4028234663852886e38)
    amax = _block_amax(x, BLOCK_M, BLOCKS, TILED)  # (BLOCK_M, BLOCKS)
    byte = e4m3_byte(amax * tl.div_rn(encode, 6.0))
    if RULE != "amax":
        encoded = x * encode
        least = _squared_error(x, encoded, byte, tensor_scale, BLOCK_M, BLOCKS, TILED)
        if RULE == "four_over_six":
            other = e4m3_byte(amax * tl.div_rn(encode, 4.0))
            error = _squared_error(x, encoded, other, tensor_scale, BLOCK_M, BLOCKS, TILED)
            byte = tl.where(error < least, other, byte)
        else:
            first = byte
            for step in range(FIRST_STEP, LAST_STEP + 1):
                other = tl.minimum(tl.maximum(first + step, 0), 0x7E)
                error = _squared_error(x, encoded, other, tensor_scale, BLOCK_M, BLOCKS, TILED)
                better = error < least
                byte = tl.where(better, other, byte)
                least = tl.where(better, error, least)

    y = _times_block(x, _inverse(byte, tensor_scale), BLOCK_M, BLOCKS)
    if STOCHASTIC:
        # One word of the stream serves four neighbours; K is a multiple of 16.
        words = tl.program_id(1).to(tl.int64) * (BLOCK_K // 4) + tl.arange(0, BLOCK_K // 4)
        counter = (offset.to(tl.int64) + rows * K)[:, None] // 4 + words[None, :]
        word = random_word(tl.load(seed_ptr), counter)
        shifts = (tl.arange(0, 4) * 8).to(tl.uint32)
        random = (word[:, :, None] >> shifts[None, None, :]).to(tl.int32) & 255
        code = e2m1_code_stochastic(y, tl.reshape(random, (BLOCK_M, BLOCK_K)))
    else:
        code = e2m1_code_nearest(y)

    store_codes(codes_ptr, code, rows, M, K, BLOCK_M, BLOCK_K)
    blocks = tl.program_id(1).to(tl.int64) * BLOCKS + tl.arange(0, BLOCKS)
    store_scales(scales_ptr, byte, rows, blocks, M, K // 16, SWIZZLED)


def quantize_nvfp4_triton(
    x: torch.Tensor,
    *,
    tensor_scale: torch.Tensor | None = None,
    scaling: Scaling = "1d",
    scale_rule: ScaleRule = "amax",
    seed: torch.Tensor | None = None,
    offset: int = 0,
    swizzled: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Packs a matrix in NVFP4 on its own device, without waiting for it.

    Args:
        x: (M, K) fp32, bf16 or fp16, any strides, K a multiple of 16.
        tensor_scale: () fp32 on x's device; None computes it from x, by one more launch.
        seed: (1,) int64 on x's device: rounds stochastically; None rounds to nearest even.
        swizzled: write the scales in the 128x4 tiling that FP4 matrix units read.
    Returns:
        codes (M, K // 2) uint8; block scales (M, K // 16) float8_e4m3fn, or flat in tiles of 512
        bytes when swizzled; tensor scale () fp32.
    """
    m, k = x.shape
    blocks = k // SCALE_BLOCK
    size = (-(-m // 128) * 128 * (-(-blocks // 4) * 4),) if swizzled else (m, blocks)
    codes = torch.empty(m, k // 2, dtype=torch.uint8, device=x.device)
    scales = torch.empty(size, dtype=torch.float8_e4m3fn, device=x.device)
    if x.numel() == 0:
        one = torch.ones((), device=x.device)
        return codes, scales, one if tensor_scale is None else tensor_scale
    amax, count, partial, scale = "given", 1, codes, tensor_scale
    if scale is None:
        scale = torch.empty((), dtype=torch.float32, device=x.device)
        amax = "whole" if x.numel() <= WHOLE_AMAX else "partial"
    if amax == "partial":
        count = min(triton.cdiv(m, BLOCK_M) * triton.cdiv(k, BLOCK_K), AMAX_PROGRAMS)
        partial = torch.empty(count, dtype=torch.int32, device=x.device)
        _amax_kernel[(count,)](
            x, partial, m, k, *x.stride(), COUNT=count, BLOCK_M=BLOCK_M, BLOCK_K=BLOCK_K
        )
    # Where scales are tiled, what pads them must be written too: NaN bytes there would spread.
    rows, columns = (-(-m // 128) * 128, -(-blocks // 4) * 64) if swizzled else (m, k)
    grid = (triton.cdiv(rows, BLOCK_M), triton.cdiv(columns, BLOCK_K))
    _quantize_nvfp4_kernel[grid](
        x,
        partial,
        scale,
        codes,
        scales.view(torch.uint8),
        codes if seed is None else seed,
        offset,
        m,
        k,
        *x.stride(),
        AMAX=amax,
        COUNT=count,
        COUNT_PADDED=triton.next_power_of_2(count),
        BOUND=scale_bound(scale_rule),
        RULE=scale_rule,
        TILED=scaling == "2d",
        STOCHASTIC=seed is not None,
        SWIZZLED=swizzled,
        FIRST_STEP=_FIRST_STEP,
        LAST_STEP=_LAST_STEP,
        BLOCK_M=BLOCK_M,
        BLOCK_K=BLOCK_K,
        num_warps=NUM_WARPS,
        enable_fp_fusion=False,
    )
    return codes, scales, scale
