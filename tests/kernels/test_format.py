"""The sixteen values, every tie, the packing of every byte, and what a packed tensor refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from kernels import E2M1_VALUES, NVFP4Tensor, dequantize_nvfp4, quantize_nvfp4
from kernels.reference import pack_codes, unpack_codes
from kernels.rounding import round_e2m1, round_e4m3
from tests.assertions import bits_equal, codes_equal
from tests.kernels import oracle

TIES = {0.25: 0.0, 0.75: 1.0, 1.25: 1.0, 1.75: 2.0, 2.5: 2.0, 3.5: 4.0, 5.0: 4.0}
GRID = E2M1_VALUES[:8]


def _rounded(value: float) -> float:
    return round_e2m1(torch.tensor([value])).item()


@pytest.mark.parametrize("code", range(16))
def test_each_code_decodes_to_its_value_and_back(code: int) -> None:
    value = math.copysign(float(oracle.E2M1_GRID[code & 7]), -1 if code & 8 else 1)
    assert math.copysign(1, E2M1_VALUES[code]) == math.copysign(1, value)
    assert E2M1_VALUES[code] == value
    packed = pack_codes(torch.tensor([[value, 0.0]]))
    assert packed.item() == code, "the even column goes to the low nibble"
    assert unpack_codes(packed)[0, 0].item() == value
    assert _rounded(value) == value


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("tie", TIES)
def test_a_tie_goes_to_the_even_code_and_its_neighbours_to_their_sides(
    tie: float, sign: int
) -> None:
    below = max(v for v in GRID if v < tie)
    above = min(v for v in GRID if v > tie)
    just_below, just_above = np.nextafter(np.float32(tie), np.float32([0, 9]))
    assert _rounded(sign * tie) == sign * TIES[tie]
    assert _rounded(sign * float(just_below)) == sign * below
    assert _rounded(sign * float(just_above)) == sign * above


@pytest.mark.parametrize("value", [6.0, 6.375, 7.0, 9.0, 1e30, 3.4e38])
def test_above_six_saturates(value: float) -> None:
    assert (_rounded(value), _rounded(-value)) == (6.0, -6.0)


@pytest.mark.parametrize("value", [0.0, -0.0, -1e-30, 1e-45, -0.25])
def test_a_value_rounded_to_zero_keeps_its_sign(value: float) -> None:
    assert math.copysign(1, _rounded(value)) == math.copysign(1, value)
    assert _rounded(value) == 0


def test_rounding_agrees_with_the_oracle_on_a_fine_grid() -> None:
    y = torch.arange(-7 * 64, 7 * 64 + 1) / 64
    want = torch.tensor([oracle.e2m1_code(v) for v in y.tolist()], dtype=torch.uint8)
    got = pack_codes(round_e2m1(y.clone()).repeat_interleave(2).view(-1, 2))[:, 0] & 15
    codes_equal(got, want)


def test_e4m3_agrees_with_the_oracle_on_every_value_tie_and_beyond() -> None:
    grid = [float(v) for v in oracle.E4M3_GRID]
    ties = [(a + b) / 2 for a, b in zip(grid, grid[1:], strict=False)]
    sides = [float(np.nextafter(np.float32(t), np.float32(e))) for t in ties for e in (0, 1e9)]
    values = [*grid, *ties, *sides, 449.0, 464.0, 500.0, 3e38]
    got = round_e4m3(torch.tensor(values)).view(torch.uint8)
    codes_equal(got, torch.tensor([oracle.e4m3_byte(v) for v in values], dtype=torch.uint8))


def test_every_byte_unpacks_and_packs_to_itself() -> None:
    every = torch.arange(256, dtype=torch.uint8).view(8, 32)
    values = unpack_codes(every)
    bits_equal(values[0, 0::2], torch.tensor([E2M1_VALUES[b & 15] for b in range(32)]))
    bits_equal(values[3, 1::2], torch.tensor([E2M1_VALUES[b >> 4] for b in range(96, 128)]))
    codes_equal(pack_codes(values), every)


def test_a_weight_takes_four_and_a_half_bits() -> None:
    q = quantize_nvfp4(torch.randn(96, 576))
    assert q.nbytes * 8 == 96 * 576 * 4.5 + 32
    real = sum(t.untyped_storage().nbytes() for t in (q.codes, q.block_scales, q.tensor_scale))
    assert real == q.nbytes, "nothing is kept alive behind a view"


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("codes", torch.zeros(2, 16, dtype=torch.int8)),
        ("codes", torch.zeros(2, 8, dtype=torch.uint8)),
        ("block_scales", torch.zeros(2, 2)),
        ("tensor_scale", torch.ones(1)),
    ],
)
def test_parts_that_do_not_fit_are_refused_by_name(part: str, wrong: torch.Tensor) -> None:
    q = quantize_nvfp4(torch.ones(2, 32))
    parts = {"codes": q.codes, "block_scales": q.block_scales, "tensor_scale": q.tensor_scale}
    with pytest.raises(ValueError, match=rf"^{part} is .*needs"):
        NVFP4Tensor(**{**parts, part: wrong}, shape=(2, 32))


def test_decoding_rounds_once_to_each_dtype() -> None:
    x = torch.randn(16, 64)
    q = quantize_nvfp4(x)
    for dtype in (torch.float16, torch.bfloat16):
        bits_equal(q.dequantize(dtype), q.dequantize().to(dtype))
    with pytest.raises(ValueError, match="float64"):
        dequantize_nvfp4(q, torch.float64)
