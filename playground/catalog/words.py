"""Sizes and counts as people read them; the page and the terminal share these."""

from __future__ import annotations


def in_bytes(size: int) -> str:
    """``1.5 GB`` (of 10^9 bytes, as the hub counts), ``98 MB``, ``4.8 MB``."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if size >= 0.9995 * unit:
            return f"{_three(size / unit)} {name}"
    return f"{size / 1e3:.0f} kB"


def in_parameters(count: int) -> str:
    """``70.6 B``, ``1.24 B``, ``596 M``."""
    for unit, name in ((1e9, "B"), (1e6, "M")):
        if count >= 0.9995 * unit:  # what would be written as 1000 of the next
            return f"{_three(count / unit)} {name}"
    return f"{count:,}"


def _three(value: float) -> str:
    """With three figures at most."""
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
