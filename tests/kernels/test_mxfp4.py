"""MXFP4: the rules once more, element by element, the published error, and the edges."""

from __future__ import annotations

import math

import pytest
import torch

from kernels.format import swizzle_scales
from kernels.mxfp4 import (
    MXFP4Tensor,
    dequantize_mxfp4,
    fake_quantize_mxfp4,
    matmul_mxfp4,
    quantize_mxfp4,
)
from kernels.quantize_mx import quantize_mxfp4_triton
from tests.assertions import bits_equal, codes_equal, relative_mse
from tests.kernels import oracle


@pytest.mark.parametrize("magnitude", [1e-42, 1e-30, 1.0, 1e38])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_element_by_element(dtype: torch.dtype, magnitude: float) -> None:
    torch.manual_seed(0)
    x = (torch.randn(5, 64).clamp(-3, 3) * magnitude).to(dtype)
    q = quantize_mxfp4(x)
    for row in range(5):
        for block in range(2):
            values = x[row, 32 * block : 32 * block + 32].tolist()
            amax = max(map(abs, values))
            exponent = max(math.floor(math.log2(amax)) - 2, -127) if amax else -127
            assert int(q.block_scales[row, block]) == exponent + 127
            codes = [oracle.e2m1_code(math.ldexp(v, -exponent)) for v in values]
            want = [low | high << 4 for low, high in zip(codes[::2], codes[1::2], strict=True)]
            got = q.codes[row, 16 * block : 16 * block + 16]
            codes_equal(got, torch.tensor(want, dtype=torch.uint8))


def test_published_error_and_bits() -> None:
    x = torch.randn(1024, 2048, generator=torch.Generator().manual_seed(0))
    assert relative_mse(fake_quantize_mxfp4(x), x) == pytest.approx(0.013224, rel=0.01)
    assert quantize_mxfp4(x).nbytes * 8 == x.numel() * 4.25


def test_fake_quantize_is_quantize_and_decode() -> None:
    torch.manual_seed(1)
    x = torch.randn(2, 3, 96)
    want = quantize_mxfp4(x.view(6, 96)).dequantize().view(2, 3, 96)
    bits_equal(fake_quantize_mxfp4(x), want)


def test_product_and_edges() -> None:
    torch.manual_seed(2)
    a, b = quantize_mxfp4(torch.randn(3, 64)), quantize_mxfp4(torch.randn(5, 64))
    torch.testing.assert_close(matmul_mxfp4(a, b), dequantize_mxfp4(a) @ dequantize_mxfp4(b).T)
    zero = quantize_mxfp4(torch.zeros(2, 32))
    assert not zero.codes.any()
    assert dequantize_mxfp4(zero).eq(0).all()
    assert dequantize_mxfp4(quantize_mxfp4(torch.zeros(0, 32))).shape == (0, 32)
    with pytest.raises(ValueError, match="K is 48.*multiple of 32"):
        quantize_mxfp4(torch.ones(2, 48))
    with pytest.raises(ValueError, match="1 of 32 values"):
        quantize_mxfp4(torch.tensor([[float("inf")] + [1.0] * 31]))
    with pytest.raises(ValueError, match="K, must agree"):
        matmul_mxfp4(a, zero)
    with pytest.raises(ValueError, match="torch.float64; decode to float32"):
        dequantize_mxfp4(a, torch.float64)
    with pytest.raises(ValueError, match=r"block_scales is .*needs torch.uint8 \(3, 2\)"):
        MXFP4Tensor(a.codes, a.block_scales[:2], a.shape)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_makes_its_block_nan_and_no_other(bad: float) -> None:
    x = torch.ones(2, 64)
    x[1, 40] = bad
    got = fake_quantize_mxfp4(x).isnan()
    assert got[1, 32:].all() and got.sum() == 32


def test_triton_decodes_every_code_with_every_scale(device: str, poisoned: None) -> None:
    codes = torch.arange(32, dtype=torch.uint8).remainder(16)
    packed = (codes[0::2] | codes[1::2] << 4).repeat(256, 1)
    scales = torch.arange(256, dtype=torch.uint8).view(256, 1)
    q = MXFP4Tensor(packed, scales, (256, 32)).to(device)
    got = dequantize_mxfp4(q, backend="triton")
    want = dequantize_mxfp4(q, backend="reference")
    assert got[255].isnan().all() and want[255].isnan().all()
    bits_equal(got[:255], want[:255])
    exact = torch.tensor([math.ldexp(1.0, b - 127) for b in range(255)]).view(255, 1)
    bits_equal(want[:255, :16], exact.to(device) * want[127, :16])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("shape", [(1, 32), (7, 96), (33, 160), (0, 32)])
def test_triton_returns_the_same_bytes(
    shape: tuple[int, int], dtype: torch.dtype, device: str, poisoned: None
) -> None:
    torch.manual_seed(3)
    x = torch.randn(shape, device=device).to(dtype)
    if x.numel():
        x[0, :32] = 0
    want = quantize_mxfp4(x, backend="reference")
    codes, scales = quantize_mxfp4_triton(x)
    codes_equal(codes, want.codes)
    codes_equal(scales, want.block_scales, "block_scales")
    _, tiled = quantize_mxfp4_triton(x, swizzled=True)
    codes_equal(tiled, swizzle_scales(want.block_scales), "tiled scales")


@pytest.mark.parametrize("magnitude", [1e-44, 1e-38, 1e38])
def test_triton_at_the_ends_of_fp32(magnitude: float, device: str) -> None:
    torch.manual_seed(4)
    x = torch.randn(4, 64, device=device).clamp(-3, 3) * magnitude
    want = quantize_mxfp4(x, backend="reference")
    codes, scales = quantize_mxfp4_triton(x)
    codes_equal(codes, want.codes)
    codes_equal(scales, want.block_scales, "block_scales")


def test_a_nan_gives_its_block_a_nan_scale(device: str) -> None:
    x = torch.ones(2, 64, device=device)
    x[1, 40] = float("nan")
    _, scales = quantize_mxfp4_triton(x)
    assert scales.tolist() == [[125, 125], [125, 255]]
