"""Numbers as a person reads them. What was not measured reads as a dash, never as 0."""

from __future__ import annotations

import math
from datetime import datetime

from playground.ui import text


def number(value: float | None, digits: int = 4) -> str:
    """``digits`` significant figures, no exponent where one can be avoided."""
    if value is None:
        return text.EM_DASH
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e7 or size < 1e-4:
        return f"{value:.2e}".replace("-", "−")
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    return f"{value:,.{decimals}f}".replace("-", "−")


def signed(value: float | None, decimals: int = 4) -> str:
    """A difference: always with its sign."""
    if value is None or not math.isfinite(value):
        return text.EM_DASH
    rounded = f"{abs(value):.{decimals}f}"
    if float(rounded) == 0:
        return f"±{rounded}"
    return ("+" if value > 0 else "−") + rounded


def signed_share(value: float | None) -> str:
    """``+2.1 %``."""
    known = value is not None and math.isfinite(value)
    return f"{signed(100 * value, 1)} %" if known else text.EM_DASH


def ratio(value: float | None) -> str:
    return text.EM_DASH if value is None else f"{value:.2f}×"


def mib(value: float | None) -> str:
    return text.EM_DASH if value is None else f"{number(value)} MiB"


def share(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return number(value)
    return f"{value:.1%}".replace("%", " %")


def fine_share(value: float) -> str:
    """As ``share``; below 1 % with two significant figures, and 0 only where it is 0."""
    if not 0 <= value < 0.01:
        return share(value)
    return f"{100 * value:.2g} %" if value >= 1e-6 or not value else "< 0.0001 %"


def count(value: int | None) -> str:
    return text.EM_DASH if value is None else f"{value:,}"


def duration(seconds: float) -> str:
    """``8 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return text.DURATION["s"].format(s=whole)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        fine = rest and minutes < 10
        return text.DURATION["min s" if fine else "min"].format(min=minutes, s=rest)
    hours, minutes = divmod(minutes, 60)
    return text.DURATION["h min" if minutes else "h"].format(h=hours, min=minutes)


def moment(unix_seconds: float) -> str:
    """Local time of this machine, to the minute."""
    return datetime.fromtimestamp(unix_seconds).strftime("%Y-%m-%d %H:%M")


def short_hash(value: str | None) -> str:
    return text.EM_DASH if value is None else value[:12]
