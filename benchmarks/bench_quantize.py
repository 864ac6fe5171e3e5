"""Quantising to NVFP4, against torchao where it is installed."""

from __future__ import annotations

import importlib.util

import torch

from benchmarks.harness import Rival, Row, device, measure
from kernels import fake_quantize_nvfp4, quantize_nvfp4


def run(shape: tuple[int, int] = (4096, 4096)) -> list[Row]:
    """Rates count what must move: fp32 in, 4.5 bits a value out."""
    x = torch.randn(shape, device=device())
    on_gpu = x.device.type == "cuda"
    rivals = [
        Rival("kernels reference", "emulated", lambda: quantize_nvfp4(x, backend="reference")),
        Rival("kernels fake_quantize", "emulated", lambda: fake_quantize_nvfp4(x)),
    ]
    if on_gpu:
        rivals.insert(0, Rival("kernels triton", "native", lambda: quantize_nvfp4(x)))
    if importlib.util.find_spec("torchao"):
        rivals.append(Rival("torchao", "", _torchao(x)))
    work = x.numel() * (4 + 4.5 / 8)
    rows = measure("quantize", shape, rivals, work, "GB/s")
    return rows + measure("copy", shape, [Rival("torch", "", x.clone)], x.numel() * 8, "GB/s")


def _torchao(x: torch.Tensor):  # noqa: ANN202
    from torchao.prototype.mx_formats.nvfp4_tensor import (
        nvfp4_quantize,
        per_tensor_amax_to_scale,
    )

    return lambda: nvfp4_quantize(x, per_tensor_scale=per_tensor_amax_to_scale(x.abs().max()))
