"""What could make two runs differ: versions, kernels and flags, recorded with every run."""

from __future__ import annotations

import importlib.metadata
import random
from typing import Any

import torch

from playground.hardware import Device
from playground.training.loss import LOSS_KERNEL
from playground.training.meters import WARMUP_STEPS

LIBRARIES = ("torch", "triton", "transformers", "peft", "safetensors")


def pin_numerics(seed: int) -> None:
    """Makes the arithmetic the same every time: seeds, no TF32, fp32 sums of 16-bit products."""
    random.seed(seed)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # Deterministic mode would also overwrite every fresh tensor, which finds bugs and costs time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def compute_device(device: Device) -> torch.device:
    """Where tensors go: the detected GPU, if this build of torch can use it.

    The page's process finds GPUs without torch, so torch may know better: built for CPU only, or
    without this GPU's architecture.
    """
    if device.kind == "cuda" and torch.cuda.is_available():
        return torch.device("cuda", device.index or 0), device
    return torch.device("cpu"), device


def environment(model: Any, device: torch.device) -> dict[str, Any]:
    """Plain values for the run's record."""
    return {
        **{name: _version(name) for name in LIBRARIES},
        "threads": torch.get_num_threads(),
        "compute_dtype": str(model.dtype).removeprefix("torch."),
        "attention": model.config._attn_implementation,
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "tf32": torch.backends.cuda.matmul.allow_tf32,
        "loss_kernel": LOSS_KERNEL,
        "warmup_steps": WARMUP_STEPS[device.type],
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
