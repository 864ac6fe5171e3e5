"""Which backend serves a device, and why: the one seam between the reference and the kernels."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

import torch

How = Literal["native", "weight-only", "emulated"]


@dataclass(frozen=True)
class BackendChoice:
    """The outcome of a choice, shown with every run.

    Attributes:
        name: the backend, for records: "reference".
        how: "native" FP4 tensor cores, "weight-only" packed weights with 16-bit products, or
            "emulated": formats rounded bit for bit, products in fp32.
        reason: one sentence for a person.
    """

    name: str
    how: How
    reason: str


def choose_backend(device: torch.device | str) -> BackendChoice:
    """The backend that NVFP4 runs on for tensors of ``device``."""
    kind = torch.device(device).type
    if kind == "cpu":
        reason = "A CPU has no FP4 units, so NVFP4 is emulated: same bits, products in fp32."
    else:
        reason = f"No FP4 kernel serves a {kind} device yet, so NVFP4 is emulated there."
    return BackendChoice("reference", "emulated", reason)


def check_backend(name: str | None, device: torch.device) -> str:
    """The backend to call: ``name`` where a caller insists, else the one chosen for the device.

    Raises:
        ValueError: no such backend, or it cannot run on the device.
    """
    if name is None:
        return choose_backend(device).name
    if name not in ("reference", "triton"):
        raise ValueError(
            f"backend is {name!r}; choose 'reference' or 'triton', or None to have one chosen"
        )
    if name == "triton" and device.type != "cuda" and not interpreting():
        raise ValueError(
            f"backend is 'triton', but the tensor is on {device.type}; move it to a GPU, or leave "
            "the backend out"
        )
    return name


def interpreting() -> bool:
    """Whether Triton's kernels run in its interpreter, on the CPU: for tests, never by default."""
    return os.environ.get("TRITON_INTERPRET") == "1"
