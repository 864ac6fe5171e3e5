"""The two questions, asked of any numbers: does 16 beat 32, and what does the second scale do?"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from kernels import MX_BLOCK, SCALE_BLOCK, fake_quantize_blocks, quantize_nvfp4
from playground.formats.rounding import error, padded

CURVE_VALUES = 1 << 14
"""Values that the curve over sizes is drawn with; of a layer its first ones."""
_DECADES = (-8.0, 5.0)
_PER_DECADE = 2
_SMALLEST, _LARGEST = 1e-36, 1e36  # of what is still multiplied within fp32
_NORMAL, _TOP = 0x08, 0x7E  # E4M3's bytes of 2^-6, the first normal number, and of 448


def experiments(x: Tensor) -> dict[str, Any]:
    """Both, on a (M, K) matrix with K a multiple of 16: plain values, for JSON."""
    x = x.to(torch.float32)
    return {"values": x.numel(), "blocks": block_sizes(x), "second_scale": second_scale(x)}


def block_sizes(x: Tensor) -> dict[str, dict[str, float | None]]:
    """Relative errors by scale format and block size: ``{"e4m3": {"16": ..., "32": ...}, ...}``.

    With fewer than 32 values, or K no multiple of 32, there are no blocks of 32 to speak of: None.
    A short last block of 32 is filled up with zeros, where the matrix is one row.
    """
    wide = padded(x, MX_BLOCK) if x.shape[0] == 1 and x.shape[1] > SCALE_BLOCK else x
    found: dict[str, dict[str, float | None]] = {}
    for kind in ("e8m0", "e4m3"):
        found[kind] = {str(SCALE_BLOCK): _error(x, kind, SCALE_BLOCK), str(MX_BLOCK): None}
        if wide.shape[1] % MX_BLOCK == 0:
            found[kind][str(MX_BLOCK)] = _error(wide, kind, MX_BLOCK)
    return found


def second_scale(x: Tensor) -> dict[str, Any]:
    """NVFP4 with its tensor scale and with 1 in its place.

    ``scales`` says what becomes of the block scales without it: shares that round to 0, that lie
    among E4M3's subnormals (below 2^-6, where its steps are coarse), and that stop at 448.
    ``curve`` is the same numbers multiplied by powers of ten: ``rms``, ``with`` and ``without``.
    """
    found: dict[str, Any] = {"rms": _rms(x), "amax": float(x.abs().max())}
    found |= _both(x) | {"scales": _without(x)}
    found["curve"] = _curve(_first_rows(x))
    return found


def _both(x: Tensor) -> dict[str, float]:
    with_it = error(x, fake_quantize_blocks(x))
    return {"with": with_it, "without": error(x, fake_quantize_blocks(x, tensor_scale=1.0))}


def _without(x: Tensor) -> dict[str, float]:
    packed = quantize_nvfp4(x, tensor_scale=1.0)
    byte = packed.block_scales.view(torch.uint8)
    blocks = x.view(*byte.shape, SCALE_BLOCK)
    filled = blocks.abs().amax(-1) > 0
    count = max(int(filled.sum()), 1)
    kinds = {"zero": byte == 0, "subnormal": (byte > 0) & (byte < _NORMAL), "stopped": byte == _TOP}
    return {name: int((which & filled).sum()) / count for name, which in kinds.items()}


def _curve(x: Tensor) -> list[dict[str, float]]:
    rms = _rms(x)
    if not rms:
        return []
    x = x / rms
    largest = float(x.abs().max())
    steps = int((_DECADES[1] - _DECADES[0]) * _PER_DECADE)
    sizes = [10 ** (_DECADES[0] + step / _PER_DECADE) for step in range(steps + 1)]
    inside = [size for size in sizes if size > _SMALLEST and size * largest < _LARGEST]
    return [{"rms": size, **_both(x * size)} for size in inside]


def _first_rows(x: Tensor) -> Tensor:
    rows = max(CURVE_VALUES // x.shape[1], 1)
    return x[:rows]


def _rms(x: Tensor) -> float:
    return float(torch.linalg.vector_norm(x, dtype=torch.float64)) / math.sqrt(x.numel())


def _error(x: Tensor, scale_format: str, block: int) -> float:
    return error(x, fake_quantize_blocks(x, block=block, scale_format=scale_format))
