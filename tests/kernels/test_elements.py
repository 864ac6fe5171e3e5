"""Value by value: the codes shown are the codes packed, and they decode to what is shown."""

from __future__ import annotations

import pytest
import torch

from kernels import (
    E2M1_VALUES,
    elements,
    quantize_fp8,
    quantize_mxfp4,
    quantize_nf4,
    quantize_nvfp4,
)
from kernels.nf4 import NF4_VALUES
from tests.assertions import bits_equal

PACKERS = {
    "nvfp4": quantize_nvfp4,
    "nvfp4-search": lambda x: quantize_nvfp4(x, scale_rule="search"),
    "mxfp4": quantize_mxfp4,
    "nf4": quantize_nf4,
    "fp8": quantize_fp8,
}


@pytest.mark.parametrize("magnitude", [1e-30, 0.02, 1.0, 1e30])
@pytest.mark.parametrize("name", PACKERS)
def test_codes_times_scales_are_what_is_decoded(name: str, magnitude: float) -> None:
    x = torch.randn(5, 96, generator=torch.Generator().manual_seed(1)) * magnitude
    q = PACKERS[name](x)
    found = elements(x, q)
    if name == "fp8":
        values = found.codes.view(torch.float8_e4m3fn).float()
    else:
        table = torch.tensor(NF4_VALUES if name == "nf4" else E2M1_VALUES)
        values = table[found.codes.long()]
    whole = values * found.scales
    if name.startswith("nvfp4"):
        whole = whole * q.tensor_scale
    bits_equal(found.decoded, whole)
    bits_equal(found.decoded, q.dequantize())


@pytest.mark.parametrize("name", PACKERS)
def test_what_was_scaled_is_nearest_to_its_code(name: str) -> None:
    x = torch.randn(3, 64, generator=torch.Generator().manual_seed(2))
    found = elements(x, PACKERS[name](x))
    if name == "fp8":
        nearest = found.scaled.to(torch.float8_e4m3fn).view(torch.uint8)
        assert torch.equal(found.codes, nearest)
        return
    table = torch.tensor(NF4_VALUES if name == "nf4" else E2M1_VALUES)
    least = (found.scaled.unsqueeze(-1) - table).abs().amin(-1)
    got = (found.scaled - table[found.codes.long()]).abs()
    torch.testing.assert_close(got, least, rtol=0, atol=1e-6)


def test_a_block_by_hand() -> None:
    """The tensor's amax is 6 * 448, so its scale is 1; the second block's is 2."""
    x = torch.zeros(1, 32)
    x[0, 0], x[0, 1] = 2688.0, -1344.0
    x[0, 16:20] = torch.tensor([12.0, -6.0, 1.0, 5.0])
    q = quantize_nvfp4(x)
    found = elements(x, q)
    assert float(q.tensor_scale) == 1.0
    assert found.scales[0, [0, 15, 16, 31]].tolist() == [448.0, 448.0, 2.0, 2.0]
    assert found.scale_codes[0, [0, 16]].tolist() == [0x7E, 0x40]
    assert found.scaled[0, 16:20].tolist() == [6.0, -3.0, 0.5, 2.5]
    # By 448 through its reciprocal, which fp32 does not hold exactly.
    assert found.scaled[0, :2].tolist() == pytest.approx([6.0, -3.0], rel=1e-6)
    # 2.5 is half way between 2 and 3, and 2 has the even code.
    assert found.codes[0, [0, 1, 16, 17, 18, 19]].tolist() == [7, 13, 7, 13, 1, 4]
    assert found.decoded[0, 16:20].tolist() == [12.0, -6.0, 1.0, 4.0]


def test_mxfp4_by_hand() -> None:
    """amax 7: floor(log2 7) - 2 = 0, so the scale is 1, and 7 saturates at 6."""
    x = torch.zeros(1, 32)
    x[0, :3] = torch.tensor([7.0, 0.75, -3.5])
    found = elements(x, quantize_mxfp4(x))
    assert found.scales[0, 0] == 1.0 and found.scale_codes[0, 0] == 127
    assert found.scaled[0, :3].tolist() == [7.0, 0.75, -3.5]
    assert found.decoded[0, :3].tolist() == [6.0, 1.0, -4.0]


def test_another_matrix_is_refused() -> None:
    x = torch.randn(2, 32)
    with pytest.raises(ValueError, match="pass the same matrix"):
        elements(x[:1], quantize_nvfp4(x))
