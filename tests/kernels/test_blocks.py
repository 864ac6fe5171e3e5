"""Block size and scale kind apart: the two ends are the formats themselves, bit for bit."""

from __future__ import annotations

import pytest
import torch

from kernels import fake_quantize_blocks, fake_quantize_mxfp4, fake_quantize_nvfp4
from tests.assertions import bits_equal, relative_mse


def normal(rows: int = 512, columns: int = 1024) -> torch.Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("magnitude", [1e-30, 0.02, 1.0, 1e30])
def test_the_formats_themselves(magnitude: float) -> None:
    x = normal(7, 96) * magnitude
    bits_equal(fake_quantize_blocks(x), fake_quantize_nvfp4(x))
    bits_equal(fake_quantize_blocks(x, block=32, scale_format="e8m0"), fake_quantize_mxfp4(x))
    without = fake_quantize_nvfp4(x, tensor_scale=1.0)
    bits_equal(fake_quantize_blocks(x, tensor_scale=1.0), without)


def test_each_block_has_its_own_scale() -> None:
    x = torch.ones(1, 64)
    x[0, 0] = 600.0  # its neighbours fall below a quarter of a step and vanish
    for block in (16, 32, 64):
        got = fake_quantize_blocks(x, block=block)[0]
        assert got[1:block].eq(0).all() and got[block:].gt(0).all()
        assert float(got[0]) == pytest.approx(600, rel=1e-6)


def test_what_each_buys_on_a_normal_distribution() -> None:
    """Measured once; the page's sentences rest on their order."""
    x = normal()
    wanted = {
        ("e8m0", 32): 0.01323, ("e8m0", 16): 0.01386,
        ("e4m3", 32): 0.01033, ("e4m3", 16): 0.00905,
    }  # fmt: skip
    for (scale_format, block), published in wanted.items():
        rounded = fake_quantize_blocks(x, block=block, scale_format=scale_format)
        assert relative_mse(rounded, x) == pytest.approx(published, rel=0.015)


def test_leading_dimensions_and_halves() -> None:
    x = normal(6, 96).to(torch.bfloat16).view(2, 3, 96)
    got = fake_quantize_blocks(x, block=48)
    assert got.shape == x.shape and got.dtype == torch.bfloat16
    bits_equal(got.view(6, 96), fake_quantize_blocks(x.view(6, 96), block=48))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"block": 8}, "block is 8"),
        ({"block": 24}, "block is 24"),
        ({"block": 64}, "K is 96"),
        ({"scale_format": "e5m2"}, "choose from e4m3, e8m0"),
        ({"scale_format": "e8m0", "tensor_scale": 1.0}, "takes no tensor scale"),
    ],
)
def test_refused(options: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fake_quantize_blocks(normal(1, 96), **options)
