"""The reference against an independent statement of the rules, its properties, and its refusals.

oracle, bit for bit      1D and 2D, three dtypes, odd shapes, extreme magnitudes
a public quantiser       bytes recorded from torchao 0.18.0
properties               idempotence, half a step, sign symmetry, powers of two, chunking
edges                    zeros, tiny blocks, empty, views, NaN, K
"""

from __future__ import annotations

import hashlib

import pytest
import torch

from kernels import (
    dequantize_nvfp4,
    fake_quantize_nvfp4,
    matmul_nvfp4,
    quantize_nvfp4,
    reference,
)
from tests.assertions import bits_equal, codes_equal, packed_equal, scales_equal
from tests.kernels import oracle

DTYPES = [torch.float32, torch.bfloat16, torch.float16]
RULES = ["amax", "four_over_six", "search"]
SCALINGS = ["1d", "2d"]


def _matches_oracle(x: torch.Tensor, scaling: str = "1d") -> None:
    codes, scales, tensor_scale = oracle.quantize(
        x.float().numpy(), tile_rows=16 if scaling == "2d" else 1
    )
    got = quantize_nvfp4(x, scaling=scaling)
    assert got.tensor_scale.item() == float(tensor_scale)
    scales_equal(got.block_scales, torch.from_numpy(scales))
    codes_equal(got.codes, torch.from_numpy(codes[:, 0::2] | codes[:, 1::2] << 4))
    decoded = torch.from_numpy(oracle.decode(codes, scales, tensor_scale))
    bits_equal(dequantize_nvfp4(got), decoded)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 16), (7, 48), (17, 32), (33, 64)], ids=str)
def test_bit_equal_to_the_oracle(shape: tuple[int, int], dtype: torch.dtype, scaling: str) -> None:
    torch.manual_seed(0)
    _matches_oracle(torch.randn(shape).to(dtype), scaling)


@pytest.mark.parametrize("magnitude", [1e-44, 1e-40, 1e-37, 1e-30, 1e-6, 1e6, 1e30, 3e37, 1e38])
def test_bit_equal_to_the_oracle_at_any_magnitude(magnitude: float) -> None:
    torch.manual_seed(1)
    _matches_oracle(torch.randn(8, 32).clamp(-3, 3) * magnitude)


def test_bit_equal_to_the_oracle_where_block_scales_are_subnormal_or_underflow() -> None:
    torch.manual_seed(2)
    _matches_oracle(torch.randn(4, 256) * torch.logspace(-8, 0, 16).repeat_interleave(16))


def _reproducible_normal(m: int, k: int) -> torch.Tensor:
    """About N(0,1) from integers alone, so that no library's generator is involved."""
    state = torch.arange(m * k * 4, dtype=torch.int64)
    for factor in (0x5851F42D, 0x14057B7F):
        state = (state ^ state >> 15) * factor & 0xFFFFFFFF
    uniform = (state ^ state >> 13).view(m, k, 4).double() / 2**32
    return ((uniform.sum(-1) - 2) * 3**0.5).float()


def test_same_bytes_as_torchao() -> None:
    # Recorded from torchao 0.18.0: nvfp4_quantize(x, per_tensor_scale=amax / 2688).
    x = _reproducible_normal(256, 1024)
    q = quantize_nvfp4(x)
    digest = [
        hashlib.sha256(t.view(torch.uint8).numpy().tobytes()).hexdigest()[:16]
        for t in (q.codes, q.block_scales)
    ]
    assert digest == ["b622ee1d9d7fc977", "8c1953084cf1badd"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_fake_quantize_is_quantize_and_decode(dtype: torch.dtype, scaling: str, rule: str) -> None:
    torch.manual_seed(3)
    x = torch.randn(35, 96).to(dtype)
    for options in ({}, {"rounding": "stochastic", "seed": 7}):
        q = quantize_nvfp4(x, scaling=scaling, scale_rule=rule, **options)
        fake = fake_quantize_nvfp4(x, scaling=scaling, scale_rule=rule, **options)
        bits_equal(fake, dequantize_nvfp4(q, dtype))


def test_fake_quantize_takes_any_leading_dimensions() -> None:
    torch.manual_seed(4)
    x = torch.randn(2, 5, 64)
    bits_equal(fake_quantize_nvfp4(x), fake_quantize_nvfp4(x.view(10, 64)).view(2, 5, 64))
    assert fake_quantize_nvfp4(x[:0]).shape == (0, 5, 64)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_nothing_depends_on_the_chunk(
    scaling: str, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(5)
    x = torch.randn(100, 80)
    options = dict(scaling=scaling, scale_rule=rule, rounding="stochastic", seed=1)
    whole = quantize_nvfp4(x, **options)
    monkeypatch.setattr(reference, "CHUNK_VALUES", 1)
    packed_equal(quantize_nvfp4(x, **options), whole)
    bits_equal(fake_quantize_nvfp4(x, **options), dequantize_nvfp4(whole))


@pytest.mark.parametrize("scaling", SCALINGS)
def test_quantising_what_was_decoded_changes_nothing(scaling: str) -> None:
    # Stated for a held tensor scale and block scales in E4M3's normal range, where the largest
    # value of a block always comes out as 6.
    torch.manual_seed(6)
    q = quantize_nvfp4(torch.randn(64, 256), scaling=scaling)
    assert q.block_scales.float().min() >= 2**-6
    x = dequantize_nvfp4(q)
    packed_equal(quantize_nvfp4(x, tensor_scale=q.tensor_scale, scaling=scaling), q)
    searched = quantize_nvfp4(x, tensor_scale=q.tensor_scale, scaling=scaling, scale_rule="search")
    bits_equal(dequantize_nvfp4(searched), x)


def test_no_value_errs_by_more_than_half_its_step() -> None:
    torch.manual_seed(7)
    x = torch.randn(64, 256)
    q = quantize_nvfp4(x)
    scale = q.block_scales.float().repeat_interleave(16, 1) * q.tensor_scale
    y = (x / scale).abs()
    step = torch.where(y < 2, 0.5, torch.where(y < 4, 1.0, 2.0))
    error = (dequantize_nvfp4(q) - x).abs() / scale
    # Above 6 values saturate: a block scale rounded down leaves up to 6.375.
    within = error <= torch.where(y > 6, y - 6, step / 2) + 1e-5
    assert within.all(), f"{int((~within).sum())} of {x.numel()} values err by more"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_sign_symmetry(scaling: str, rule: str) -> None:
    torch.manual_seed(8)
    x = torch.randn(32, 64)
    plus, minus = (quantize_nvfp4(v, scaling=scaling, scale_rule=rule) for v in (x, -x))
    codes_equal(minus.codes, plus.codes ^ 0x88)
    scales_equal(minus.block_scales, plus.block_scales)


@pytest.mark.parametrize("exponent", [-60, -3, 1, 40])
@pytest.mark.parametrize("rule", RULES)
def test_a_power_of_two_moves_only_the_tensor_scale(rule: str, exponent: int) -> None:
    torch.manual_seed(9)
    x = torch.randn(32, 64)
    q, moved = (quantize_nvfp4(v, scale_rule=rule) for v in (x, x * 2.0**exponent))
    assert moved.tensor_scale == q.tensor_scale * 2.0**exponent
    codes_equal(moved.codes, q.codes)
    scales_equal(moved.block_scales, q.block_scales)


def test_2d_scaling_commutes_with_the_transpose() -> None:
    torch.manual_seed(10)
    x = torch.randn(64, 48)
    ours, transposed = (fake_quantize_nvfp4(v, scaling="2d") for v in (x, x.t()))
    bits_equal(ours.t().contiguous(), transposed)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scaling", SCALINGS)
def test_zeros_stay_zero_and_scales_finite(scaling: str, rule: str) -> None:
    q = quantize_nvfp4(torch.zeros(18, 32), scaling=scaling, scale_rule=rule)
    assert not q.codes.any()
    assert q.block_scales.float().eq(0).all()
    assert q.tensor_scale == 1
    x = torch.randn(18, 32)
    x[:, 16:] = 0
    q = quantize_nvfp4(x, scaling=scaling, scale_rule=rule)
    assert not q.codes[:, 8:].any()
    assert q.block_scales[:, 1].float().eq(0).all()
    assert dequantize_nvfp4(q)[:, 16:].eq(0).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("value", [1e-45, 1e-38, 3.4e38, 1.0])
def test_one_value_alone_and_the_ends_of_fp32(value: float, scaling: str, rule: str) -> None:
    x = torch.zeros(2, 32)
    x[1, 5] = value
    q = quantize_nvfp4(x, scaling=scaling, scale_rule=rule)
    decoded = dequantize_nvfp4(q)
    scales_equal(q.block_scales, q.block_scales)
    assert decoded.isfinite().all()
    assert torch.count_nonzero(decoded) <= 1
    if value >= 1:
        assert decoded[1, 5] == pytest.approx(value, rel=0.07)


@pytest.mark.parametrize("shape", [(0, 32), (4, 0), (0, 0)])
def test_empty_tensors_work(shape: tuple[int, int]) -> None:
    q = quantize_nvfp4(torch.empty(shape))
    assert q.shape == shape
    assert dequantize_nvfp4(q).shape == shape
    assert fake_quantize_nvfp4(torch.empty(shape)).shape == shape


def test_views_quantise_like_their_copies() -> None:
    torch.manual_seed(11)
    base = torch.randn(64, 96)
    for view in (base.t(), base[::2], base[:, ::3], base[3:40, 16:48], base[:1].expand(8, 96)):
        packed_equal(quantize_nvfp4(view), quantize_nvfp4(view.contiguous()))
        bits_equal(fake_quantize_nvfp4(view), fake_quantize_nvfp4(view.contiguous()))


def test_the_input_is_left_alone() -> None:
    torch.manual_seed(12)
    x = torch.randn(32, 64) * 5
    before = x.clone()
    for rule in RULES:
        quantize_nvfp4(x, scale_rule=rule)
        fake_quantize_nvfp4(x, scale_rule=rule, rounding="stochastic", seed=0)
    bits_equal(x, before)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_better_rules_never_err_more_than_amax_with_the_same_tensor_scale(scaling: str) -> None:
    torch.manual_seed(13)
    x = torch.distributions.StudentT(3.0).sample((64, 512))
    scale = x.abs().max() / 2688 * 2

    def block_errors(rule: str) -> torch.Tensor:
        q = quantize_nvfp4(x, tensor_scale=scale, scaling=scaling, scale_rule=rule)
        error = (dequantize_nvfp4(q).double() - x).square().view(64, 32, 16).sum(-1)
        return error if scaling == "1d" else error.view(4, 16, 32).sum(1)

    amax, four_over_six, search = (block_errors(rule) for rule in RULES)
    assert (four_over_six <= amax * (1 + 1e-6)).all()
    assert (search <= amax * (1 + 1e-6)).all()
    assert search.sum() < amax.sum()
    # The tails are heavy, so every 16x16 tile holds an outlier: none gains from being scaled to 4.
    assert four_over_six.sum() < amax.sum() or scaling == "2d"


def test_the_search_finds_what_trying_every_scale_finds() -> None:
    torch.manual_seed(14)
    x = torch.randn(16, 64)
    q = quantize_nvfp4(x, scale_rule="search")
    every = torch.arange(127, dtype=torch.uint8).view(torch.float8_e4m3fn).float()
    decode = (every * q.tensor_scale).view(-1, 1, 1, 1)
    blocks = x.view(16, 4, 16)
    grid = torch.tensor(sorted({float(v) * s for v in oracle.E2M1_GRID for s in (1, -1)}))
    errors = (blocks.unsqueeze(-1) - decode.unsqueeze(-1) * grid).abs().amin(-1).square().sum(-1)
    found = (dequantize_nvfp4(q).view(16, 4, 16) - blocks).square().sum(-1)
    torch.testing.assert_close(found, errors.amin(0), rtol=1e-4, atol=0)


def test_matmul_is_the_product_of_the_decoded_operands() -> None:
    torch.manual_seed(15)
    a, b, bias = torch.randn(7, 48), torch.randn(5, 48), torch.randn(5)
    qa, qb = quantize_nvfp4(a), quantize_nvfp4(b)
    exact = dequantize_nvfp4(qa).double() @ dequantize_nvfp4(qb).double().T + bias
    torch.testing.assert_close(
        matmul_nvfp4(qa, qb, bias=bias).double(), exact, rtol=1e-5, atol=1e-5
    )
    half = matmul_nvfp4(qa, qb, bias=bias, dtype=torch.float16)
    bits_equal(half, matmul_nvfp4(qa, qb, bias=bias).half())


def _refusals() -> dict[str, tuple[object, dict, str]]:
    x = torch.ones(2, 32)
    return {
        "K": (torch.ones(2, 40), {}, "K is 40.*pad.*48"),
        "dtype": (x.double(), {}, "torch.float64.*float32"),
        "integers": (x.int(), {}, "torch.int32"),
        "dimensions": (torch.ones(2, 2, 32), {}, "3 dimensions.*reshape"),
        "scaling": (x, {"scaling": "3d"}, "scaling is '3d'; choose from 1d, 2d"),
        "scale_rule": (x, {"scale_rule": "max"}, "scale_rule is 'max'"),
        "rounding": (x, {"rounding": "up"}, "rounding is 'up'"),
        "no seed": (x, {"rounding": "stochastic"}, "seed is None"),
        "idle seed": (x, {"seed": 1}, "seed is 1.*nearest"),
        "seed": (x, {"rounding": "stochastic", "seed": -1}, "seed is -1"),
        "bool seed": (x, {"rounding": "stochastic", "seed": True}, "seed is True"),
        "offset": (x, {"rounding": "stochastic", "seed": 1, "offset": 3}, "offset is 3"),
        "tensor_scale": (x, {"tensor_scale": 0.0}, "tensor_scale is 0.0"),
        "inf scale": (x, {"tensor_scale": float("inf")}, "tensor_scale is inf"),
        "backend": (x, {"backend": "magic"}, "backend is 'magic'"),
    }


@pytest.mark.parametrize("case", _refusals())
def test_refused_with_the_value_and_the_remedy(case: str) -> None:
    x, options, message = _refusals()[case]
    with pytest.raises(ValueError, match=message):
        quantize_nvfp4(x, **options)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nan_and_inf_are_refused_with_their_count(dtype: torch.dtype, value: float) -> None:
    x = torch.ones(4, 32, dtype=dtype)
    x[1, 3] = x[2, 31] = value
    for quantise in (quantize_nvfp4, fake_quantize_nvfp4):
        with pytest.raises(ValueError, match="2 of 128 values are NaN or inf"):
            quantise(x)


def test_operands_that_do_not_fit_are_refused() -> None:
    a, b = quantize_nvfp4(torch.ones(2, 32)), quantize_nvfp4(torch.ones(3, 48))
    with pytest.raises(ValueError, match=r"\(2, 32\).*\(3, 48\).*K"):
        matmul_nvfp4(a, b)
    with pytest.raises(ValueError, match="b is a Tensor; pack it first"):
        matmul_nvfp4(a, torch.ones(3, 32))
    with pytest.raises(ValueError, match=r"bias is \(3,\)"):
        matmul_nvfp4(a, a, bias=torch.ones(3))
    with pytest.raises(ValueError, match="'native'; here choose from reference .No kernel serves"):
        matmul_nvfp4(a, a, backend="native")
