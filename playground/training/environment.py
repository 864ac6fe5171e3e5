"""What could make two runs differ: versions, kernels and flags, recorded with every run."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import random
from typing import Any

import torch

from playground.config import RunConfig
from playground.hardware import Device
from playground.training.meters import WARMUP_STEPS
from playground.training.optimise import OPTIMIZER

LIBRARIES = ("torch", "triton", "transformers", "peft", "safetensors")


BUSY_MIB = 512
"""In use by others; a desktop alone takes some hundreds."""


def pin_numerics(seed: int) -> None:
    """Makes the arithmetic the same every time: seeds, no TF32, fp32 sums of 16-bit products."""
    # cuBLAS reads this when it starts; without it its sums may differ from run to run.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    random.seed(seed)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # Deterministic mode would also overwrite every fresh tensor, which finds bugs and costs time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def compute_device(detected: Device) -> tuple[torch.device, Device]:
    """Where tensors go, and the device to tell people about.

    GPUs are detected without torch, so torch has the last word: when this build cannot multiply on
    the GPU (an old driver, an architecture left out), the run is emulated on the CPU and says why.
    """
    if detected.kind != "cuda":
        return torch.device("cpu"), detected
    device = torch.device("cuda", detected.index or 0)
    try:
        torch.ones(16, 16, device=device).matmul(torch.ones(16, 16, device=device)).sum().item()
    except (RuntimeError, AssertionError) as error:
        why = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        reason = f"torch cannot use {detected.name} ({why}), so every format but FP32 is emulated."
        return torch.device("cpu"), dataclasses.replace(
            detected,
            name="CPU",
            kind="cpu",
            index=None,
            memory_mib=None,
            compute_capability=None,
            fp4_native=False,
            reason=reason,
        )
    return device, detected


def busy_device(device: Device, in_use_mib: float | None) -> str | None:
    """A warning when somebody else holds much of the GPU's memory, or None.

    Args:
        in_use_mib: measured before this process used the device.
    """
    if device.kind != "cuda" or in_use_mib is None or in_use_mib < BUSY_MIB:
        return None
    return (
        f"{in_use_mib:,.0f} MiB of {device.name}'s memory were in use by others when this run "
        "began. They are not counted as its own, but whoever holds them may slow it down and adds "
        "to the power that is measured."
    )


def environment(
    model: Any,
    config: RunConfig,
    device: torch.device,
    compiled: str,
    revision: str | None = None,
) -> dict[str, Any]:
    """Plain values for the run's record: whatever could differ between arms beside the precision.

    Args:
        model: with its adapter and its loss kernel chosen.
        compiled: what ``compile_blocks`` said.
        revision: the hub's commit of the model; None for one that is not from there.
    """
    return {
        **{name: _version(name) for name in LIBRARIES},
        **({"model_revision": revision} if revision else {}),
        "threads": torch.get_num_threads(),
        "compute_dtype": str(model.dtype).removeprefix("torch."),
        "attention": model.config._attn_implementation,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "tf32": torch.backends.cuda.matmul.allow_tf32,
        "packing": config.data.packing,
        "gradient_checkpointing": config.training.gradient_checkpointing,
        "loss_kernel": model.loss_kernel,
        "optimizer": OPTIMIZER,
        "compile": compiled,
        "batches": "uneven rows in parts" if device.type == "cpu" else "prefetched, pinned",
        "warmup_steps": WARMUP_STEPS[device.type],
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
