"""Which backend serves a device and a recipe, and why: the one seam between reference and kernels.

On a GPU a backend is used only after it has passed the self-test there (``selftest.py``), on the
shapes at hand. What failed is switched off with its reason; nothing falls back silently.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from typing import Literal

import torch

How = Literal["native", "weight-only", "emulated"]
FP4Recipe = Literal["nvfp4", "nvfp4-2d", "nvfp4-weight-only", "mxfp4"]
LinearRecipe = Literal["fp8", FP4Recipe, "nf4"]

NATIVE_CAPABILITIES = ((10, 0), (10, 3), (12, 0))
"""GPUs whose FP4 tensor cores the pinned Triton compiles for; sm_121 needs Triton 3.8."""
FP8_FROM = (8, 9)
"""The first GPU with FP8 tensor cores."""
_LABELS = {"fp8": "FP8", "mxfp4": "MXFP4", "nf4": "NF4"}
_ON_A_CPU = {
    "fp8": "A CPU has no FP8 units, so FP8 is emulated: same bits, products in fp32.",
    "nf4": "Without a GPU bitsandbytes' kernels are not used: this project's own code decodes the "
    "same table, and 16-bit products are emulated in fp32.",
}


@dataclass(frozen=True)
class BackendChoice:
    """The outcome of a choice, shown with every run.

    Attributes:
        name: the backend, for records: "reference"; for 4 bits "native", "cublas" or "decoded"; for
            FP8 "rowwise" or "tensorwise"; for NF4 "bitsandbytes" or "torch".
        how: "native" FP4 tensor cores, "weight-only" packed weights with 16-bit products, or
            "emulated": formats rounded bit for bit, products in fp32.
        reason: one sentence for a person.
    """

    name: str
    how: How
    reason: str


@dataclass(frozen=True)
class Verdict:
    """What the self-test found about one backend on one device, for one recipe.

    Attributes:
        backend / recipe: what was tried.
        passed: forward and backward agreed with the reference on every shape.
        reason: one sentence: how close it came, or what was wrong.
        milliseconds: forward and backward over all shapes; None if it failed.
    """

    backend: str
    recipe: str
    passed: bool
    reason: str
    milliseconds: float | None = None


_WEIGHT_ONLY = ("decoded", "bitsandbytes", "torch")
_verdicts: dict[tuple[str, str, str], Verdict] = {}


def remember(device: torch.device | str, verdict: Verdict) -> None:
    """Lets ``choose_backend`` know what the self-test found on a device."""
    _verdicts[str(torch.device(device)), verdict.recipe, verdict.backend] = verdict


def verdicts(device: torch.device | str, recipe: str) -> list[Verdict]:
    """What is known about the backends of a device for a recipe."""
    key = (str(torch.device(device)), recipe)
    return [verdict for known, verdict in _verdicts.items() if known[:2] == key]


def forget() -> None:
    """Drops all that was remembered, in this process."""
    _verdicts.clear()


def choose_backend(device: torch.device | str, recipe: LinearRecipe = "nvfp4") -> BackendChoice:
    """The backend that a recipe runs on for tensors of ``device``: the quickest that passed."""
    device = torch.device(device)
    label = _LABELS.get(recipe, "NVFP4")
    if device.type == "cpu":
        reason = f"A CPU has no FP4 units, so {label} is emulated: same bits, products in fp32."
        return BackendChoice("reference", "emulated", _ON_A_CPU.get(recipe, reason))
    named, why_none = candidates(device, recipe)
    known = verdicts(device, recipe)
    passed = [v for v in known if v.passed and v.backend in named]
    if passed:
        # bitsandbytes first, though NF4 be decoded quicker: people mean its kernels by "NF4".
        best = min(passed, key=lambda v: (v.backend != "bitsandbytes", v.milliseconds or 0.0))
        how: How = "weight-only" if best.backend in _WEIGHT_ONLY else "native"
        return BackendChoice(best.backend, how, best.reason)
    failed = [f"{v.backend}: {v.reason}" for v in known if not v.passed]
    if failed:
        why = f"Every faster backend failed its self-test ({' '.join(failed)})"
    elif named:
        why = f"No self-test of {' or '.join(named)} has passed here yet"
    else:
        why = why_none
    return BackendChoice("reference", "emulated", f"{why}, so {label} is emulated on the GPU.")


def candidates(device: torch.device | str, recipe: LinearRecipe) -> tuple[list[str], str]:
    """Backends that might serve a recipe on a device, and why none, where there is none."""
    device = torch.device(device)
    if device.type != "cuda":
        return [], f"No kernel serves a {device.type} device"
    capability = torch.cuda.get_device_capability(device)
    name = "sm_{}{}".format(*capability)
    if recipe == "fp8":
        if capability < FP8_FROM:
            return [], f"{name} has no FP8 tensor cores"
        return ["rowwise", "tensorwise"], ""
    if recipe in ("nvfp4-weight-only", "nf4"):
        if capability < (8, 0):
            return [], f"{name} has no bf16 tensor cores, which decoded products need"
        if recipe == "nvfp4-weight-only":
            return ["decoded"], ""
        return ["bitsandbytes", "torch"] if bitsandbytes_is_here() else ["torch"], ""
    if capability not in NATIVE_CAPABILITIES:
        return [], f"{name} has no FP4 tensor cores that the installed Triton knows"
    # cuBLASLt's MXFP4 is left out: the formats are compared, so one kernel should serve both.
    by_cublas = recipe != "mxfp4" and hasattr(torch.nn.functional, "scaled_mm")
    return ["native", "cublas"] if by_cublas else ["native"], ""


def bitsandbytes_is_here() -> bool:
    """Whether bitsandbytes is installed, found without importing it."""
    return importlib.util.find_spec("bitsandbytes") is not None


def check_backend(name: str | None, device: torch.device) -> str:
    """The backend for quantising and decoding: ``name`` where a caller insists, else the usual one.

    Triton serves a GPU and the reference everything else: both return the same bytes.

    Raises:
        ValueError: no such backend, or it cannot run on the device.
    """
    if name is None:
        return "triton" if device.type == "cuda" else "reference"
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
