"""x @ W.T in both 4-bit formats by every backend here, against torch in 16 bits (fp32 on a CPU)."""

from __future__ import annotations

import importlib.util

import torch

from benchmarks.harness import Rival, Row, device, measure
from kernels import linear_fp4, quantize_mxfp4, quantize_nvfp4
from kernels.dispatch import LinearRecipe, candidates
from kernels.format import swizzle_scales

CPU_SHAPES = ((512, 576, 576), (512, 1536, 576))
GPU_SHAPES = (*CPU_SHAPES, (4096, 4096, 4096), (8192, 8192, 8192))


def run(shapes: tuple[tuple[int, int, int], ...] | None = None) -> list[Row]:
    """Rates count 2 M N K operations. Quantising the activation is inside every W4A4 time."""
    on = device()
    rows = []
    for shape in shapes or (GPU_SHAPES if on.type == "cuda" else CPU_SHAPES):
        m, n, k = shape
        dtype = torch.bfloat16 if on.type == "cuda" else torch.float32
        x, w = torch.randn(m, k, device=on, dtype=dtype), torch.randn(n, k, device=on, dtype=dtype)
        rivals = [Rival(f"torch {str(dtype).removeprefix('torch.')}", "", _product(x, w))]
        rivals += _ours(x, w)
        if on.type == "cuda" and importlib.util.find_spec("bitsandbytes"):
            rivals.append(Rival("bitsandbytes nf4", "", _bitsandbytes(x, w)))
        rows += measure("matmul", shape, rivals, 2.0 * m * n * k, "TFLOP/s")
    return rows


def _product(x: torch.Tensor, w: torch.Tensor):  # noqa: ANN202
    return lambda: x @ w.T


def _ours(x: torch.Tensor, w: torch.Tensor) -> list[Rival]:
    packed = {"nvfp4": quantize_nvfp4(w), "mxfp4": quantize_mxfp4(w)}
    packed["nvfp4-weight-only"] = packed["nvfp4"]
    rivals = []

    def rival(backend: str, recipe: LinearRecipe, how: str) -> Rival:
        q = packed[recipe]
        tiled = swizzle_scales(q.block_scales)

        def call() -> torch.Tensor:
            return linear_fp4(x, q, recipe=recipe, tiled_scales=tiled, backend=backend)

        return Rival(f"{recipe} {backend}", how, call)

    for recipe in packed:
        how = "weight-only" if recipe == "nvfp4-weight-only" else "native"
        rivals += [rival(name, recipe, how) for name in candidates(x.device, recipe)[0]]
        if x.device.type == "cpu":
            rivals.append(rival("reference", recipe, "emulated"))
    return rivals


def _bitsandbytes(x: torch.Tensor, w: torch.Tensor):  # noqa: ANN202
    from bitsandbytes import matmul_4bit
    from bitsandbytes.functional import quantize_4bit

    packed, state = quantize_4bit(w, blocksize=64, quant_type="nf4")
    return lambda: matmul_4bit(x, packed.t(), quant_state=state)
