"""GPUs one might rent or buy, to plan a run by: their memory, and whether so much fits into it.

What a device needs beside what tensors take is assumed, not computed:

    a GPU   1024 MiB: a CUDA context and the kernels in it take about half of that, the work space
            of cuBLAS and what the allocator holds unused some of the rest
    a CPU   768 MiB: Python with torch and transformers loaded
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from playground.config import SettingsError, nearest
from playground.hardware import FP4_CAPABILITIES

Verdict = Literal["fits", "tight", "does not fit", "unknown"]

OVERHEAD_MIB = {"cuda": 1024.0, "cpu": 768.0}
TIGHT_SHARE = 0.85
"""Above it the allocator's gaps, a desktop or another program may take what is left."""


class NamedDevice(NamedTuple):
    """memory_mib: all of it, as nvidia-smi shows it, which is less than the label on the box.
    compute_capability: (major, minor), from NVIDIA's list (developer.nvidia.com/cuda-gpus)."""

    name: str
    memory_mib: int
    compute_capability: tuple[int, int]

    @property
    def fp4_native(self) -> bool:
        return self.compute_capability in FP4_CAPABILITIES


DEVICES: dict[str, NamedDevice] = {
    "rtx-3090": NamedDevice("NVIDIA GeForce RTX 3090", 24_576, (8, 6)),
    "rtx-4090": NamedDevice("NVIDIA GeForce RTX 4090", 24_564, (8, 9)),
    "rtx-5080": NamedDevice("NVIDIA GeForce RTX 5080", 16_303, (12, 0)),
    "rtx-5090": NamedDevice("NVIDIA GeForce RTX 5090", 32_607, (12, 0)),
    "rtx-pro-6000": NamedDevice("NVIDIA RTX PRO 6000 Blackwell", 97_887, (12, 0)),
    "t4": NamedDevice("NVIDIA Tesla T4", 15_360, (7, 5)),
    "l4": NamedDevice("NVIDIA L4", 23_034, (8, 9)),
    "l40s": NamedDevice("NVIDIA L40S", 46_068, (8, 9)),
    "a100-40gb": NamedDevice("NVIDIA A100 40GB", 40_960, (8, 0)),
    "a100-80gb": NamedDevice("NVIDIA A100 80GB", 81_920, (8, 0)),
    "h100": NamedDevice("NVIDIA H100 80GB", 81_559, (9, 0)),
    "h200": NamedDevice("NVIDIA H200", 143_771, (9, 0)),
    "b200": NamedDevice("NVIDIA B200", 183_359, (10, 0)),
}


def named_device(name: str) -> NamedDevice:
    """The device that ``--device`` means; case, spaces and underscores do not matter.

    Raises:
        SettingsError: there is none of that name here; with those there are.
    """
    written = "-".join(name.lower().replace("_", " ").split())
    if written not in DEVICES:
        known = list(DEVICES)
        raise SettingsError(
            f"Device '{name}' is unknown; choose from {', '.join(known)}.{nearest(written, known)}"
        )
    return DEVICES[written]


def verdict(needed_mib: float, memory_mib: float | None) -> Verdict:
    """Whether so much fits into so much; unknown where a driver does not tell how much there is."""
    if memory_mib is None:
        return "unknown"
    if needed_mib > memory_mib:
        return "does not fit"
    return "tight" if needed_mib > TIGHT_SHARE * memory_mib else "fits"
