"""Round an activation once for all the Linears that read it (q, k, v; gate, up)."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from torch import Tensor


class SharedOperand:
    """The last input and what it was rounded to, forgotten as soon as that input is freed.

    All converted Linears of a model share one. Siblings are called one after another with the very
    same tensor, so one entry is enough, and identity plus version is a complete test of sameness.
    The input itself is held weakly: the cache keeps no activation alive.
    """

    def __init__(self) -> None:
        self._source: weakref.ref[Tensor] | None = None
        self._version = 0
        self._rounded: Tensor | None = None

    def get(self, x: Tensor, rounded: Callable[[Tensor], Tensor]) -> Tensor:
        """``rounded(x)``, computed unless ``x`` is the unchanged input of the previous call."""
        if x.is_inference():  # has no version counter, so a change in place would go unseen
            return rounded(x)
        if self._rounded is None or self._source() is not x or self._version != x._version:
            self._rounded = rounded(x)
            self._version = x._version
            self._source = weakref.ref(x, self._forget)
        return self._rounded

    def _forget(self, source: weakref.ref[Tensor]) -> None:
        if source is self._source:
            self._source = self._rounded = None
