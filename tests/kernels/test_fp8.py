"""FP8: the rounding against exact fractions, the scales, the edges, and both products."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from torch import Tensor

from kernels import fp8 as operators
from kernels.fp8 import (
    FP8Tensor,
    fake_quantize_fp8,
    linear_fp8,
    quantize_fp8,
    quantize_fp8_operand,
    quantize_fp8_rows,
)
from kernels.rounding import round_to
from tests.assertions import bits_equal, codes_equal, relative_mse
from tests.kernels.oracle import E4M3_GRID, nearest_pattern

E5M2_GRID = [
    Fraction(mantissa, 4) * Fraction(2) ** -14
    if exponent == 0
    else (1 + Fraction(mantissa, 4)) * Fraction(2) ** (exponent - 15)
    for exponent in range(31)  # pattern 31 is inf and NaN
    for mantissa in range(4)
]
GRIDS = {"e4m3": E4M3_GRID, "e5m2": E5M2_GRID}


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("format", GRIDS)
def test_every_byte_its_neighbourhood_and_its_ties(format: str) -> None:
    grid = GRIDS[format]
    values = [float(v) for v in grid]
    ties = [float((a + b) / 2) for a, b in zip(grid, grid[1:], strict=False)]
    near = [math.nextafter(t, s) for t in ties for s in (0.0, math.inf)]
    # The largest value is in the row, so its scale is 1 and nothing is scaled away.
    exact = torch.tensor([*values, *ties, *near], dtype=torch.float64).to(torch.float32)
    x = torch.stack([exact, -exact])
    codes, scales = quantize_fp8_rows(x, format)
    assert scales.tolist() == [1, 1]
    want = [nearest_pattern(Fraction(v), grid) for v in exact.tolist()]
    codes_equal(codes.view(torch.uint8)[0], torch.tensor(want, dtype=torch.uint8))
    codes_equal(codes.view(torch.uint8)[1], torch.tensor(want, dtype=torch.uint8) | 0x80)


@pytest.mark.parametrize("format", GRIDS)
@pytest.mark.parametrize("magnitude", [1e-45, 1e-38, 1e-5, 1.0, 447.9, 448.0, 448.1, 3e38])
def test_a_row_s_scale_is_the_smallest_power_of_two_that_holds_it(
    format: str, magnitude: float
) -> None:
    x = torch.tensor([[magnitude, -magnitude / 3]])
    codes, scales = quantize_fp8_rows(x, format)
    exact = Fraction(float(x[0, 0])) / GRIDS[format][-1]
    wanted = max(math.ceil(math.log2(exact)), -126) if exact else -126
    while Fraction(2) ** wanted < exact:  # log2 may be off by one next to a power
        wanted += 1
    assert scales.item() == 2.0**wanted
    assert codes.to(torch.float32).isfinite().all()


@pytest.mark.parametrize("format", GRIDS)
def test_a_row_is_rounded_alike_whatever_is_beside_it(format: str) -> None:
    x = normal(6, 64)
    alone = torch.cat([fake_quantize_fp8(row.unsqueeze(0), format) for row in x])
    x_with_outlier = torch.cat([x, 1e6 * x[:1]])
    bits_equal(fake_quantize_fp8(x_with_outlier, format)[:6], alone)


@pytest.mark.parametrize(("format", "published"), [("e4m3", 7.0e-4), ("e5m2", 2.8e-3)])
def test_relative_error_on_a_normal_distribution(format: str, published: float) -> None:
    x = normal(1024, 1024)
    assert relative_mse(fake_quantize_fp8(x, format), x) == pytest.approx(published, rel=0.01)


def test_a_weight_takes_eight_bits_and_decodes_exactly() -> None:
    x = normal(512, 576) * 1e-3
    q = quantize_fp8(x)
    assert q.codes.dtype == torch.float8_e4m3fn and q.codes.nbytes == x.numel()
    assert math.log2(q.scale.item()).is_integer()
    assert relative_mse(q.dequantize(), x) == pytest.approx(7.0e-4, rel=0.05)
    bits_equal(q.dequantize(), q.codes.to(torch.float32) * q.scale)
    bits_equal(q.dequantize(torch.bfloat16).float(), q.dequantize())  # 4 bits and a power of two


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("shape", [(0, 32), (1, 16), (2, 3, 48), (5, 0)])
def test_any_rows(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = normal(*shape).to(dtype)
    got = fake_quantize_fp8(x)
    assert got.shape == x.shape and got.dtype == dtype
    if x.numel():
        assert relative_mse(got, x.float()) < 2e-3
    turned = normal(16, 5).t()
    bits_equal(fake_quantize_fp8(turned), fake_quantize_fp8(turned.contiguous()))


@pytest.mark.parametrize("format", GRIDS)
def test_zeros_nan_and_inf(format: str) -> None:
    x = torch.ones(4, 32)
    x[1] = 0
    x[2, 3], x[3, 4] = float("nan"), float("-inf")
    codes, scales = quantize_fp8_rows(x, format)
    assert scales[:2].isfinite().all() and scales[2:].isnan().all()
    got = fake_quantize_fp8(x, format)
    assert got[0].eq(1).all() and got[1].eq(0).all() and got[2:].isnan().all()


def test_forward_and_backward_are_products_of_rounded_operands() -> None:
    x, w, dy = normal(2, 5, 64).requires_grad_(), quantize_fp8(normal(48, 64)), normal(2, 5, 48)
    bias = normal(48)
    for gradients in GRIDS:
        x.grad = None
        y = linear_fp8(x, w, bias, gradients=gradients)
        y.backward(dy)
        want = torch.nn.functional.linear(fake_quantize_fp8(x.detach()), w.dequantize(), bias)
        bits_equal(y.detach(), round_to(want, "bf16"))
        rounded = fake_quantize_fp8(round_to(dy, "bf16"), gradients)
        bits_equal(x.grad, round_to(rounded @ w.dequantize(), "bf16"))


def test_siblings_may_share_an_operand() -> None:
    x, w = normal(5, 32), quantize_fp8(normal(16, 32))
    shared = quantize_fp8_operand(x)
    bits_equal(linear_fp8(x, w, operand=shared), linear_fp8(x, w))


@pytest.mark.parametrize("backend", ["rowwise", "tensorwise"])
@pytest.mark.parametrize("biased", [False, True])
def test_how_scaled_mm_is_asked(
    backend: str, biased: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a GPU: its documented arithmetic in place of it, its demands on operands checked."""
    asked = []

    def scaled_mm(a, b, *, scale_a, scale_recipe_a, scale_b, scale_recipe_b, output_dtype, **_):  # noqa: ANN001, ANN202
        asked.append((a.dtype, scale_recipe_a.name, scale_recipe_b.name))
        assert a.is_contiguous() and b.t().is_contiguous(), "row-major times column-major"
        assert a.shape[1] % 16 == b.shape[1] % 16 == 0
        if scale_recipe_a.name == "RowWise":
            assert scale_a.shape == (a.shape[0], 1) and scale_b.shape == (1, b.shape[1])
            assert scale_b.is_contiguous()
        else:
            assert scale_a.numel() == scale_b.numel() == 1
        product = (a.float() @ b.float()) * scale_a * scale_b
        return product.to(output_dtype)

    monkeypatch.setattr(torch.nn.functional, "scaled_mm", scaled_mm)
    x, w, dy = normal(7, 64).requires_grad_(), quantize_fp8(normal(48, 64)), normal(7, 48)
    with torch.no_grad():
        x[0] *= 1e4
    bias = normal(48) if biased else None

    def run(name: str) -> tuple[Tensor, Tensor]:
        y = linear_fp8(x, w, bias, backend=name)
        return y.detach(), torch.autograd.grad(y, x, dy)[0]

    for got, want in zip(run(backend), run("reference"), strict=True):
        # Summed in another order, then rounded to BF16: at most one step of 2^-8 apart.
        torch.testing.assert_close(got, want, rtol=2**-7, atol=1e-4)
    name = {"rowwise": "RowWise", "tensorwise": "TensorWise"}[backend]
    assert asked == [(torch.float8_e4m3fn, name, name), (torch.float8_e5m2, name, name)]


def test_operators_pass_torch_s_own_check() -> None:
    x, w = normal(5, 32).requires_grad_(), quantize_fp8(normal(16, 32))
    # test_schema compares every input with allclose, which torch has not for E4M3.
    checks = ("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    operand = quantize_fp8_operand(x)
    arguments = (x, operand, w.codes, w.scale, None, "e5m2", "reference")
    torch.library.opcheck(operators._linear, arguments, test_utils=checks)
    for decoded in (True, False):
        torch.library.opcheck(
            operators._operand, (x.detach(), "e4m3", decoded), test_utils="test_faketensor"
        )


def test_refused_with_the_value_and_the_remedy() -> None:
    w, infinite = quantize_fp8(normal(16, 32)), torch.ones(2, 32)
    infinite[1, 3] = float("inf")
    with pytest.raises(ValueError, match="1 of 64 values are NaN or inf"):
        quantize_fp8(infinite)
    with pytest.raises(ValueError, match="3 dimensions; pass a matrix"):
        quantize_fp8(torch.ones(2, 2, 32))
    with pytest.raises(ValueError, match="torch.float64"):
        fake_quantize_fp8(torch.ones(2, 32).double())
    with pytest.raises(ValueError, match="format is 'e3m4'; choose from e4m3, e5m2"):
        fake_quantize_fp8(torch.ones(2, 32), "e3m4")
    with pytest.raises(ValueError, match="x has 16 features"):
        linear_fp8(torch.ones(2, 16), w)
    with pytest.raises(ValueError, match="gradients is 'fp8'"):
        linear_fp8(torch.ones(2, 32), w, gradients="fp8")
    with pytest.raises(ValueError, match="codes is torch.uint8"):
        FP8Tensor(w.codes.view(torch.uint8), w.scale)


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["rowwise", "tensorwise"])
@pytest.mark.parametrize("m", [1, 7, 127, 129])
def test_native_products_agree_with_the_reference(backend: str, m: int) -> None:
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() < (8, 9):
        pytest.skip("needs a GPU with FP8 units")
    x = normal(m, 576).cuda().requires_grad_()
    w, dy = quantize_fp8(normal(192, 576).cuda()), normal(m, 192).cuda()

    def run(name: str) -> tuple[Tensor, Tensor]:
        y = linear_fp8(x, w, backend=name)
        return y.detach(), torch.autograd.grad(y, x, dy)[0]

    for got, want in zip(run(backend), run("reference"), strict=True):
        assert relative_mse(got, want) < 1e-4  # only sums and the last rounding to BF16 differ
