"""The formats that are looked at: their names, bits and blocks. No torch; the page reads this."""

from __future__ import annotations

from typing import NamedTuple


class FormatInfo(NamedTuple):
    """
    label: as people write it.
    bits: a value takes, its share of the scales included.
    block: values to a scale; None where the whole tensor has one.
    scale: what holds a block's scale.
    """

    label: str
    bits: float
    block: int | None
    scale: str


FORMATS: dict[str, FormatInfo] = {
    "nvfp4": FormatInfo("NVFP4", 4.5, 16, "E4M3"),
    "nvfp4-four-over-six": FormatInfo("NVFP4, four over six", 4.5, 16, "E4M3"),
    "nvfp4-search": FormatInfo("NVFP4, search", 4.5, 16, "E4M3"),
    "mxfp4": FormatInfo("MXFP4", 4.25, 32, "E8M0"),
    "nf4": FormatInfo("NF4", 4.5, 64, "FP32"),
    "fp8": FormatInfo("FP8 E4M3", 8.0, None, "FP32"),
}

RULES = {
    "nvfp4": "amax",
    "nvfp4-four-over-six": "four_over_six",
    "nvfp4-search": "search",
}
"""NVFP4's scale rules, by the names they have here."""
