"""Power and energy come from the driver, and only from there. NVML is faked: no GPU is needed."""

from __future__ import annotations

from types import SimpleNamespace

import pynvml
import pytest
import torch

from playground.training import energy
from playground.training.energy import COUNTER, INTEGRATED, EnergyMeter

CUDA, CPU = torch.device("cuda", 0), torch.device("cpu")


class FakeNvml(SimpleNamespace):
    """A GPU whose counter (mJ) and power (mW) are read off two lists, one entry a question."""

    NVMLError = pynvml.NVMLError

    def __init__(self, counter: list[int] | None, power: list[int] | None) -> None:
        super().__init__(counter=counter, power=power)

    def nvmlInit(self) -> None:
        pass

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:
        return _next(self.counter)

    def nvmlDeviceGetPowerUsage(self, handle: int) -> int:
        return _next(self.power)


def _next(values: list[int] | None) -> int:
    if values is None:
        raise pynvml.NVMLError_NotSupported()
    return values.pop(0)


def meter(
    monkeypatch: pytest.MonkeyPatch,
    counter: list[int] | None,
    power: list[int] | None,
    times: tuple[float, ...] = (0.0, 0.0, 0.0),
) -> EnergyMeter:
    """The first entry of each list answers the question whether there is one."""
    monkeypatch.setattr(energy, "pynvml", FakeNvml(counter, power))
    monkeypatch.setattr(energy, "first_visible", lambda: 0)
    clock = iter(times)
    return EnergyMeter(CUDA, clock=lambda: next(clock))


def test_the_devices_counter_is_believed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    made = meter(monkeypatch, [0, 5_000, 17_500], [0, 300_000, 500_000])
    with made():
        pass
    assert (made.energy_j, made.power_w, made.source) == (12.5, 400.0, COUNTER)


def test_without_a_counter_power_is_summed_over_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    made = meter(monkeypatch, None, [0, 300_000, 500_000], times=(0.0, 10.0, 10.5))
    with made():
        pass
    assert (made.energy_j, made.power_w, made.source) == (200.0, 400.0, INTEGRATED)


def test_a_counter_that_did_not_tick_is_missing_and_the_next_step_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = meter(monkeypatch, [0, 5_000, 5_000, 5_000, 9_000], None, times=(0.0,) * 5)
    with made():
        pass
    assert (made.energy_j, made.power_w) == (None, None)
    with made():
        pass
    assert made.energy_j == 4.0


def test_a_gpu_that_tells_neither_has_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    made = meter(monkeypatch, None, None)
    with made():
        pass
    assert (made.source, made.energy_j, made.power_w) == (None, None, None)


def test_a_driver_that_goes_away_leaves_the_step_without_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = meter(monkeypatch, [0, 5_000, 9_000], [0, 300_000, 300_000])
    with made():
        energy.pynvml.counter = energy.pynvml.power = None
    assert (made.source, made.energy_j, made.power_w) == (COUNTER, None, None)


@pytest.mark.parametrize("error", [pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_GpuIsLost])
def test_without_a_driver_there_is_no_energy(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    made = meter(monkeypatch, [0], [0])

    def fails() -> None:
        raise error()

    monkeypatch.setattr(energy.pynvml, "nvmlInit", fails, raising=False)
    made = EnergyMeter(CUDA)
    with made():
        pass
    assert (made.source, made.energy_j, made.power_w) == (None, None, None)


def test_a_cpu_is_never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "pynvml", None)
    made = EnergyMeter(CPU)
    with made():
        pass
    assert (made.source, made.energy_j, made.power_w) == (None, None, None)
