"""The two questions: figures that agree with the published table, and honest answers."""

from __future__ import annotations

import pytest
import torch

from playground.formats import EXAMPLES
from playground.formats.experiments import block_sizes, experiments, second_scale
from playground.formats.rounding import gaussian, gaussian_errors

# Relative squared errors of N(0,1) as published; FP8's with a power of two for its scale.
TABLE = {
    "nvfp4": 0.009045,
    "nvfp4-four-over-six": 0.007564,
    "nvfp4-search": 0.006612,
    "mxfp4": 0.013224,
    "nf4": 0.008460,
    "fp8": 7.04e-4,
}


@pytest.mark.parametrize("name", TABLE)
def test_the_gaussian_lines_are_the_published_errors(name: str) -> None:
    assert gaussian_errors()[name] ** 2 == pytest.approx(TABLE[name], rel=0.01)


def test_sixteen_needs_a_scale_with_a_mantissa() -> None:
    """What the page says of N(0,1)."""
    found = block_sizes(gaussian())
    assert found["e4m3"]["16"] < 0.96 * found["e4m3"]["32"]
    assert found["e8m0"]["16"] > found["e8m0"]["32"]
    assert found["e4m3"]["32"] < 0.9 * found["e8m0"]["32"]
    assert found["e4m3"]["16"] == gaussian_errors()["nvfp4"]
    assert found["e8m0"]["32"] == gaussian_errors()["mxfp4"]


def test_an_outlier_spoils_sixteen_instead_of_thirty_two() -> None:
    found = block_sizes(torch.tensor([EXAMPLES["outlier"]]))
    assert found["e4m3"]["16"] < 0.7 * found["e4m3"]["32"]
    assert found["e8m0"]["16"] < 0.7 * found["e8m0"]["32"]


@pytest.mark.parametrize("shape", [(1, 16), (3, 48)])
def test_no_block_of_thirty_two_is_none(shape: tuple[int, int]) -> None:
    found = block_sizes(torch.ones(shape))
    assert found["e4m3"]["32"] is None and found["e8m0"]["32"] is None
    assert found["e4m3"]["16"] is not None


def test_forty_eight_typed_numbers_are_a_block_and_a_half() -> None:
    assert block_sizes(torch.ones(1, 48))["e4m3"]["32"] == pytest.approx(0, abs=1e-6)


def test_the_second_scale_buys_nothing_where_scales_fit() -> None:
    found = second_scale(gaussian(256, 256))
    assert found["without"] == pytest.approx(found["with"], rel=0.01)
    assert found["scales"]["zero"] == 0 and found["scales"]["stopped"] == 0


def test_without_it_gradients_vanish_and_weights_suffer() -> None:
    gradients = second_scale(gaussian(256, 256) * 1e-6)
    assert gradients["without"] == 1.0 and gradients["scales"]["zero"] == 1.0
    weights = second_scale(gaussian(256, 256) * 0.02)
    assert 1.05 < weights["without"] / weights["with"] < 1.15
    assert weights["scales"]["subnormal"] > 0.9
    large = second_scale(gaussian(256, 256) * 1e4)
    assert large["without"] > 0.5 and large["scales"]["stopped"] > 0.9


def test_the_curve_is_flat_with_it_and_a_valley_without() -> None:
    curve = second_scale(gaussian(64, 256))["curve"]
    flat = [point["with"] for point in curve]
    assert max(flat) < 1.01 * min(flat)
    without = {round(point["rms"], 12): point["without"] for point in curve}
    assert without[1e-6] == 1.0 and without[1.0] < 0.1 and without[1e5] > 0.9


def test_zeros_have_no_curve() -> None:
    found = experiments(torch.zeros(1, 32))
    assert found["second_scale"]["curve"] == [] and found["second_scale"]["with"] == 0


def test_numbers_near_the_end_of_fp32() -> None:
    found = experiments(torch.full((1, 32), 3e38))
    assert all(
        point["with"] == pytest.approx(0, abs=1e-6) for point in found["second_scale"]["curve"]
    )
