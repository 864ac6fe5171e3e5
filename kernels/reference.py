"""NVFP4 in plain PyTorch on any device: the oracle in tests, and the emulation in use.

The scale chain, as TransformerEngine defines it, every line rounded to fp32 once an operation:

    tensor_scale = amax / 2688                      1 where that is 0;  2688 = 448 * 6
    encode       = min(1 / tensor_scale, FLT_MAX)
    block_scale  = e4m3(min(block_amax * (encode / 6), 448))     ties to even, may be 0
    y            = x * min(1 / (float(block_scale) * tensor_scale), FLT_MAX)
    code         = e2m1(clamp(y, -6, 6))                         ties to even, or stochastic
    x_hat        = E2M1[code] * float(block_scale) * tensor_scale

Two things look as if they could be simplified and cannot. ``amax / 2688`` comes first, because
``2688 / amax`` underflows near fp32's end. The clamp to 6 is needed: a block scale rounded down
gives y up to 6.375, and up to 9 where the E4M3 scale is subnormal. In x_hat the first product is
exact (2 + 4 significant bits), so decoding rounds once.

Everything runs on chunks of rows that stay in the cache, so a pass costs little. Nothing here may
depend on the chunk's size.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Literal, get_args

import torch

from .format import E2M1_VALUES, SCALE_BLOCK, NVFP4Tensor, check_input, check_matrix, has_values
from .rounding import fp8_values, random_bytes, round_e2m1, round_e2m1_stochastic, stream_key
from .scales import ScaleRule, Scaling, block_scales_of, divide_by_scales, tensor_scale_of

Rounding = Literal["nearest", "stochastic"]

CHUNK_VALUES = 1 << 20
"""Values to a chunk: a few fp32 copies of it fit a last-level cache, and passes over it outweigh
the cost of starting them."""


def quantize_nvfp4_reference(
    x: torch.Tensor,
    *,
    tensor_scale: torch.Tensor | float | None = None,
    scaling: Scaling = "1d",
    scale_rule: ScaleRule = "amax",
    rounding: Rounding = "nearest",
    seed: int | None = None,
    offset: int = 0,
) -> NVFP4Tensor:
    """Packs a matrix in NVFP4.

    Args:
        x: (M, K) fp32, bf16 or fp16, any strides, K a multiple of 16. M or K may be 0.
        tensor_scale: decode scale, above 0; None computes it from x.
        scaling: "1d" one E4M3 scale for 16 values along K; "2d" one for a 16x16 tile, so that x and
            its transpose round alike.
        scale_rule: "amax" maps a block's largest value to 6; "four_over_six" to 6 or to 4,
            whichever errs less; "search" takes the E4M3 scale with the least squared error.
        rounding: "nearest" (ties to even) or "stochastic" (unbiased, needs ``seed``).
        seed: 0 <= seed < 2**64, for stochastic rounding only.
        offset: first element of the seed's stream to draw, a multiple of 16: lets two calls with
            one seed draw apart.
    Returns:
        NVFP4Tensor of shape (M, K).
    Raises:
        ValueError: wrong dtype or shape, K no multiple of 16, NaN or inf in x (with the count), an
            unknown option, a seed missing or without use.
    """
    check_input(x)
    check_matrix(x)
    check_options(scaling, scale_rule, rounding, seed, offset)
    m, k = x.shape
    codes = torch.empty(m, k // 2, dtype=torch.uint8, device=x.device)
    scales = torch.empty(m, k // SCALE_BLOCK, dtype=torch.float8_e4m3fn, device=x.device)
    if not has_values(x):
        return NVFP4Tensor(codes, scales, x.new_empty((), dtype=torch.float32), (m, k))
    scale = tensor_scale_of(x, tensor_scale, scale_rule)
    for start, stop in _chunks(m, k):
        rows = x[start:stop].to(torch.float32).contiguous()
        random = _random(rows, seed, offset + start * k) if rounding == "stochastic" else None
        values, block = _round_rows(rows, scale, scaling, scale_rule, random)
        pack_codes(values, out=codes[start:stop])
        scales[start:stop] = block
    return NVFP4Tensor(codes, scales, scale, (m, k))


def fake_quantize_nvfp4(
    x: torch.Tensor,
    *,
    tensor_scale: torch.Tensor | float | None = None,
    scaling: Scaling = "1d",
    scale_rule: ScaleRule = "amax",
    rounding: Rounding = "nearest",
    seed: int | None = None,
    offset: int = 0,
) -> torch.Tensor:
    """The values x would have after NVFP4, without packing them: the emulation of an activation.

    Equal to ``dequantize_nvfp4(quantize_nvfp4(x, ...), x.dtype)`` bit for bit, at less cost.

    Args:
        x: (..., K); the rest as for ``quantize_nvfp4``. Leading dimensions count as rows.
    Returns:
        Like ``x``, contiguous.
    Raises:
        ValueError: as ``quantize_nvfp4``.
    """
    check_input(x)
    check_options(scaling, scale_rule, rounding, seed, offset)
    scale = tensor_scale_of(x, tensor_scale, scale_rule)
    k = x.shape[-1]
    flat = x.reshape(-1, k) if x.numel() else x.reshape(0, k)
    out = torch.empty_like(flat, memory_format=torch.contiguous_format)
    for start, stop in _chunks(*flat.shape):
        rows = flat[start:stop].to(torch.float32).contiguous()
        random = _random(rows, seed, offset + start * k) if rounding == "stochastic" else None
        values, block = _round_rows(rows, scale, scaling, scale_rule, random)
        _scale_rows(values, block, scale, out=out[start:stop])
    return out.view(x.shape)


def dequantize_nvfp4_reference(q: NVFP4Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The values a packed tensor stands for: (M, K) of ``dtype``, rounded to it from fp32, once."""
    m, k = q.shape
    out = torch.empty(m, k, dtype=dtype, device=q.device)
    for start, stop in _chunks(m, k):
        rows = out[start:stop]
        # fp32 is decoded where it will stay, which saves a buffer and a pass over it.
        values = unpack_codes(q.codes[start:stop], out=rows if dtype == torch.float32 else None)
        _scale_rows(values, q.block_scales[start:stop], q.tensor_scale, out=rows)
    return out


def matmul_nvfp4_reference(
    a: NVFP4Tensor,
    b: NVFP4Tensor,
    *,
    bias: torch.Tensor | None = None,
    dtype: torch.dtype = torch.float32,
) -> torch.Tensor:
    """a @ b.T with both operands in NVFP4: products and sums in fp32, cast last.

    Args:
        a: (M, K).
        b: (N, K).
        bias: (N,), added in fp32.
    Returns:
        (M, N) of ``dtype``.
    """
    product = dequantize_nvfp4_reference(a) @ dequantize_nvfp4_reference(b).T
    return (product if bias is None else product.add_(bias)).to(dtype)


def pack_codes(values: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """E2M1 values to codes, two to a byte, the even column in the low nibble.

    fp16 has E2M1 inside it: scaled by 2^-14, a value's two exponent bits and its mantissa bit are
    bits 9 to 11 of the fp16 word, 0.5 being a subnormal of both. So one cast finds every code.

    Args:
        values: (M, K) fp32, each one of E2M1's, contiguous.
    Returns:
        (M, K // 2) uint8, ``out`` if given.
    """
    pair = (values * 2.0**-14).to(torch.float16).view(torch.int32).bitwise_and_(_FIELDS)
    pair |= pair >> 3  # the sign, bit 15, now stands next to the code's other bits, as bit 12
    pair &= _CODES
    pair = (pair >> 9).bitwise_or_(pair >> 21)
    return pair.to(torch.uint8) if out is None else out.copy_(pair)


# In a pair of fp16 words: sign, two exponent bits, mantissa bit; and four adjacent code bits.
_FIELDS = 0x8E008E00 - 2**32
_CODES = 0x1E001E00


def unpack_codes(codes: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Codes to E2M1 values, through a table of the 256 bytes' pairs.

    Args:
        codes: (M, K // 2) uint8.
        out: (M, K) fp32, contiguous.
    Returns:
        (M, K) fp32, ``out`` if given.
    """
    if out is None:
        out = torch.empty(codes.shape[0], 2 * codes.shape[1], device=codes.device)
    byte = codes.reshape(-1).to(torch.int32)
    torch.index_select(_pair_table(codes.device), 0, byte, out=out.view(-1).view(torch.int64))
    return out


@functools.cache
def _pair_table(device: torch.device) -> torch.Tensor:
    """(256,) int64: both fp32 values of a byte as one word, so that one look-up moves both."""
    values = torch.tensor(E2M1_VALUES, dtype=torch.float32)
    byte = torch.arange(256)
    return torch.stack([values[byte & 15], values[byte >> 4]], 1).view(torch.int64)[:, 0].to(device)


def check_options(
    scaling: str, scale_rule: str, rounding: str, seed: int | None, offset: int
) -> None:
    """Refuses an unknown option, and a seed that is missing or has no use.

    Raises:
        ValueError: with the value and the choices.
    """
    choices = {
        "scaling": (scaling, get_args(Scaling)),
        "scale_rule": (scale_rule, get_args(ScaleRule)),
        "rounding": (rounding, get_args(Rounding)),
    }
    for name, (value, known) in choices.items():
        if value not in known:
            raise ValueError(f"{name} is {value!r}; choose from {', '.join(known)}")
    if rounding == "nearest":
        if seed is not None:
            raise ValueError(
                f"seed is {seed!r}, but rounding is 'nearest' and draws nothing; "
                "pass rounding='stochastic' or leave the seed out"
            )
        return
    if seed is None:
        raise ValueError(
            "rounding is 'stochastic' and seed is None; pass a seed, so that the run "
            "can be repeated"
        )
    stream_key(seed)
    if offset < 0 or offset % SCALE_BLOCK:
        raise ValueError(
            f"offset is {offset}; it must be 0 or a positive multiple of {SCALE_BLOCK}"
        )


def _chunks(m: int, k: int) -> Iterator[tuple[int, int]]:
    """Row ranges of about CHUNK_VALUES values, whole tiles of 16 rows each but the last."""
    if m * k == 0:
        return
    rows = max(CHUNK_VALUES // k // SCALE_BLOCK, 1) * SCALE_BLOCK
    for start in range(0, m, rows):
        yield start, min(start + rows, m)


def _random(rows: torch.Tensor, seed: int, start: int) -> torch.Tensor:
    return random_bytes(seed, start, rows.numel(), rows.device).view(rows.shape)


def _round_rows(
    x: torch.Tensor,
    tensor_scale: torch.Tensor,
    scaling: Scaling,
    scale_rule: ScaleRule,
    random: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rounds a chunk of rows: (m, K) fp32 -> E2M1 values (m, K) fp32, E4M3 scales (m, K // 16)."""
    scales = block_scales_of(x, tensor_scale, scaling, scale_rule)
    y = divide_by_scales(x, scales, tensor_scale)
    return round_e2m1(y) if random is None else round_e2m1_stochastic(y, random), scales


def _scale_rows(
    values: torch.Tensor, block: torch.Tensor, tensor_scale: torch.Tensor, out: torch.Tensor
) -> None:
    """out = E2M1 value * block scale (exact) * tensor scale (rounded). Overwrites ``values``."""
    m, k = values.shape
    values.view(m, -1, SCALE_BLOCK).mul_(fp8_values(block).unsqueeze(-1))
    if out.dtype == values.dtype:
        torch.mul(values, tensor_scale, out=out)
    else:
        out.copy_(values.mul_(tensor_scale))
