"""Power and energy of a step, asked of the GPU's driver (NVML). Without a GPU: None, never 0."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pynvml
import torch

from playground.hardware import first_visible

COUNTER = "NVML: the device's energy counter; power sampled at each step's ends"
INTEGRATED = "NVML: power sampled at each step's ends, times the step's duration"


class Reading(NamedTuple):
    """One moment: seconds, joules since the driver was loaded, watts; None where not told."""

    at_s: float
    energy_j: float | None
    power_w: float | None


class EnergyMeter:
    """Around a step: ``with meter(): ...``, then ``power_w`` and ``energy_j`` of what ran inside.

    It is the whole device's draw, so whatever else runs on the GPU is in it. The counter moves in
    ticks of tens of milliseconds: a step without one has no energy (None) and the next has its
    share too, so that the sum over a run is right where a single short step is not. A driver
    averages power, over a second on some devices.

    Attributes:
        source: where the figures come from, in words; None when there are none.
    """

    def __init__(
        self, device: torch.device, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._clock = clock
        self._handle = _open() if device.type == "cuda" else None
        now = self._read()
        self.source: str | None = None
        if now.power_w is not None:
            self.source = INTEGRATED
        if now.energy_j is not None:
            self.source = COUNTER
        self.power_w: float | None = None
        self.energy_j: float | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Put it outside the step's timer: then asking takes nothing of the step's time, and the
        device has done its work when the second reading is taken."""
        before = self._read()
        yield
        after = self._read()
        self.power_w = _mean(before.power_w, after.power_w)
        if self.source == COUNTER:
            self.energy_j = _difference(before.energy_j, after.energy_j)
        else:
            seconds = after.at_s - before.at_s
            self.energy_j = None if self.power_w is None else self.power_w * seconds

    def _read(self) -> Reading:
        if self._handle is None:
            return Reading(0.0, None, None)
        return Reading(
            self._clock(),
            _asked(pynvml.nvmlDeviceGetTotalEnergyConsumption, self._handle),  # mJ
            _asked(pynvml.nvmlDeviceGetPowerUsage, self._handle),  # mW
        )


def _open() -> Any | None:
    """The GPU's handle; NVML stays open for as long as this process lives."""
    try:
        pynvml.nvmlInit()
        return first_visible()
    except pynvml.NVMLError:
        return None


def _asked(question: Callable[[Any], int], handle: Any) -> float | None:
    """In units, of a figure in thousandths; None where this device cannot tell it."""
    try:
        return question(handle) / 1000
    except pynvml.NVMLError:
        return None


def _mean(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else (first + second) / 2


def _difference(before: float | None, after: float | None) -> float | None:
    if before is None or after is None or after <= before:
        return None
    return after - before
