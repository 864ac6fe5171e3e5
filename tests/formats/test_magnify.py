"""Numbers under the lens: one block by hand, and codes that decode to what is shown, always."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import torch

from playground.formats import FORMATS
from playground.formats.known import RULES
from playground.formats.magnify import magnify, of_block, of_numbers
from playground.formats.rounding import padded

HAND = [6.0, -3.0, 1.5, 0.2, -0.7, 2.4, 4.8, -4.1, 0.0, 0.9, -1.2, 3.4, 2.9, -0.3, 1.1, -5.9]


def in_format(numbers: list[float], name: str) -> dict[str, Any]:
    return next(one for one in magnify(of_numbers(numbers)) if one["name"] == name)


def test_a_block_by_hand() -> None:
    """amax is 6, so whatever the scales are, together they come to 1."""
    found = in_format(HAND, "nvfp4")
    (block,) = found["blocks"]
    assert (block["scale"], block["code"], block["of"], block["count"]) == (448.0, 0x7E, 16, 16)
    assert found["tensor_scale"] == pytest.approx(6 / 2688, rel=1e-7)
    assert found["scaled"] == pytest.approx(HAND, rel=1e-6)
    codes = [7, 8 + 5, 3, 0, 8 + 1, 4, 6, 8 + 6, 0, 2, 8 + 2, 5, 5, 8 + 1, 2, 8 + 7]
    decoded = [6, -3, 1.5, 0, -0.5, 2, 4, -4, 0, 1, -1, 3, 3, -0.5, 1, -6]
    assert found["codes"] == codes
    assert found["decoded"] == pytest.approx(decoded, rel=1e-6)
    wrong = sum((d - v) ** 2 for d, v in zip(decoded, HAND, strict=True))
    assert found["error"] == pytest.approx((wrong / sum(v * v for v in HAND)) ** 0.5, rel=1e-5)
    assert block["error"] == found["error"]


def test_the_same_block_in_the_other_formats() -> None:
    mxfp4, nf4, fp8 = (in_format(HAND, name) for name in ("mxfp4", "nf4", "fp8"))
    # floor(log2 6) - 2 = 0
    assert (mxfp4["blocks"][0]["scale"], mxfp4["blocks"][0]["code"]) == (1.0, 127)
    assert mxfp4["blocks"][0]["of"] == 32 and mxfp4["tensor_scale"] is None
    assert mxfp4["decoded"] == pytest.approx(in_format(HAND, "nvfp4")["decoded"], rel=1e-6)
    assert (nf4["blocks"][0]["scale"], nf4["blocks"][0]["code"]) == (6.0, None)
    assert (nf4["codes"][0], nf4["codes"][8]) == (15, 7)
    # The smallest power of two with 6 <= 448 * scale; 6 * 64 = 384 = 1.5 * 2^8, bits 0 1111 100.
    assert fp8["blocks"][0]["scale"] == 2.0**-6 and fp8["codes"][0] == 0x7C


def test_four_over_six_takes_four_where_that_errs_less() -> None:
    """12 and eight tens: over 2 the tens are 5, which rounds to 4; over 3 they are 3.33 and 3."""
    numbers = [12.0] + [10.0] * 8 + [0.0] * 7
    six, four = in_format(numbers, "nvfp4"), in_format(numbers, "nvfp4-four-over-six")
    assert six["decoded"][1] == pytest.approx(8, rel=1e-6)
    assert four["decoded"][1] == pytest.approx(9, rel=1e-2)
    assert four["error"] < six["error"]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", FORMATS)
def test_codes_decode_to_the_shown_values(name: str, seed: int) -> None:
    draw = random.Random(seed)
    size = 10 ** draw.uniform(-20, 20)
    numbers = [draw.gauss(0, size) for _ in range(16 * draw.randint(1, 4))]
    found = in_format(numbers, name)
    for i, (code, decoded) in enumerate(zip(found["codes"], found["decoded"], strict=True)):
        block = next(b for b in found["blocks"] if b["first"] <= i < b["first"] + b["count"])
        if found["levels"] is None:
            sign, exponent, mantissa = code >> 7, code >> 3 & 15, code & 7
            level = (
                mantissa / 8 * 2**-6
                if exponent == 0
                else (1 + mantissa / 8) * 2.0 ** (exponent - 7)
            )
            level = -level if sign else level
        else:
            level = found["levels"][code]
        whole = level * block["scale"] * (found["tensor_scale"] or 1)
        assert decoded == pytest.approx(whole, rel=1e-6)


def test_everything_is_plain_and_finite_even_where_a_scale_is_zero() -> None:
    """The second block is 10^-9 of the first: too small for E4M3, so its scale is 0."""
    numbers = [1.0] * 16 + [1e-9] * 16
    found = magnify(of_numbers(numbers))
    json.dumps(found, allow_nan=False)
    nvfp4 = found[0]
    assert nvfp4["blocks"][1]["scale"] == 0 and nvfp4["blocks"][1]["error"] == 1.0
    assert nvfp4["decoded"][16:] == [0.0] * 16


def test_zeros() -> None:
    found = magnify(of_numbers([0.0] * 16))
    assert all(one["error"] == 0 and not any(one["decoded"]) for one in found)


def test_a_layers_block_is_what_the_whole_layer_gives_it() -> None:
    weight = torch.randn(6, 96, generator=torch.Generator().manual_seed(3)) * 0.05
    weight[0, 0] = 0.9  # the tensor's amax lies elsewhere
    from playground.formats.rounding import packed

    for name in FORMATS:
        whole = packed(weight, name).dequantize()
        for row, column in ((0, 0), (3, 16), (5, 80)):
            shown = magnify(of_block(weight, row, column))
            found = next(one for one in shown if one["name"] == name)
            assert found["decoded"] == whole[row, column : column + 16].tolist()


def test_a_layer_that_a_format_cannot_hold_says_so() -> None:
    found = {one["name"]: one for one in magnify(of_block(torch.ones(2, 48), 1, 32))}
    assert found["mxfp4"] == {"name": "mxfp4", "refuses": 32}
    assert "refuses" not in found["nvfp4"] and "refuses" not in found["nf4"]


def test_bits_and_blocks_are_those_of_the_formats() -> None:
    from kernels import mxfp4, nf4
    from kernels.format import NVFP4_BITS, SCALE_BLOCK

    nvfp4 = (NVFP4_BITS, SCALE_BLOCK)
    wanted = {"mxfp4": (mxfp4.MXFP4_BITS, mxfp4.MX_BLOCK), "nf4": (nf4.NF4_BITS, nf4.NF4_BLOCK)}
    wanted |= {name: nvfp4 for name in RULES} | {"fp8": (8.0, None)}
    assert {name: tuple(info) for name, info in FORMATS.items()} == wanted


def test_padding_changes_no_scale() -> None:
    x = torch.ones(1, 16)
    assert padded(x, 32).shape == (1, 32) and padded(x, 16) is not None
    assert in_format([1.0] * 48, "mxfp4")["error"] == 0
