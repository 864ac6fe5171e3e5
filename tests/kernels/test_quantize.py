"""Triton's quantiser: the reference's bytes, for every rule, scaling, rounding, dtype and shape."""

from __future__ import annotations

import pytest
import torch

from kernels import dequantize_nvfp4, quantize_nvfp4
from kernels.quantize import quantize_nvfp4_triton
from kernels.rounding import seed_tensor
from tests.assertions import codes_equal, packed_equal, scales_equal

pytestmark = pytest.mark.usefixtures("poisoned")

DTYPES = [torch.float32, torch.bfloat16, torch.float16]
RULES = ["amax", "four_over_six", "search"]
SCALINGS = ["1d", "2d"]
NEAREST: dict = {}
STOCHASTIC = {"rounding": "stochastic", "seed": 2**63 + 5, "offset": 48}


def _same_bytes(x: torch.Tensor, **options: object) -> None:
    packed_equal(
        quantize_nvfp4(x, backend="triton", **options),
        quantize_nvfp4(x, backend="reference", **options),
    )


@pytest.mark.parametrize("rounding", [NEAREST, STOCHASTIC], ids=["nearest", "stochastic"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_every_rule_scaling_and_rounding(
    scaling: str, rule: str, rounding: dict, device: str
) -> None:
    torch.manual_seed(0)
    x = torch.randn(18, 144, device=device)
    _same_bytes(x, scaling=scaling, scale_rule=rule, **rounding)


@pytest.mark.parametrize("m", [1, 7, 17, 127, 128, 129])
@pytest.mark.parametrize("k", [16, 48, 576, 896])
def test_odd_shapes(m: int, k: int, device: str) -> None:
    torch.manual_seed(1)
    _same_bytes(torch.randn(m, k, device=device).to(torch.bfloat16))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 16), (17, 176)])
def test_every_dtype(shape: tuple[int, int], dtype: torch.dtype, device: str) -> None:
    torch.manual_seed(1)
    _same_bytes(torch.randn(shape, device=device).to(dtype))


@pytest.mark.parametrize("magnitude", [1e-40, 1e-37, 1e-6, 1e30, 1e38])
def test_any_magnitude(magnitude: float, device: str) -> None:
    torch.manual_seed(2)
    x = torch.randn(8, 64, device=device).clamp(-3, 3)
    x *= torch.logspace(-6, 0, 4, device=device).repeat_interleave(16)
    for rule in ("amax", "four_over_six"):
        _same_bytes(x * magnitude, scale_rule=rule)


def test_every_tie_and_both_its_sides(device: str) -> None:
    ties = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])
    sides = torch.cat([ties, ties.nextafter(torch.zeros(7)), ties.nextafter(torch.full((7,), 9.0))])
    x = torch.zeros(6, 16, device=device)
    x[:, 1:8] = torch.cat([sides, -sides]).view(6, 7).to(device)
    x[:, 0] = 6
    _same_bytes(x, tensor_scale=1.0)
    _same_bytes(x, tensor_scale=1.0, **STOCHASTIC)


def test_zeros_and_a_zero_block(device: str) -> None:
    x = torch.zeros(18, 32, device=device)
    _same_bytes(x)
    x[3, 20] = 1
    for rule in RULES:
        _same_bytes(x, scale_rule=rule)
        _same_bytes(x, scale_rule=rule, scaling="2d")


def test_views(device: str) -> None:
    torch.manual_seed(3)
    base = torch.randn(48, 96, device=device)
    for view in (base.t(), base[::2], base[:, ::3], base[3:40, 16:48], base[:1].expand(8, 96)):
        _same_bytes(view)


def test_a_given_tensor_scale_is_used_and_saves_the_amax_pass(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(4)
    x = torch.randn(16, 64, device=device)
    monkeypatch.setattr("kernels.quantize.WHOLE_AMAX", 0)
    monkeypatch.setattr("kernels.quantize._amax_kernel", None)
    _same_bytes(x, tensor_scale=0.01)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_large_x_finds_its_amax_in_a_pass_of_its_own(
    dtype: torch.dtype, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(6)
    x = torch.randn(50, 288, device=device).to(dtype)
    monkeypatch.setattr("kernels.quantize.WHOLE_AMAX", 0)
    # More tiles than programs: each takes several.
    monkeypatch.setattr("kernels.quantize.AMAX_PROGRAMS", 3)
    _same_bytes(x)
    _same_bytes(-x.abs().t()[:, :48])


@pytest.mark.parametrize("shape", [(1, 16), (129, 144), (33, 320)])
def test_swizzled_scales_are_tiled_and_what_pads_them_is_zero(
    shape: tuple[int, int], device: str
) -> None:
    torch.manual_seed(5)
    x = torch.randn(shape, device=device)
    plain = quantize_nvfp4(x, backend="reference")
    codes, tiled, _ = quantize_nvfp4_triton(x, swizzled=True)
    codes_equal(codes, plain.codes)
    rows, count = -(-shape[0] // 128) * 128, shape[1] // 16
    columns = -(-count // 4) * 4
    want = torch.zeros(rows, columns, dtype=torch.uint8, device=device)
    want[: shape[0], :count] = plain.block_scales.view(torch.uint8)
    # (row tile, row within 32, which 32, column tile, column) -> the order in memory.
    want = want.view(rows // 128, 4, 32, columns // 4, 4).permute(0, 3, 2, 1, 4).reshape(-1)
    scales_equal(tiled, want)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nan_and_inf_show_in_what_is_decoded(value: float, device: str) -> None:
    x = torch.ones(32, 64, device=device)
    x[17, 33] = value
    decoded = dequantize_nvfp4(quantize_nvfp4(x, backend="triton"))
    assert not decoded.isfinite().all(), "a finite check downstream must see it"


@pytest.mark.parametrize("shape", [(0, 32), (4, 0)])
def test_empty(shape: tuple[int, int], device: str) -> None:
    _same_bytes(torch.ones(shape, device=device))


def test_a_seed_is_carried_whole(device: str) -> None:
    for seed in (0, 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1):
        assert int(seed_tensor(seed, device)) % 2**64 == seed


def test_triton_refuses_what_the_reference_refuses(device: str) -> None:
    with pytest.raises(ValueError, match="K is 40"):
        quantize_nvfp4(torch.ones(2, 40, device=device), backend="triton")
    with pytest.raises(ValueError, match="float64"):
        quantize_nvfp4(torch.ones(2, 32, device=device).double(), backend="triton")
    with pytest.raises(ValueError, match="seed is None"):
        quantize_nvfp4(torch.ones(2, 32, device=device), backend="triton", rounding="stochastic")


def test_without_gpu_and_interpreter_triton_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(ValueError, match="on cpu; move it to a GPU"):
        quantize_nvfp4(torch.ones(2, 32), backend="triton")
