"""GPUs one might rent or buy: their memory and whether they multiply in FP4, to plan a run by."""

from __future__ import annotations

from typing import NamedTuple

from playground.config import SettingsError, nearest
from playground.hardware import FP4_CAPABILITIES


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
