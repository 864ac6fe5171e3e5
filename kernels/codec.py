"""Triton device functions shared by the kernels: E2M1, E4M3 and E8M0 in fp32, random bytes.

E2M1 is rounded with comparisons and E4M3 with integers, never with a cast: casts differ between
GPUs (Ampere has no E4M3 at all) and Triton's interpreter rounds them wrongly. So one code path
gives the same bytes everywhere. Kernels using these are launched with ``enable_fp_fusion=False``:
a fused multiply-add would round once where the reference rounds twice. Decoding multiplies fp32
subnormals, so they must not be flushed to zero (a test reads the PTX for it).
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def e2m1_code_nearest(y):
    """fp32 -> code 0..15 (int32), ties to even, saturating: counts the boundaries below."""
    a = tl.abs(y)
    code = (a > 0.25).to(tl.int32) + (a >= 0.75).to(tl.int32) + (a > 1.25).to(tl.int32)
    code += (a >= 1.75).to(tl.int32) + (a > 2.5).to(tl.int32) + (a >= 3.5).to(tl.int32)
    code += (a > 5.0).to(tl.int32)
    return code | _sign(y)


@triton.jit
def e2m1_code_stochastic(y, random):
    """fp32 and a random byte (int32) -> the code of one of y's two neighbours, unbiased."""
    a = tl.minimum(tl.abs(y), 6.0)
    # Steps of 0.5 up to 2, of 1 up to 4, of 2 up to 6; a code is so many steps from the first.
    steps_to_one = tl.where(a < 2.0, 2.0, tl.where(a < 4.0, 1.0, 0.5))
    first = tl.where(a < 2.0, 0, tl.where(a < 4.0, 2, 4))
    dither = (random.to(tl.float32) + 0.5) * 0.00390625
    code = first + (a * steps_to_one + dither).to(tl.int32)
    return code | _sign(y)


@triton.jit
def _sign(y):
    """The sign bit as a code's bit 3."""
    return (y.to(tl.int32, bitcast=True) >> 28) & 8


@triton.jit
def e2m1_value(code):
    """Code 0..15 (int32) -> fp32; code 8 is -0."""
    # E2M1 lies in fp32's top bits, 126 binades lower; 0.5 is a subnormal of both.
    bits = ((code & 7) << 22) | ((code & 8) << 28)
    return bits.to(tl.float32, bitcast=True) * 8.507059173023462e37  # 2^126


@triton.jit
def e4m3_byte(scale):
    """Non-negative fp32 -> E4M3 byte (int32), ties to even, saturating at 448."""
    s = tl.minimum(scale, 448.0)
    bits = s.to(tl.int32, bitcast=True)
    normal = ((bits + 0x7FFFF + ((bits >> 20) & 1)) >> 20) - (120 << 3)
    # 1.5 * 2^14 has steps of 2^-9, E4M3's subnormal step: the addition rounds.
    subnormal = (s + 24576.0).to(tl.int32, bitcast=True) - 0x46C00000
    return tl.where(s < 0.015625, subnormal, normal)


@triton.jit
def e4m3_value(byte):
    """E4M3 byte of a non-negative scale (int32) -> fp32; 0x7F is NaN."""
    value = (byte << 20).to(tl.float32, bitcast=True) * 1.329227995784916e36  # 2^120
    return tl.where(byte == 0x7F, float("nan"), value)


@triton.jit
def e8m0_value(byte):
    """E8M0 byte (int32) -> fp32: 2^(byte - 127), of which byte 0 is a subnormal; 0xFF is NaN."""
    value = tl.where(byte == 0, 1 << 22, byte << 23).to(tl.float32, bitcast=True)
    return tl.where(byte == 0xFF, float("nan"), value)


@triton.jit
def scale_value(byte, GROUP: tl.constexpr):
    """A block's scale (int32) -> fp32: E4M3 where 16 values share it, E8M0 where 32 do."""
    return e4m3_value(byte) if GROUP == 16 else e8m0_value(byte)


@triton.jit
def mix(x):
    """The 32-bit mixer of ``rounding.random_bytes``, on uint32."""
    x ^= x >> 16
    x *= 0x7FEB352D
    x ^= x >> 15
    x *= 0x846CA68B
    x ^= x >> 16
    return x


@triton.jit
def random_word(seed, counter):
    """Four random bytes as a uint32: word ``counter`` (int64 tensor) of the stream of ``seed``."""
    key_low = mix((seed & 0xFFFFFFFF).to(tl.uint32) ^ 0x9E3779B9)
    key_high = mix(((seed >> 32) & 0xFFFFFFFF).to(tl.uint32) ^ key_low)
    low = (counter & 0xFFFFFFFF).to(tl.uint32)
    high = (counter >> 32).to(tl.uint32)
    return mix((mix(low ^ key_low) + key_high) ^ high)


@triton.jit
def sum_neighbours(x, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """(ROWS, COLUMNS) -> (ROWS, COLUMNS // 2): the fixed order in which the reference sums."""
    even, odd = tl.split(tl.reshape(x, (ROWS, COLUMNS // 2, 2)))
    return even + odd
