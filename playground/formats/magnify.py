"""A few numbers under the lens: in each format their scales, scaled values, codes and errors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kernels import MX_BLOCK, SCALE_BLOCK, FP8Tensor, NVFP4Tensor, elements, quantize_fp8
from kernels.elements import Packed
from kernels.format import E2M1_VALUES
from kernels.nf4 import NF4_VALUES
from kernels.scales import tensor_scale_of
from playground.formats.known import FORMATS, RULES
from playground.formats.rounding import error, packed, padded, why_not

WINDOW = 64
"""Values that are looked at together: the widest block of all formats, NF4's."""


class Window(NamedTuple):
    """Some values of a tensor, whole blocks of every format that suits it.

    Attributes:
        values: (1, n) fp32, n at most 64.
        first / last: of them those to show, [first, last).
        whole: the (M, K) tensor they are of, which sets the tensor scales.
        start: where they begin in it, rows end to end.
    """

    values: Tensor
    first: int
    last: int
    whole: Tensor
    start: int


def of_numbers(numbers: list[float]) -> Window:
    """Typed numbers, which are a tensor of their own."""
    values = torch.tensor([numbers], dtype=torch.float32)
    return Window(values, 0, len(numbers), values, 0)


def of_block(weight: Tensor, row: int, column: int) -> Window:
    """The 16 values from (row, column) on, and what shares a wider block with them."""
    at = row * weight.shape[1] + column
    start = at - at % WINDOW
    values = weight.reshape(1, -1)[:, start : start + WINDOW].to(torch.float32)
    return Window(values, at - start, at - start + SCALE_BLOCK, weight, start)


def magnify(window: Window) -> list[dict[str, Any]]:
    """What each format makes of the window, in the order of FORMATS: plain values, for JSON.

    Each has ``name``, ``tensor_scale`` (None where the format has none), ``error`` (relative),
    ``scaled``, ``codes`` and ``decoded`` (a value for each that is shown), and ``blocks``:
    ``first`` and ``count`` of the shown, ``of`` so many values to the scale, ``amax`` of them all,
    ``scale`` and its byte, ``code``; ``levels`` are what the codes 0 to 15 stand for, None
    where there are too many to draw. A format that the tensor does not suit
    has ``refuses`` instead: the block that K is no multiple of.
    """
    return [_in_format(window, name) for name in FORMATS]


def _in_format(window: Window, name: str) -> dict[str, Any]:
    typed = window.whole is window.values
    block = why_not(tuple(window.whole.shape), name)
    if block and not typed:
        return {"name": name, "refuses": block}
    x = padded(window.values, MX_BLOCK if name == "mxfp4" else SCALE_BLOCK)
    q = _packed(window, x, name)
    found, shown = elements(x, q), slice(window.first, window.last)
    kept = window.values[:, shown]
    parts = {"scaled": found.scaled, "codes": found.codes, "decoded": found.decoded}
    plain = {
        part: [_finite(v) for v in values[0, shown].tolist()] for part, values in parts.items()
    }
    return {
        "name": name,
        "tensor_scale": float(q.tensor_scale) if isinstance(q, NVFP4Tensor) else None,
        "error": error(kept, found.decoded[:, shown]),
        **plain,
        "levels": None if name == "fp8" else NF4_VALUES if name == "nf4" else E2M1_VALUES,
        "blocks": _blocks(window, found, FORMATS[name].block),
    }


def _packed(window: Window, x: Tensor, name: str) -> Packed:
    if name in RULES:
        return packed(x, name, tensor_scale_of(window.whole, None, RULES[name]))
    if name != "fp8":
        return packed(x, name)
    whole = quantize_fp8(window.whole)
    codes = whole.codes.reshape(1, -1)[:, window.start : window.start + x.shape[1]]
    return FP8Tensor(codes, whole.scale)


def _blocks(window: Window, found: Any, size: int | None) -> list[dict[str, Any]]:
    count = window.values.shape[1]
    size = size or count  # one scale for the tensor is one for the window
    blocks = []
    for start in range(window.first // size * size, window.last, size):
        stop = min(start + size, count)
        first, last = max(start, window.first), min(stop, window.last)
        exact, rounded = window.values[:, first:last], found.decoded[:, first:last]
        codes = found.scale_codes
        blocks.append(
            {
                "first": first - window.first,
                "count": last - first,
                "of": size,
                "amax": float(window.values[:, start:stop].abs().max()),
                "scale": float(found.scales[0, first]),
                "code": None if codes is None else int(codes[0, first]),
                "error": error(exact, rounded),
            }
        )
    return blocks


def _finite(value: float) -> float | None:
    """None where a scale of 0 leaves no scaled value."""
    return value if math.isfinite(value) else None
