"""A true sentence about every machine; NVML is faked."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from playground import hardware

GIB = 2**30


class FakeNvml(SimpleNamespace):
    """pynvml with the given GPUs: (name, compute capability, bytes or None)."""

    def __init__(
        self,
        gpus: list[tuple[str, tuple[int, int], int | None]],
        driver: str = "580.65.06",
        cuda: int = 13000,
        init_error: Exception | None = None,
    ) -> None:
        super().__init__(
            **{name: getattr(pynvml, name) for name in dir(pynvml) if name.startswith("NVMLError")}
        )
        self.gpus, self.driver, self.cuda, self.init_error = gpus, driver, cuda, init_error
        self.opened = 0

    def nvmlInit(self) -> None:
        if self.init_error:
            raise self.init_error
        self.opened += 1

    def nvmlShutdown(self) -> None:
        self.opened -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return self.driver

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:
        return self.cuda

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> int:
        return int(uuid.removeprefix("GPU-"))

    def nvmlDeviceGetName(self, handle: int) -> str:
        return self.gpus[handle][0]

    def nvmlDeviceGetCudaComputeCapability(self, handle: int) -> tuple[int, int]:
        return self.gpus[handle][1]

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:
        total = self.gpus[handle][2]
        if total is None:
            raise pynvml.NVMLError_NotSupported()
        return SimpleNamespace(total=total)


RTX_PRO = ("NVIDIA RTX PRO 6000 Blackwell", (12, 0), 96 * GIB)
H200 = ("NVIDIA H200", (9, 0), 141 * GIB)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """Makes detect() see the given GPUs with a torch built for CUDA 13.0."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def make(*gpus: Any, torch_cuda: str | None = "13.0", **other: Any) -> FakeNvml:
        fake = FakeNvml(list(gpus), **other)
        monkeypatch.setattr(hardware, "pynvml", fake)
        monkeypatch.setattr(hardware, "_torch_cuda", lambda: torch_cuda)
        return fake

    return make


def test_a_blackwell_gpu_is_native(machine) -> None:
    fake = machine(RTX_PRO)
    device = hardware.detect()
    assert (device.kind, device.index, device.fp4_native) == ("cuda", 0, True)
    assert (device.compute_capability, device.memory_mib) == ("12.0", 96 * 1024)
    assert device.driver == "580.65.06"
    assert device.reason == (
        "NVIDIA RTX PRO 6000 Blackwell, compute capability 12.0, has FP4 tensor cores."
    )
    assert fake.opened == 0  # NVML is left again


@pytest.mark.parametrize(
    ("capability", "native"),
    [((8, 6), 0), ((8, 9), 0), ((9, 0), 0), ((10, 0), 1), ((10, 3), 1), ((12, 0), 1), ((12, 1), 1)],
)
def test_fp4_tensor_cores_come_with_blackwell(machine, capability: tuple, native: int) -> None:
    machine(("NVIDIA Any", capability, 8 * GIB))
    device = hardware.detect()
    assert device.fp4_native == bool(native) and device.kind == "cuda"
    assert ("has no FP4" in device.reason) != bool(native)


def test_a_gpu_that_shares_the_systems_memory(machine) -> None:
    machine(("NVIDIA GB10", (12, 1), None))
    assert hardware.detect().memory_mib is None


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (pynvml.NVMLError_LibraryNotFound(), "No NVIDIA GPU driver is installed"),
        (pynvml.NVMLError_DriverNotLoaded(), "installed but not loaded"),
        (pynvml.NVMLError_LibRmVersionMismatch(), "restart the machine"),
        (pynvml.NVMLError_NoPermission(), "cannot be used (Insufficient Permissions)"),
    ],
)
def test_without_a_driver_the_cpu_and_why(machine, error: Exception, says: str) -> None:
    machine(init_error=error)
    device = hardware.detect()
    assert (device.kind, device.index, device.fp4_native) == ("cpu", None, False)
    assert says in device.reason and "emulated" in device.reason
    assert device.name and device.cpu_count >= 1 and (device.memory_mib or 0) > 100


def test_a_driver_that_finds_no_gpu(machine) -> None:
    machine()
    device = hardware.detect()
    assert device.kind == "cpu" and "finds no GPU" in device.reason
    assert device.driver == "580.65.06"


def test_an_old_driver_names_both_versions_and_the_remedy(machine) -> None:
    machine(RTX_PRO, driver="550.54.14", cuda=12040)
    device = hardware.detect()
    assert device.kind == "cpu"
    assert device.reason == (
        "NVIDIA RTX PRO 6000 Blackwell is here, but its driver 550.54.14 is for CUDA 12.4 and "
        "torch needs 13.0, so every format but FP32 is emulated; update the driver."
    )


def test_a_torch_for_cpus_only_is_said(machine) -> None:
    machine(RTX_PRO, torch_cuda=None)
    device = hardware.detect()
    assert device.kind == "cpu" and "torch is built for CPUs only" in device.reason


@pytest.mark.parametrize(
    ("visible", "name"),
    [("1", "NVIDIA H200"), ("1,0", "NVIDIA H200"), ("GPU-1", "NVIDIA H200"), ("0", RTX_PRO[0])],
)
def test_the_first_visible_gpu_is_meant(machine, monkeypatch, visible: str, name: str) -> None:
    machine(RTX_PRO, H200)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    device = hardware.detect()
    assert device.name == name and device.index == 0


@pytest.mark.parametrize("visible", ["", "-1", "9", "none"])
def test_hidden_gpus_are_said_to_be_hidden(machine, monkeypatch, visible: str) -> None:
    machine(RTX_PRO)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    device = hardware.detect()
    assert device.kind == "cpu"
    assert f"CUDA_VISIBLE_DEVICES='{visible}' hides every GPU" in device.reason


def test_a_driver_that_stops_answering_is_said(machine, monkeypatch) -> None:
    fake = machine(RTX_PRO)

    def lost(handle: int) -> str:
        raise pynvml.NVMLError_GpuIsLost()

    monkeypatch.setattr(fake, "nvmlDeviceGetName", lost, raising=False)
    assert "does not answer (GPU is lost)" in hardware.detect().reason
    assert fake.opened == 0


@pytest.mark.parametrize("old_driver", [False, True])
def test_memory_in_use_is_what_others_hold(machine, monkeypatch, old_driver: bool) -> None:
    fake = machine(RTX_PRO, H200)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    v2 = pynvml.nvmlMemory_v2

    def info(handle: int, version: int | None = None) -> SimpleNamespace:
        assert handle == 1
        if version == v2 and old_driver:
            raise pynvml.NVMLError_FunctionNotFound()
        # Only the newer question leaves out what the driver keeps for itself.
        return SimpleNamespace(used=3 * GIB if version == v2 else 4 * GIB)

    monkeypatch.setattr(fake, "nvmlMemory_v2", v2, raising=False)
    monkeypatch.setattr(fake, "nvmlDeviceGetMemoryInfo", info, raising=False)
    assert hardware.memory_in_use_mib() == (4096 if old_driver else 3072)
    assert fake.opened == 0


def test_memory_in_use_is_unknown_without_a_gpu(machine, monkeypatch) -> None:
    machine(init_error=pynvml.NVMLError_LibraryNotFound())
    assert hardware.memory_in_use_mib() is None
    fake = machine(RTX_PRO)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert hardware.memory_in_use_mib() is None
    assert fake.opened == 0


def test_the_version_torch_was_built_with_is_read_without_loading_it() -> None:
    code = (
        "import sys, runpy, importlib.metadata; from playground import hardware;"
        "file = importlib.metadata.distribution('torch').locate_file('torch/version.py');"
        "print(hardware._torch_cuda() == runpy.run_path(str(file))['cuda']);"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "True\n", done.stderr


def test_this_machine_is_described_in_json() -> None:
    described = hardware.detect().to_dict()
    assert json.loads(json.dumps(described)) == described
    assert described["reason"].endswith(".") and described["name"]
