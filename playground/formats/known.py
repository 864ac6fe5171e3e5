"""The formats that are looked at: their bits and blocks. No torch; the page reads this."""

from __future__ import annotations

from typing import NamedTuple


class FormatInfo(NamedTuple):
    """
    bits: a value takes, its share of the scales included.
    block: values to a scale; None where the whole tensor has one.
    """

    bits: float
    block: int | None


FORMATS: dict[str, FormatInfo] = {
    "nvfp4": FormatInfo(4.5, 16),
    "nvfp4-four-over-six": FormatInfo(4.5, 16),
    "nvfp4-search": FormatInfo(4.5, 16),
    "mxfp4": FormatInfo(4.25, 32),
    "nf4": FormatInfo(4.5, 64),
    "fp8": FormatInfo(8.0, None),
}

RULES = {
    "nvfp4": "amax",
    "nvfp4-four-over-six": "four_over_six",
    "nvfp4-search": "search",
}
"""NVFP4's scale rules, by the names they have here."""
