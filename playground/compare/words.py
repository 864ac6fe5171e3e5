"""How figures and lists are written in the sentences of a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from playground.compare import sentences as say


def joined(parts: Sequence[str], mark: str = ",") -> str:
    """``a, b and c``; with ``;``, ``a; b; c``."""
    if mark != "," or len(parts) < 2:
        return (say.COMMA if mark == "," else say.SEMICOLON).join(parts)
    return say.ALL_AND_LAST.format(all=say.COMMA.join(parts[:-1]), last=parts[-1])


def plural(count: float, noun: str) -> str:
    """``1 step``, ``1,200 steps``; a mean that is no whole number keeps one place."""
    whole = count == round(count)
    return say.COUNTS[noun][count != 1].format(count=f"{count:,.{0 if whole else 1}f}")


def percent(share: float) -> str:
    """Without its sign; finer below 1 %, where the differences between formats are."""
    if abs(share) > 100:
        return say.OVER_A_HUNDRED  # of no use in figures, and there may be hundreds of them
    return f"{abs(share):.2%}" if abs(share) < 0.01 else f"{abs(share):.1%}"


def signed_percent(share: float) -> str:
    """With a true minus; none before zero."""
    text = percent(share)
    return f"−{text}" if share < 0 and text != percent(0) else text


def signed(value: float, digits: int = 4) -> str:
    text = f"{abs(value):.{digits}f}"
    return f"−{text}" if value < 0 and float(text) else text
