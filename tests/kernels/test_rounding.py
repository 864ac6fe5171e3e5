"""Stochastic rounding's properties, its stream of random bytes, and 16-bit rounding."""

from __future__ import annotations

import pytest
import torch

from kernels import (
    E2M1_VALUES,
    dequantize_nvfp4,
    fake_quantize_nvfp4,
    quantize_nvfp4,
    round_to,
)
from kernels.rounding import random_bytes, round_e2m1_stochastic
from tests.assertions import bits_equal, packed_equal, relative_mse

GRID = E2M1_VALUES[:8]


def _draws(value: float, count: int = 4096) -> torch.Tensor:
    return round_e2m1_stochastic(torch.full((count,), value), random_bytes(1, 0, count))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("low", "high"), list(zip(GRID, GRID[1:], strict=False)))
def test_a_midpoint_goes_each_way_half_the_time(low: float, high: float, sign: int) -> None:
    drawn = _draws(sign * (low + high) / 2).abs()
    assert set(drawn.tolist()) == {low, high}
    # 4096 fair draws: the standard deviation of the share is 0.0078.
    assert abs(float((drawn == high).float().mean()) - 0.5) < 0.035


@pytest.mark.parametrize("value", E2M1_VALUES)
def test_a_value_on_the_grid_never_moves(value: float) -> None:
    every = torch.arange(256, dtype=torch.uint8)
    bits_equal(round_e2m1_stochastic(torch.full((256,), value), every), torch.full((256,), value))


def test_every_byte_keeps_a_value_between_its_neighbours_and_the_mean_is_the_value() -> None:
    every = torch.arange(256, dtype=torch.uint8)
    for value in torch.linspace(0, 6, 481).tolist():
        drawn = round_e2m1_stochastic(torch.full((256,), value), every)
        low = max(v for v in GRID if v <= value)
        high = min(v for v in GRID if v >= value)
        assert set(drawn.tolist()) <= {low, high}
        # All 256 bytes once: the mean is off by half of a 256th of the step at most.
        assert abs(float(drawn.double().mean()) - value) <= (high - low) / 512 + 1e-6


def test_the_mean_of_many_draws_is_nearer_than_nearest() -> None:
    torch.manual_seed(0)
    x = torch.randn(64, 256)
    nearest = fake_quantize_nvfp4(x)
    draws = [fake_quantize_nvfp4(x, rounding="stochastic", seed=s) for s in range(64)]
    mean = torch.stack(draws).mean(0)
    assert relative_mse(mean, x) < 0.2 * relative_mse(nearest, x)
    step = (
        quantize_nvfp4(x).block_scales.float().repeat_interleave(16, 1)
        * 2
        * (quantize_nvfp4(x).tensor_scale)
    )
    for draw in draws:
        assert ((draw - nearest).abs() <= step * (1 + 1e-5)).all(), "a draw is two steps off"


def test_same_seed_same_bytes_and_another_seed_or_offset_others() -> None:
    torch.manual_seed(1)
    x = torch.randn(32, 64)

    def draw(seed: int, offset: int = 0):  # noqa: ANN202
        return quantize_nvfp4(x, rounding="stochastic", seed=seed, offset=offset)

    packed_equal(draw(5), draw(5))
    for other in (draw(6), draw(5, 2048), draw(5 + 2**32)):
        assert (other.codes != draw(5).codes).float().mean() > 0.3


def test_an_offset_continues_the_stream() -> None:
    torch.manual_seed(2)
    x = torch.randn(32, 64)
    options = dict(rounding="stochastic", seed=9, tensor_scale=0.001)
    whole = dequantize_nvfp4(quantize_nvfp4(x, **options))
    halves = [
        dequantize_nvfp4(quantize_nvfp4(x[i : i + 16], offset=i * 64, **options)) for i in (0, 16)
    ]
    bits_equal(torch.cat(halves), whole)


def test_the_stream_is_pinned() -> None:
    # Recorded: these bytes decide what a stored seed means, on every backend.
    assert random_bytes(0, 0, 8).tolist() == [119, 99, 100, 121, 120, 149, 135, 212]
    assert random_bytes(2**64 - 1, 2**34, 8).tolist() == [210, 255, 181, 37, 56, 200, 47, 223]


def test_the_stream_is_uniform_and_its_parts_join() -> None:
    drawn = random_bytes(3, 0, 1 << 18)
    counts = torch.bincount(drawn.long(), minlength=256).float()
    # Chi-square with 255 degrees of freedom: mean 255, standard deviation 22.6.
    chi_square = float(((counts - 1024).square() / 1024).sum())
    assert 160 < chi_square < 380
    bits = torch.stack([(drawn >> b & 1).float() for b in range(8)]).sub_(0.5)
    correlation = (bits[:, :-1] @ bits[:, 1:].T).abs().max() / (bits.shape[1] / 4)
    assert correlation < 0.01, "neighbouring bytes are independent"
    parts = [random_bytes(3, 0, 1024), random_bytes(3, 1024, 512)]
    bits_equal(torch.cat(parts), drawn[:1536])
    far = 2**34 - 16
    bits_equal(random_bytes(3, far, 32)[16:], random_bytes(3, far + 16, 16))


@pytest.mark.parametrize(
    ("precision", "value", "want"),
    [
        ("fp16", 1 + 2**-11, 1.0),
        ("fp16", 1 + 3 * 2**-11, 1 + 2**-9),
        ("fp16", 65504.0, 65504.0),
        ("fp16", 65519.0, 65504.0),
        ("fp16", 65520.0, float("inf")),
        ("fp16", 2**-25, 0.0),
        ("fp16", 2**-24, 2**-24),
        ("bf16", 1 + 2**-8, 1.0),
        ("bf16", 1 + 3 * 2**-8, 1 + 2**-6),
        ("bf16", 70000.0, 70144.0),
    ],
)
def test_round_to_sixteen_bits(precision: str, value: float, want: float) -> None:
    got = round_to(torch.tensor([value, -value]), precision)
    bits_equal(got, torch.tensor([want, -want]))


def test_round_to_refuses_an_unknown_precision() -> None:
    with pytest.raises(ValueError, match="'fp12'; round_to knows fp16 and bf16"):
        round_to(torch.ones(1), "fp12")
