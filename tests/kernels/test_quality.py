"""How much NVFP4 errs on N(0,1): the published table, reproduced to 1 %."""

from __future__ import annotations

import pytest
import torch

from kernels import fake_quantize_nvfp4, round_to
from tests.assertions import relative_mse, sqnr_at_least

# Relative MSE on 4096x4096; a quarter of the rows suffices here (sampling error about 0.1 %).
TABLE = {
    "1x16": ({}, 0.009045),
    "four-over-six": ({"scale_rule": "four_over_six"}, 0.007564),
    "search": ({"scale_rule": "search"}, 0.006612),
    "2d": ({"scaling": "2d"}, 0.012395),
    "stochastic": ({"rounding": "stochastic", "seed": 0}, 0.018862),
}


@pytest.fixture(scope="module")
def normal() -> torch.Tensor:
    return torch.randn(1024, 4096, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("quantiser", TABLE)
def test_relative_error_on_a_normal_distribution(normal: torch.Tensor, quantiser: str) -> None:
    options, published = TABLE[quantiser]
    error = relative_mse(fake_quantize_nvfp4(normal, **options), normal)
    assert error == pytest.approx(published, rel=0.01)


def test_sqnr_of_the_default(normal: torch.Tensor) -> None:
    sqnr_at_least(fake_quantize_nvfp4(normal), normal, 20.4)  # measured 20.43


@pytest.mark.parametrize(("precision", "published"), [("bf16", 2.8e-6), ("fp16", 4.3e-8)])
def test_relative_error_of_sixteen_bits(
    normal: torch.Tensor, precision: str, published: float
) -> None:
    assert relative_mse(round_to(normal, precision), normal) == pytest.approx(published, rel=0.02)


def test_products_err_as_published(normal: torch.Tensor) -> None:
    a, b = normal[:256], normal[256:512]
    exact = a @ b.T
    weight_only = a @ fake_quantize_nvfp4(b).T
    both = fake_quantize_nvfp4(a) @ fake_quantize_nvfp4(b).T
    assert relative_mse(weight_only, exact) ** 0.5 == pytest.approx(0.095, rel=0.02)
    assert relative_mse(both, exact) ** 0.5 == pytest.approx(0.134, rel=0.02)
