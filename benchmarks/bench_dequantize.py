"""Decoding a packed weight, against the product with 512 tokens that uses it."""

from __future__ import annotations

import torch

from benchmarks.harness import Rival, Row, device, measure
from kernels import dequantize_nvfp4, quantize_nvfp4

TOKENS = 512


def run(shape: tuple[int, int] = (1536, 576)) -> list[Row]:
    """Rates count 4.5 bits a value in and the decoded type out."""
    on = device()
    dtype = torch.bfloat16 if on.type == "cuda" else torch.float32
    w = torch.randn(shape, device=on)
    q = quantize_nvfp4(w, scale_rule="search")
    x, w = torch.randn(TOKENS, shape[1], device=on, dtype=dtype), w.to(dtype)
    rivals = [
        Rival(f"product of {TOKENS} tokens", "", lambda: x @ w.T),
        Rival("kernels decode", "emulated", lambda: dequantize_nvfp4(q, dtype)),
    ]
    return measure("dequantize", shape, rivals, q.nbytes + w.nbytes, "GB/s")
