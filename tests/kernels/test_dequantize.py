"""Triton's decoder: the reference's bits in every dtype, as stored and transposed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from kernels import (
    NVFP4Tensor,
    dequantize_mxfp4,
    dequantize_nvfp4,
    quantize_mxfp4,
    quantize_nvfp4,
)
from kernels.dequantize import dequantize_triton
from tests.assertions import bits_equal

pytestmark = pytest.mark.usefixtures("poisoned")

DTYPES = [torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize(
    ("quantize", "shape"),
    [
        *((quantize_nvfp4, shape) for shape in ((1, 16), (7, 48), (17, 576), (129, 80), (0, 32))),
        *((quantize_mxfp4, shape) for shape in ((1, 32), (7, 96), (17, 576), (129, 32), (0, 32))),
    ],
)
def test_same_bits(
    quantize: Callable,
    shape: tuple[int, int],
    transpose: bool,
    dtype: torch.dtype,
    device: str,
) -> None:
    torch.manual_seed(0)
    q = quantize(torch.randn(shape, device=device), backend="reference")
    decode = dequantize_mxfp4 if quantize is quantize_mxfp4 else dequantize_nvfp4
    want = decode(q, dtype, backend="reference")
    got = dequantize_triton(q, dtype, transpose=transpose)
    bits_equal(got, want.t().contiguous() if transpose else want)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_code_with_every_scale(dtype: torch.dtype, device: str) -> None:
    codes = torch.arange(16, dtype=torch.uint8).view(1, 16) * torch.ones(127, 1, dtype=torch.uint8)
    packed = (codes[:, 0::2] | codes[:, 1::2] << 4).contiguous()
    scales = torch.arange(127, dtype=torch.uint8).view(127, 1).view(torch.float8_e4m3fn)
    q = NVFP4Tensor(packed, scales, torch.tensor(0.0123), (127, 16)).to(device)
    got = dequantize_nvfp4(q, dtype, backend="triton")
    bits_equal(got, dequantize_nvfp4(q, dtype, backend="reference"))


def test_a_nan_scale_decodes_to_nan_and_not_to_480(device: str) -> None:
    q = quantize_nvfp4(torch.ones(1, 32, device=device), backend="reference")
    q.block_scales.view(torch.uint8)[0, 1] = 0x7F
    for backend in ("reference", "triton"):
        decoded = dequantize_nvfp4(q, backend=backend)
        assert decoded[0, :16].isfinite().all()
        assert decoded[0, 16:].isnan().all()
