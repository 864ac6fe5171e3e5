"""Every source of random numbers that a run draws from: what they will draw next."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from playground.training.prepare import Prepared


@dataclass(frozen=True)
class RandomState:
    """Taken after each step, for microseconds: a step that is broken off has not been.

    cpu / cuda: torch's generators (uint8); cuda is None on a CPU.
    python: ``random.getstate()``.
    passes: (1,) int64, forward passes that the seeds of stochastic rounding have counted; None
        where there are none.
    """

    cpu: Tensor
    cuda: Tensor | None
    python: tuple[Any, ...]
    passes: Tensor | None

    @classmethod
    def of(cls, run: Prepared) -> Self:
        on_gpu = run.device.type == "cuda"
        return cls(
            torch.get_rng_state(),
            torch.cuda.get_rng_state(run.device) if on_gpu else None,
            random.getstate(),
            run.model.get_base_model().shared_operand.passes,
        )

    def restore(self, run: Prepared) -> None:
        """What ``run`` draws from now on is what it drew after this was taken."""
        torch.set_rng_state(self.cpu)
        if self.cuda is not None and run.device.type == "cuda":
            torch.cuda.set_rng_state(self.cuda, run.device)
        random.setstate(self.python)
        run.model.get_base_model().shared_operand.passes = self.passes
