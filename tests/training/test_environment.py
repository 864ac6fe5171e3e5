"""A GPU that torch cannot use is said to be one, and the run goes on without it."""

from __future__ import annotations

import pytest
import torch

from playground.hardware import Device
from playground.training.environment import compute_device

GPU = Device("NVIDIA Test", "cuda", 0, 8192, "12.0", True, "600.0", "It is there.", 2)


def test_a_gpu_without_support_in_torch_leads_to_the_cpu_and_a_true_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_kernel(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: no kernel image is available for execution\nmore")

    monkeypatch.setattr(torch, "ones", no_kernel)
    device, told = compute_device(GPU)
    assert device == torch.device("cpu")
    assert (told.kind, told.name, told.fp4_native, told.index) == ("cpu", "CPU", False, None)
    assert told.reason == (
        "torch cannot use NVIDIA Test (CUDA error: no kernel image is available for execution), "
        "so every format but FP32 is emulated."
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a torch without CUDA")
def test_a_torch_built_for_cpus_says_so() -> None:
    device, told = compute_device(GPU)
    assert device.type == "cpu"
    assert "torch cannot use NVIDIA Test (" in told.reason


def test_a_cpu_stays_a_cpu() -> None:
    cpu = Device("CPU", "cpu", None, None, None, False, None, "No GPU.", 2)
    assert compute_device(cpu) == (torch.device("cpu"), cpu)
