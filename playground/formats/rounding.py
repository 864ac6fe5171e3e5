"""A tensor in every format: what each makes of it, and how far off that is, by kernels/."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from kernels import (
    MX_BLOCK,
    SCALE_BLOCK,
    fake_quantize_mxfp4,
    fake_quantize_nvfp4,
    quantize_fp8,
    quantize_mxfp4,
    quantize_nf4,
    quantize_nvfp4,
)
from kernels.elements import Packed
from playground.formats.known import FORMATS, RULES
from playground.precision.error import rounding_error


def packed(x: Tensor, name: str, tensor_scale: Tensor | None = None) -> Packed:
    """A (M, K) matrix in one of FORMATS. Raises ValueError as ``kernels`` does."""
    if name in RULES:
        return quantize_nvfp4(x, scale_rule=RULES[name], tensor_scale=tensor_scale)
    return {"mxfp4": quantize_mxfp4, "nf4": quantize_nf4, "fp8": quantize_fp8}[name](x)


def decoded(x: Tensor, name: str) -> Tensor:
    """The values a (M, K) matrix would have after ``name``."""
    if name in RULES:
        return fake_quantize_nvfp4(x, scale_rule=RULES[name])
    return fake_quantize_mxfp4(x) if name == "mxfp4" else packed(x, name).dequantize()


def why_not(shape: tuple[int, ...], name: str) -> int | None:
    """The block that K is no multiple of, where ``name`` cannot hold such a matrix; else None."""
    block = {"mxfp4": MX_BLOCK, **dict.fromkeys(RULES, SCALE_BLOCK)}.get(name)
    return block if block and shape[-1] % block else None


def error(exact: Tensor, rounded: Tensor) -> float:
    """||rounded - exact|| / ||exact||; 0 for zeros."""
    return rounding_error(exact, rounded).relative_error


def errors(x: Tensor) -> dict[str, float | None]:
    """The relative error of a (M, K) matrix in each format; None where K does not suit it."""
    return {
        name: None if why_not(tuple(x.shape), name) else error(x, decoded(x, name))
        for name in FORMATS
    }


@cache
def gaussian_errors() -> dict[str, float]:
    """The relative error of each format on N(0,1): a million values from a fixed seed."""
    return errors(gaussian())


def gaussian(rows: int = 1024, columns: int = 1024) -> Tensor:
    """(rows, columns) fp32 of N(0,1), always the same."""
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(0))


def padded(x: Tensor, block: int) -> Tensor:
    """(M, K) with zeros up to a multiple of ``block``: they change no scale."""
    return F.pad(x, (0, -x.shape[-1] % block))


def plain(value: Any) -> float:
    """A tensor's one value, for JSON."""
    return float(value)
