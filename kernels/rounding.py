"""Rounding to a few bits, element by element, in a handful of passes over fp32 memory.

Used by the reference path, which is also the emulation in use on machines without FP4 tensor cores:
so every function here is meant for a chunk that fits the cache. None depends on the device.
"""

from __future__ import annotations

import functools
from typing import Literal

import torch

from .format import E2M1_MAX, E4M3_MAX

_EXPONENT = 0x7F800000
# y + 1.5 * 2^22 * p has no bits below p / 2 left: the addition itself rounds y to a multiple of
# p / 2, ties to even. The 1.5 keeps the sum in its binade for either sign of y.
_MAGIC = 1.5 * 2.0**22


def round_e2m1(y: torch.Tensor) -> torch.Tensor:
    """Rounds to E2M1's grid, ties to the even code, saturating at 6.

    Ties: 0.25 -> 0, 0.75 -> 1, 1.25 -> 1, 1.75 -> 2, 2.5 -> 2, 3.5 -> 4, 5 -> 4.

    Args:
        y: fp32, contiguous, finite. Clamped to [-6, 6] in place.
    Returns:
        fp32, like ``y``, every value one of E2M1's; a zero keeps the sign of what it was.
    """
    p = _binade(y.clamp_(-E2M1_MAX, E2M1_MAX))
    return torch.add(y, p, alpha=_MAGIC).sub_(p, alpha=_MAGIC).copysign_(y)


def round_e2m1_in_place(y: torch.Tensor) -> torch.Tensor:
    """As ``round_e2m1``, but what is rounded to zero loses its sign: a buffer and a pass less."""
    p = _binade(y.clamp_(-E2M1_MAX, E2M1_MAX))
    return y.add_(p, alpha=_MAGIC).sub_(p, alpha=_MAGIC)


def round_e4m3(x: torch.Tensor) -> torch.Tensor:
    """Rounds non-negative fp32 to float8_e4m3fn, ties to even, saturating at 448.

    Clamped before the cast: above 464 it would give 0x7F, a NaN. There is no lower clamp.
    """
    return x.clamp(max=E4M3_MAX).to(torch.float8_e4m3fn)


def fp8_values(codes: torch.Tensor, scale: torch.Tensor | None = None) -> torch.Tensor:
    """What FP8 codes mean, exactly: fp32, like ``codes``, times a () fp32 ``scale`` if given.

    torch's own cast takes five times as long on a CPU as a look-up in a table of 256.
    """
    if codes.device.type != "cpu":
        values = codes.to(torch.float32)
        return values if scale is None else values * scale
    table = _table_of(codes.dtype)
    table = table if scale is None else table * scale
    index = codes.reshape(-1).view(torch.uint8).to(torch.int32)
    return torch.index_select(table, 0, index).view(codes.shape)


@functools.cache
def _table_of(dtype: torch.dtype) -> torch.Tensor:
    """(256,) fp32: what each byte means, NaN included."""
    return torch.arange(256, dtype=torch.uint8).view(dtype).to(torch.float32)


def round_e2m1_stochastic(y: torch.Tensor, random: torch.Tensor) -> torch.Tensor:
    """Rounds to one of the two neighbours on E2M1's grid, the nearer one more often: unbiased.

    Eight random bits an element, in software: no consumer GPU has an instruction for it. A value on
    the grid never moves, and none moves by a whole step.

    Args:
        y: fp32, contiguous, finite. Clamped to [-6, 6] in place.
        random: uint8, like ``y``, uniform.
    Returns:
        fp32, like ``y``, every value one of E2M1's.
    """
    step = _binade(y.clamp_(-E2M1_MAX, E2M1_MAX)).mul_(0.5)
    # (r + 0.5) / 256 lies strictly between 0 and 1 and has mean one half.
    dither = random.to(torch.float32).add_(0.5).mul_(1 / 256)
    steps = y.abs().div_(step).add_(dither).floor_()
    return steps.mul_(step).copysign_(y)


def _binade(y: torch.Tensor) -> torch.Tensor:
    """The power of two at or below the magnitude, at least 1. Half of it is E2M1's step there."""
    return y.view(torch.int32).bitwise_and(_EXPONENT).view(torch.float32).clamp_(min=1.0)


def random_bytes(
    seed: int, start: int, count: int, device: torch.device | str = "cpu"
) -> torch.Tensor:
    """Bytes ``start`` .. ``start + count`` of the stream of ``seed``: a counter, hashed twice.

    A counter and not a generator's state: element i draws byte i wherever and in whatever order it
    is computed, so a Triton kernel with any tiling returns the same codes as this. Only 32-bit
    integer products, xors and shifts, which every GPU has. Four consecutive bytes are one word.

    Args:
        seed: 0 <= seed < 2**64.
        start: first byte, a multiple of 4.
        count: how many, a multiple of 4.
    Returns:
        (count,) uint8.
    """
    key_low, key_high = stream_key(seed)
    counter = torch.arange(start // 4, (start + count) // 4, dtype=torch.int64, device=device)
    high = (counter >> 32).to(torch.int32)
    word = _mix_(counter.to(torch.int32).bitwise_xor_(key_low)).add_(key_high).bitwise_xor_(high)
    return _mix_(word).view(torch.uint8)


def stream_key(seed: int) -> tuple[int, int]:
    """Two 32-bit keys, as signed ints, from a 64-bit seed: what a kernel needs to draw its bytes.

    Raises:
        ValueError: the seed is no whole number from 0 to 2**64 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise ValueError(f"seed is {seed!r}; pass a whole number from 0 to 2**64 - 1")
    low = _mix_int(seed & 0xFFFFFFFF ^ 0x9E3779B9)
    high = _mix_int((seed >> 32) ^ low)
    return _signed(low), _signed(high)


def seed_tensor(seed: int, device: torch.device | str) -> torch.Tensor:
    """The seed as kernels take it: (1,) int64, so that another seed needs no other kernel."""
    return torch.full((1,), seed - (seed >> 63 << 64), dtype=torch.int64, device=device)


# "lowbias32", a published 32-bit mixer found by search for its low bias
# (C. Wellons, Prospecting for Hash Functions, 2018).
_MIX_1, _MIX_2 = 0x7FEB352D, 0x846CA68B


def _mix_(x: torch.Tensor) -> torch.Tensor:
    x ^= _shift_right(x, 16)
    x *= _signed(_MIX_1)
    x ^= _shift_right(x, 15)
    x *= _signed(_MIX_2)
    x ^= _shift_right(x, 16)
    return x


def _mix_int(x: int) -> int:
    x ^= x >> 16
    x = x * _MIX_1 & 0xFFFFFFFF
    x ^= x >> 15
    x = x * _MIX_2 & 0xFFFFFFFF
    return x ^ x >> 16


def _shift_right(x: torch.Tensor, bits: int) -> torch.Tensor:
    """Shifts int32 as if unsigned: the sign is not carried in."""
    return (x >> bits).bitwise_and_((1 << 32 - bits) - 1)


def _signed(word: int) -> int:
    return word - (word >> 31 << 32)


def round_to(x: torch.Tensor, precision: Literal["fp16", "bf16"]) -> torch.Tensor:
    """fp32 values as ``precision`` would hold them: the emulation of a 16-bit operand.

    Args:
        x: any shape, fp32, bf16 or fp16.
        precision: "fp16" (above 65504 becomes inf, as in hardware) or "bf16".
    Returns:
        fp32, like ``x``.
    Raises:
        ValueError: no such precision.
    """
    dtypes = {"fp16": torch.float16, "bf16": torch.bfloat16}
    if precision not in dtypes:
        raise ValueError(f"precision is {precision!r}; round_to knows {' and '.join(dtypes)}")
    return x.to(dtypes[precision]).to(torch.float32)
