"""Whether the held-out rows are enough to tell two precisions apart."""

from __future__ import annotations

from playground.data import sentences as say

_ENOUGH = 20


def few_held_out(rows: int) -> str | None:
    """One sentence where fewer rows are held out than a difference can be trusted on."""
    return say.FEW_HELD_OUT.format(count=rows) if 0 < rows < _ENOUGH else None
