"""What this machine computes on, found without torch and without opening a CUDA context.

NVML answers in milliseconds and holds no GPU memory, so the page may ask it. Whatever keeps a GPU
from being used is said in one true sentence; the emulation on the CPU works all the same.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
import pynvml

FP4_CAPABILITIES = frozenset({(10, 0), (10, 3), (12, 0), (12, 1)})
"""Compute capabilities with FP4 tensor cores: B200, B300, RTX Blackwell, GB10."""

MIB = 2**20


@dataclass(frozen=True)
class Device:
    """Where runs compute.

    Attributes:
        name: as a person knows it, such as "NVIDIA RTX PRO 6000 Blackwell".
        index: position among the GPUs that CUDA_VISIBLE_DEVICES shows, as torch counts; None: CPU.
        memory_mib: of the GPU, or of the machine for a CPU; None if it cannot be told.
        compute_capability: such as "12.0"; None for a CPU.
        fp4_native: it has FP4 tensor cores.
        driver: NVIDIA's driver version, if one is there.
        reason: one sentence: why this device, and what that means for NVFP4.
        cpu_count: CPUs that this process may use.
    """

    name: str
    kind: Literal["cuda", "cpu"]
    index: int | None
    memory_mib: int | None
    compute_capability: str | None
    fp4_native: bool
    driver: str | None
    reason: str
    cpu_count: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def detect() -> Device:
    """The device that runs use: the first visible GPU if torch can drive it, else the CPU."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return _cpu(_no_driver(error))
    try:
        return _first_gpu()
    except pynvml.NVMLError as error:
        return _cpu(
            f"NVIDIA's driver does not answer ({error}), so every format but FP32 is emulated."
        )
    finally:
        pynvml.nvmlShutdown()


def memory_in_use_mib() -> float | None:
    """What the first visible GPU's memory holds now, whoever's it is; None if it cannot be told.

    What the driver keeps for itself is left out, where the driver tells the two apart.
    """
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        handle = first_visible()
        return None if handle is None else _used_bytes(handle) / MIB
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def _used_bytes(handle: Any) -> int:
    try:
        return pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2).used
    except (pynvml.NVMLError_FunctionNotFound, pynvml.NVMLError_InvalidArgument):  # old drivers
        return pynvml.nvmlDeviceGetMemoryInfo(handle).used


def _first_gpu() -> Device:
    driver = _text(pynvml.nvmlSystemGetDriverVersion())
    if pynvml.nvmlDeviceGetCount() == 0:
        return _cpu("NVIDIA's driver finds no GPU, so every format but FP32 is emulated.", driver)
    handle = first_visible()
    if handle is None:
        shown = os.environ["CUDA_VISIBLE_DEVICES"]
        return _cpu(
            f"CUDA_VISIBLE_DEVICES='{shown}' hides every GPU, so every format but FP32 is "
            "emulated.",
            driver,
        )
    name = _text(pynvml.nvmlDeviceGetName(handle))
    obstacle = _obstacle(name, driver)
    if obstacle:
        return _cpu(obstacle, driver)
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    native = (major, minor) in FP4_CAPABILITIES
    cores = "has FP4 tensor cores" if native else "has no FP4 tensor cores (Blackwell has them)"
    return Device(
        name=name,
        kind="cuda",
        index=0,
        memory_mib=_memory_mib(handle),
        compute_capability=f"{major}.{minor}",
        fp4_native=native,
        driver=driver,
        reason=f"{name}, compute capability {major}.{minor}, {cores}.",
        cpu_count=_cpu_count(),
    )


def first_visible() -> Any | None:
    """NVML's handle of the GPU that CUDA would number 0; None if the variable hides them all.

    NVML must be open. Raises pynvml.NVMLError where the driver does not answer.
    """
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip()
    if first.startswith("GPU-"):
        return pynvml.nvmlDeviceGetHandleByUUID(first)
    # CUDA stops reading at the first entry that is no GPU.
    if not first.isdigit() or int(first) >= pynvml.nvmlDeviceGetCount():
        return None
    return pynvml.nvmlDeviceGetHandleByIndex(int(first))


def _obstacle(name: str, driver: str) -> str | None:
    """Why torch could not use this GPU, or None if it can."""
    needs = _torch_cuda()
    if needs is None:
        return (
            f"{name} is here, but the installed torch is built for CPUs only, so every format "
            "but FP32 is emulated; install torch's CUDA build to use the GPU."
        )
    offered = pynvml.nvmlSystemGetCudaDriverVersion_v2()  # 12040 is 12.4
    if offered // 1000 < int(needs.split(".")[0]):
        return (
            f"{name} is here, but its driver {driver} is for CUDA {offered // 1000}."
            f"{offered % 1000 // 10} and torch needs {needs}, so every format but FP32 is "
            "emulated; update the driver."
        )
    return None


def _torch_cuda() -> str | None:
    """The CUDA version that torch was built with, read from its version file without loading it."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    version = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    found = re.search(r"^cuda\b.*=\s*'([\d.]+)'", version, re.MULTILINE)
    return found.group(1) if found else None


def _memory_mib(handle: Any) -> int | None:
    try:
        return pynvml.nvmlDeviceGetMemoryInfo(handle).total // MIB
    except pynvml.NVMLError_NotSupported:  # GB10 shares the system's memory
        return None


def _no_driver(error: Exception) -> str:
    if isinstance(error, pynvml.NVMLError_LibraryNotFound):
        return "No NVIDIA GPU driver is installed, so every format but FP32 is emulated on the CPU."
    if isinstance(error, pynvml.NVMLError_DriverNotLoaded):
        return "NVIDIA's driver is installed but not loaded, so every format but FP32 is emulated."
    if isinstance(error, pynvml.NVMLError_LibRmVersionMismatch):
        return (
            "NVIDIA's driver was updated while an older one is loaded, so every format but FP32 is "
            "emulated; restart the machine to use the GPU."
        )
    return f"NVIDIA's driver cannot be used ({error}), so every format but FP32 is emulated."


def _cpu(reason: str, driver: str | None = None) -> Device:
    return Device(
        name=_cpu_name(),
        kind="cpu",
        index=None,
        memory_mib=psutil.virtual_memory().total // MIB,
        compute_capability=None,
        fp4_native=False,
        driver=driver,
        reason=reason,
        cpu_count=_cpu_count(),
    )


def _cpu_name() -> str:
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        info = ""
    found = re.search(r"^model name\s*:\s*(.+)$", info, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or platform.machine() or "CPU"


def _cpu_count() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
