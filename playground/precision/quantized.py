"""What every precision below 16 bits shares: layers it may leave out, and a test before its use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import torch
from torch import nn

from kernels import choose_backend
from kernels.selftest import Shape, self_test, verified
from playground.config import QuantizationSettings
from playground.precision.recipe import HowItRuns, Recipe

if TYPE_CHECKING:
    from playground.hardware import Device


@dataclass(frozen=True)
class Quantized(Recipe):
    """A recipe whose weights take less than 16 bits.

    keep_last_blocks / keep_layers: what stays in 16 bits; ``keep.py`` finds the layers.
    """

    keep_last_blocks: int = 0
    keep_layers: tuple[str, ...] = ()

    def with_options(self, settings: QuantizationSettings) -> Self:
        layers = () if settings.keep_layers == "none" else tuple(settings.keep_layers)
        return replace(self, keep_last_blocks=settings.keep_last_blocks, keep_layers=layers)

    def refuses_shape(self, n: int, k: int) -> str | None:
        """Why a weight of shape (N, K) cannot be packed, or None where it can."""
        return None

    def refuses(self, linear: nn.Linear) -> str | None:
        return self.refuses_shape(linear.out_features, linear.in_features)

    @property
    def activation_rule(self) -> str:
        """The scale rule that a self-test should use for activations."""
        return "amax"

    def self_test(
        self, device: torch.device, shapes: tuple[Shape, ...], cache: Path | None
    ) -> list[str]:
        if device.type != "cuda":
            return []
        # Layers of other shapes stay in the compute type.
        shapes = tuple((m, n, k) for m, n, k in shapes if not self.refuses_shape(n, k))
        options = {"scale_rule": self.activation_rule}
        if cache is None:
            found = self_test(device, self.name, shapes, **options)
        else:
            found = verified(device, self.name, shapes, cache=cache, **options)
        return [v.reason if v.passed else f"{v.backend} is off: {v.reason}" for v in found]

    def how(self, device: Device) -> HowItRuns:
        place = torch.device("cuda", device.index or 0) if device.kind == "cuda" else "cpu"
        backend = choose_backend(place, self.name)
        return HowItRuns(self.name, backend.how, backend.reason)
