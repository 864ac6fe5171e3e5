"""What the converted Linears of one model share: a rounded activation, and a source of seeds."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import torch
from torch import Tensor

# Seeds of two layers lie 2^32 apart: each forward pass of the model takes the next one.
_SEEDS_OF_A_LAYER = 2**32


class SharedOperand:
    """The last input and what it was rounded to, forgotten as soon as that input is freed.

    An activation is rounded once for all the Linears that read it (q, k, v; gate, up). They are
    called one after another with the very same tensor, so one entry is enough, and identity plus
    version is a complete test of sameness. The input itself is held weakly: the cache keeps no
    activation alive.
    """

    def __init__(self) -> None:
        self._source: weakref.ref[Tensor] | None = None
        self._version = 0
        self._rounded: Any = None
        self._layers = count(1)
        self._passes: Tensor | None = None

    def first_seed(self, device: torch.device) -> Tensor:
        """(1,) int64, for the stochastic rounding of one layer; no two layers share draws.

        Follows torch's seed, but draws nothing from its generator: dropout must not notice.
        """
        self._passes = torch.zeros(1, dtype=torch.int64, device=device)
        seed = (torch.initial_seed() + next(self._layers) * _SEEDS_OF_A_LAYER) % 2**62
        return torch.tensor([seed], dtype=torch.int64, device=device)

    def seed(self, first: Tensor) -> Tensor:
        """A layer's seed for this forward pass of the model, recomputation included."""
        return first + self._passes

    def next_pass(self, *_: Any) -> None:
        """Another forward pass of the whole model begins: another seed for each layer."""
        if self._passes is not None:
            self._passes = self._passes + 1  # a new tensor: a compiled graph may hold the old one

    @property
    def passes(self) -> Tensor | None:
        """(1,) int64, forward passes counted so far; None where no layer needs seeds. It is never
        written to again, so keeping it keeps the count, and no GPU is waited for."""
        return self._passes

    @passes.setter
    def passes(self, value: Tensor | None) -> None:
        if self._passes is not None and value is not None:
            self._passes = value.to(self._passes.device)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Passes inside are not counted, and leave no operand behind: as if nothing had run."""
        before = self._passes
        try:
            yield
        finally:
            self._passes = before
            self._source = self._rounded = None

    def get(self, x: Tensor, rounded: Callable[[Tensor], Any]) -> Any:
        """``rounded(x)``, computed unless ``x`` is the unchanged input of the previous call."""
        if torch.compiler.is_compiling():  # the compiler merges equal calls by itself
            return rounded(x)
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
