"""One matrix of a model: one of its blocks under the lens, and how its values lie on the grids."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from kernels import E2M1_MAX, SCALE_BLOCK, NVFP4Tensor, quantize_nvfp4
from kernels.elements import elements
from playground.config import SettingsError
from playground.formats.experiments import experiments
from playground.formats.magnify import magnify, of_block
from playground.formats.rounding import error, why_not
from playground.formats.weights import Layer

VALUE_BINS = 96
SCALED_STEP = 0.125
SCALED_END = 6.5
_DEVIATIONS = 4.5
"""How far the histogram of values reaches; what lies beyond is counted apart."""


def look(layer: Layer, weight: Tensor, which: dict[str, Any]) -> dict[str, Any]:
    """A block of a matrix, the matrix around it, and both experiments on it: plain, for JSON.

    Args:
        which: ``{"how": "median" | "worst"}``, ``{"how": "random", "seed": int}`` or
            ``{"how": "at", "row": int, "column": int}``, both from 0.
    Raises:
        SettingsError: K is no multiple of 16, there is a NaN or inf, or no such row or column.
    """
    x = weight.to(torch.float32)
    _refuse(layer, x)
    q = quantize_nvfp4(x)
    by_block = _block_errors(x, q)
    row, block = _chosen(by_block, which)
    column = SCALE_BLOCK * block
    return {
        "layer": layer.name,
        "shape": list(layer.shape),
        "dtype": layer.dtype,
        "row": row,
        "column": column,
        "blocks": by_block.numel(),
        "block_error": float(by_block[row, block]),
        "median_error": float(by_block.median()),
        "worse_share": float((by_block > by_block[row, block]).double().mean()),
        "deviation": float(x.std(correction=0)),
        "amax": float(x.abs().max()),
        "error": error(x, q.dequantize()),
        "values": x[row, column : column + SCALE_BLOCK].tolist(),
        "formats": magnify(of_block(x, row, column)),
        "value_histogram": _values(x, q, row, block),
        "scaled_histogram": _scaled(x, q),
        "experiments": experiments(x),
    }


def _refuse(layer: Layer, x: Tensor) -> None:
    if why_not(tuple(x.shape), "nvfp4") or not x.numel():
        raise SettingsError(
            f"Layer '{layer.name}' has rows of {layer.shape[1]} values, which blocks of "
            f"{SCALE_BLOCK} do not divide, so a run keeps it in 16 bits; pick another layer."
        )
    if bad := x.numel() - int(torch.isfinite(x).sum()):
        raise SettingsError(
            f"Layer '{layer.name}' has {bad} values that are NaN or infinite; pick another one."
        )


def _block_errors(x: Tensor, q: NVFP4Tensor) -> Tensor:
    """(N, K // 16): relative errors of the blocks; 0 where a block is zero."""
    shape = (*q.block_scales.shape, SCALE_BLOCK)
    exact = x.reshape(shape)
    size = torch.linalg.vector_norm(exact, dim=-1)
    wrong = torch.linalg.vector_norm(q.dequantize().view(shape) - exact, dim=-1)
    return torch.where(size > 0, wrong / size, torch.zeros_like(size))


def _chosen(by_block: Tensor, which: dict[str, Any]) -> tuple[int, int]:
    rows, columns = by_block.shape
    if which["how"] == "at":
        row, column = which["row"], which["column"]
        if not 0 <= row < rows or not 0 <= column < columns * SCALE_BLOCK:
            raise SettingsError(
                f"Row {row}, column {column} is outside this layer; it has rows 0 to {rows - 1} "
                f"and columns 0 to {columns * SCALE_BLOCK - 1}."
            )
        return row, column // SCALE_BLOCK
    flat = by_block.reshape(-1)
    if which["how"] == "worst":
        index = int(flat.argmax())
    elif which["how"] == "random":
        index = random.Random(which["seed"]).randrange(flat.numel())
    else:
        index = int(flat.median(0).indices)
    return divmod(index, columns)


def _values(x: Tensor, q: NVFP4Tensor, row: int, block: int) -> dict[str, Any]:
    """Of the matrix's values; ``unit`` is the block's step from one code's value to another's."""
    unit = float(q.block_scales[row, block].to(torch.float32) * q.tensor_scale)
    end = max(_DEVIATIONS * float(x.std(correction=0)), 1.1 * E2M1_MAX * unit)
    if not end:
        end = 1.0  # of zeros only
    counts = torch.histc(x, VALUE_BINS, -end, end)
    beyond = int((x.abs() > end).sum())
    return {"end": end, "unit": unit, "counts": _whole(counts), "beyond": beyond}


def _scaled(x: Tensor, q: NVFP4Tensor) -> dict[str, Any]:
    """Of what every value is after its own block's scales: what is rounded to E2M1's grid."""
    scaled = elements(x, q).scaled.clamp(-SCALED_END, SCALED_END)
    # Bins in whose middle a value of the grid may lie, none on their edges.
    bins = int(2 * SCALED_END / SCALED_STEP) + 1
    end = SCALED_END + SCALED_STEP / 2
    return {"end": end, "counts": _whole(torch.histc(scaled, bins, -end, end))}


def _whole(counts: Tensor) -> list[int]:
    return [int(count) for count in counts]
