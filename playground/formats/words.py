"""Figures as the page and the terminal write them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def percent(value: float | None) -> str:
    """A relative error, three figures of it; 0 only where it is 0, a dash where there is none."""
    if value is None:
        return "—"
    if not value:
        return "0 %"
    if value < 1e-6:
        return "< 0.0001 %"
    decimals = max(0, 2 - math.floor(math.log10(100 * value)))
    return f"{100 * value:,.{decimals}f} %"


def exact(value: float) -> str:
    """A scale as it is: E4M3's and powers of two in full, an fp32 to nine figures."""
    return f"{value:.9g}".replace("-", "−")


def scale_said(name: str, block: Mapping[str, Any]) -> str:
    """A block's scale; MXFP4's and FP8's as the powers of two that they are."""
    if name not in ("mxfp4", "fp8"):
        return exact(block["scale"])
    exponent = math.frexp(block["scale"])[1] - 1
    return f"2{str(exponent).translate(_RAISED)} = {exact(block['scale'])}"


def code_bits(code: int, widths: tuple[int, ...]) -> list[str]:
    """A code's bits, field by field."""
    digits, parts, start = f"{code:0{sum(widths)}b}", [], 0
    for width in widths:
        parts.append(digits[start : start + width])
        start += width
    return parts


def scale_widths(name: str) -> tuple[int, ...]:
    """Bits of a block scale's fields: sign, exponent and mantissa of E4M3; E8M0 is an exponent."""
    return (8,) if name == "mxfp4" else (1, 4, 3)


def code_widths(name: str) -> tuple[int, ...]:
    """Bits of an element's fields; NF4's codes are a place in a list."""
    return {"nf4": (4,), "fp8": (1, 4, 3)}.get(name, (1, 2, 1))
