"""NVFP4's rules once more, one element at a time and in other words: what the reference is held to.

Nothing is shared with ``kernels``. Grids are listed, nearest is found by comparing exact fractions,
and single fp32 operations are numpy's, which rounds each correctly.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

F32 = np.float32
FLT_MAX = np.finfo(np.float32).max

# The grids, by their bit patterns. An even pattern wins a tie.
E2M1_GRID = [Fraction(s) for s in ("0", "1/2", "1", "3/2", "2", "3", "4", "6")]
E4M3_GRID = [
    Fraction(mantissa, 8) * Fraction(2) ** -6
    if exponent == 0
    else (1 + Fraction(mantissa, 8)) * Fraction(2) ** (exponent - 7)
    for exponent in range(16)
    for mantissa in range(8)
][:-1]  # the last pattern, 0x7F, is NaN


def nearest_pattern(magnitude: Fraction, grid: list[Fraction]) -> int:
    """Index of the nearest grid value; of two equally near, the even index; saturates."""
    distance = [abs(magnitude - value) for value in grid]
    least = min(distance)
    near = [i for i, d in enumerate(distance) if d == least]
    return near[0] if len(near) == 1 else next(i for i in near if i % 2 == 0)


def e2m1_code(y: float) -> int:
    """The code of one value."""
    sign = 8 if np.signbit(F32(y)) else 0
    return sign | nearest_pattern(abs(Fraction(float(y))), E2M1_GRID)


def e4m3_byte(value: float) -> int:
    """The byte of one non-negative scale."""
    return nearest_pattern(Fraction(float(value)), E4M3_GRID)


def quantize(x: np.ndarray, tile_rows: int = 1) -> tuple[np.ndarray, np.ndarray, np.float32]:
    """Codes, one a byte (M, K), scale bytes (M, K // 16) and the tensor scale, by the rule amax.

    ``tile_rows`` 1 is 1D scaling and 16 is 2D.
    """
    m, k = x.shape
    codes = np.zeros((m, k), np.uint8)
    scales = np.zeros((m, k // 16), np.uint8)
    with np.errstate(all="ignore"):
        tensor_scale = F32(np.abs(x).max(initial=0)) / F32(2688)
        if tensor_scale == 0:
            tensor_scale = F32(1)
        encode = min(F32(1) / tensor_scale, FLT_MAX)
        for row in range(m):
            top = row - row % tile_rows
            for block in range(k // 16):
                columns = slice(16 * block, 16 * block + 16)
                amax = np.abs(x[top : top + tile_rows, columns]).max()
                scales[row, block] = e4m3_byte(min(amax * (encode / F32(6)), F32(448)))
                decoded = F32(float(E4M3_GRID[scales[row, block]])) * tensor_scale
                inverse = min(F32(1) / decoded, FLT_MAX)
                for column in range(columns.start, columns.stop):
                    y = min(max(x[row, column] * inverse, F32(-6)), F32(6))
                    codes[row, column] = e2m1_code(y)
    return codes, scales, tensor_scale


def decode(codes: np.ndarray, scales: np.ndarray, tensor_scale: np.float32) -> np.ndarray:
    """The fp32 values, (M, K)."""
    out = np.zeros(codes.shape, np.float32)
    for (row, column), code in np.ndenumerate(codes):
        value = float(E2M1_GRID[code & 7]) * (-1.0 if code & 8 else 1.0)
        exact = F32(value * float(E4M3_GRID[scales[row, column // 16]]))
        out[row, column] = exact * tensor_scale
    return out
