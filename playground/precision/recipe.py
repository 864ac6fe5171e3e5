"""What every precision must say: how it takes over a Linear, what it refuses, and how it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import torch
from torch import nn

from playground.config import QuantizationSettings
from playground.events import How
from playground.precision.operands import SharedOperand

if TYPE_CHECKING:
    from playground.hardware import Device


class HowItRuns(NamedTuple):
    """The precision that really runs, in which way, and one sentence saying why."""

    effective: str
    how: How
    reason: str


@dataclass(frozen=True)
class Recipe(ABC):
    """One precision. A subclass is one module of this package and one entry of the registry.

    Attributes:
        name: id in ``config.PRECISIONS``.
        compute_dtype: on a GPU, the type of everything that is not a converted Linear
            (norms, embeddings, attention, head). On a CPU that is always fp32, because 16-bit
            products are about a hundred times slower there.
        scales_loss: small gradients would underflow, so the loss is scaled up.
    """

    name: str
    compute_dtype: torch.dtype
    scales_loss: bool = False

    @abstractmethod
    def convert(self, linear: nn.Linear, device: torch.device, operand: SharedOperand) -> nn.Linear:
        """A frozen Linear on ``device``, with ``linear``'s weight in this precision's format."""

    @abstractmethod
    def how(self, device: Device) -> HowItRuns:
        """How this precision runs on ``device``."""

    def with_options(self, settings: QuantizationSettings) -> Self:
        """This recipe with the options of a run; those it has no use for change nothing."""
        return self

    def self_test(
        self, device: torch.device, shapes: tuple[tuple[int, int, int], ...], cache: Path | None
    ) -> list[str]:
        """Finds out what can be trusted on ``device``; ``convert`` and ``how`` go by it after.

        Args:
            shapes: (M tokens, N, K) of the products that the model will do.
            cache: where verdicts are kept for the next run; None asks anew.
        Returns:
            One sentence for each backend tried. Nothing where there is nothing to try.
        """
        return []

    def refuses(self, linear: nn.Linear) -> str | None:
        """Why this Linear has to stay in the compute type, or None when it can be converted."""
        return None
