"""The frozen Linear's operators: values, gradients, sharing, and torch.compile without a break."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
import torch
from torch import Tensor, nn

from kernels import (
    dequantize_nvfp4,
    fake_quantize_mxfp4,
    fake_quantize_nvfp4,
    linear_fp4,
    quantize_activation,
    quantize_mxfp4,
    quantize_nvfp4,
    round_to,
)
from kernels import linear as operators
from kernels.dequantize import transpose_nvfp4_2d
from kernels.dispatch import FP4Recipe
from kernels.mxfp4 import PackedTensor, packed
from tests.assertions import bits_equal, no_worse_than_low_precision, relative_mse

SEED = torch.tensor([7])


FAKE = {"nvfp4": fake_quantize_nvfp4, "mxfp4": fake_quantize_mxfp4}


def _weight(n: int = 48, k: int = 64, scaling: str = "1d", recipe: str = "nvfp4") -> PackedTensor:
    weight = torch.randn(n, k, generator=torch.Generator().manual_seed(0))
    return quantize_mxfp4(weight) if recipe == "mxfp4" else quantize_nvfp4(weight, scaling=scaling)


def _input(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1)).requires_grad_()


@pytest.mark.parametrize("recipe", FAKE)
def test_w4a4_forward_is_the_product_of_rounded_operands(recipe: str) -> None:
    x, w, bias = _input(2, 5, 64), _weight(recipe=recipe), torch.randn(48)
    want = torch.nn.functional.linear(FAKE[recipe](x.detach()), w.dequantize(), bias)
    bits_equal(linear_fp4(x, w, bias, recipe=recipe).detach(), round_to(want, "bf16"))


@pytest.mark.parametrize("compute", ["bf16", "fp16"])
def test_weight_only_rounds_the_activation_to_16_bits(compute: str) -> None:
    x, w = _input(5, 64), _weight()
    want = round_to(round_to(x.detach(), compute) @ dequantize_nvfp4(w).T, compute)
    got = linear_fp4(x, w, recipe="nvfp4-weight-only", compute=compute)
    bits_equal(got.detach(), want)


@pytest.mark.parametrize("recipe", ["nvfp4", "nvfp4-weight-only", "mxfp4"])
def test_dgrad_is_autograd_through_the_decoded_weight(recipe: str) -> None:
    x, w, dy = _input(2, 5, 64), _weight(recipe=recipe), torch.randn(2, 5, 48)
    (got,) = torch.autograd.grad(linear_fp4(x, w, recipe=recipe), x, dy)
    plain = x.detach().requires_grad_()
    y = torch.nn.functional.linear(plain, w.dequantize())
    (want,) = torch.autograd.grad(y, plain, round_to(dy, "bf16"))
    bits_equal(got, round_to(want, "bf16"))


def test_2d_dgrad_is_unbiased_and_follows_its_seed() -> None:
    x, w, dy = _input(32, 64), _weight(scaling="2d"), torch.randn(32, 48)
    exact = round_to(dy, "bf16") @ dequantize_nvfp4(w)

    def draw(seed: int) -> Tensor:
        y = linear_fp4(x, w, recipe="nvfp4-2d", seed=torch.tensor([seed]))
        return torch.autograd.grad(y, x, dy)[0]

    bits_equal(draw(1), draw(1))
    one = relative_mse(draw(1), exact)
    many = relative_mse(torch.stack([draw(s) for s in range(32)]).mean(0), exact)
    assert 0.1 < one**0.5 < 0.18  # published: 13.8 %
    assert many < one / 8


def test_an_activation_is_quantised_once_for_all_that_read_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = _count(monkeypatch, operators, "fake_quantize_nvfp4")
    x, weights = _input(4, 64), [_weight(48), _weight(16), _weight(16)]
    operand = quantize_activation(x)
    shared = [linear_fp4(x, w, operand=operand) for w in weights]
    assert len(calls) == 1
    for y, w in zip(shared, weights, strict=True):
        bits_equal(y.detach(), linear_fp4(x, w).detach())


def _count(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[int]:
    calls: list[int] = []
    real: Callable = getattr(owner, name)

    def counted(*args: object, **options: object) -> object:
        calls.append(1)
        return real(*args, **options)

    monkeypatch.setattr(owner, name, counted)
    return calls


class _Lora(nn.Module):
    """A frozen Linear in 4 bits with an adapter around it."""

    def __init__(self, n: int, k: int, recipe: str) -> None:
        super().__init__()
        q = _weight(n, k, recipe=recipe)
        for name in ("codes", "block_scales", "tensor_scale"):
            self.register_buffer(name, getattr(q, name))
        self.recipe = recipe
        generator = torch.Generator().manual_seed(n)
        self.lora_a = nn.Parameter(torch.randn(4, k, generator=generator) / 8)
        self.lora_b = nn.Parameter(torch.randn(n, 4, generator=generator) / 8)

    def forward(self, x: Tensor) -> Tensor:
        q = packed(self.codes, self.block_scales, self.tensor_scale)
        return linear_fp4(x, q, recipe=self.recipe) + x @ self.lora_a.T @ self.lora_b.T


class _TwoLayers(nn.Module):
    def __init__(self, recipe: str) -> None:
        super().__init__()
        self.q, self.k, self.v = (_Lora(64, 64, recipe) for _ in range(3))
        self.down = _Lora(32, 64, recipe)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(torch.tanh(self.q(x) * self.k(x) + self.v(x)))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", FAKE)
def test_compiles_whole_forward_and_backward_and_agrees_with_eager(
    recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(2)
    model, x = _TwoLayers(recipe), _input(3, 64)

    def run(forward: Callable[[Tensor], Tensor]) -> list[Tensor]:
        y = forward(x)
        parameters = list(model.parameters())
        return [y.detach(), *torch.autograd.grad(y.square().sum(), [x, *parameters])]

    eager = run(model)
    torch._dynamo.reset()
    # aot_eager traces forward and backward whole, as inductor does, but needs no C++ compiler.
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager_decomp_partition")
    for got, want in zip(run(compiled), eager, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
    calls = _count(monkeypatch, operators, FAKE[recipe].__name__)
    run(compiled)
    assert len(calls) == 2, "one for q, k and v together, one for down"


@pytest.mark.parametrize("recipe", get_args(FP4Recipe))
def test_operators_pass_torch_s_own_check(recipe: str) -> None:
    q = _weight(scaling="2d", recipe=recipe)
    operand = [] if recipe == "nvfp4-weight-only" else [torch.randn(5, 64)]
    dgrad = "fp4" if recipe == "nvfp4-2d" else "decoded"
    parts = (q.codes, q.block_scales, q.tensor_scale)
    # test_schema compares every input with allclose, which torch has not for E4M3.
    checks = ("test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    arguments = (_input(5, 64), operand, *parts, None, None, SEED, dgrad, "bf16", "reference")
    torch.library.opcheck(operators._linear, arguments, test_utils=checks)
    torch.library.opcheck(operators._fake_quantize, (torch.randn(5, 64), q.group, "amax", None))


@pytest.mark.parametrize("group", [16, 32])
@pytest.mark.parametrize("shape", [(2, 5, 96), (130, 64)])
def test_the_quantiser_s_fake_has_the_real_one_s_shapes(
    group: int, shape: tuple[int, ...], device: str
) -> None:
    arguments = (torch.randn(shape, device=device), group, "amax", None)
    torch.library.opcheck(operators._quantize, arguments, test_utils="test_faketensor")


@pytest.mark.parametrize("recipe", ["nvfp4", "nvfp4-weight-only", "mxfp4"])
def test_the_decoded_backend_agrees_forward_and_backward(recipe: str, device: str) -> None:
    x, w, dy = _input(33, 64), _weight(recipe=recipe), torch.randn(33, 48)
    options = dict(recipe=recipe, compute="fp16")

    def run(backend: str) -> tuple[Tensor, Tensor]:
        y = linear_fp4(x, w, backend=backend, **options)
        return y.detach(), torch.autograd.grad(y, x, dy)[0]

    left = FAKE[recipe](x.detach()) if recipe in FAKE else x.detach()
    exact = left @ w.dequantize().T, dy @ w.dequantize()
    for got, low, true in zip(run("decoded"), run("reference"), exact, strict=True):
        no_worse_than_low_precision(got, low, true)


@pytest.mark.parametrize("shape", [(16, 16), (48, 80), (96, 144)])
def test_a_2d_scaled_weight_is_transposed_without_loss(
    shape: tuple[int, int], device: str, poisoned: None
) -> None:
    q = quantize_nvfp4(torch.randn(shape, device=device), scaling="2d", backend="reference")
    turned = transpose_nvfp4_2d(q)
    want = dequantize_nvfp4(q, backend="reference").t().contiguous()
    bits_equal(dequantize_nvfp4(turned, backend="reference"), want)


def test_a_nan_activation_shows_in_the_result() -> None:
    x = torch.randn(3, 64)
    x[1, 2] = float("nan")
    assert linear_fp4(x, _weight()).isnan().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recipe": "nvfp5"}, "recipe is 'nvfp5'; choose from nvfp4"),
        ({"recipe": "nvfp4-2d"}, "seed is None"),
        ({"x": torch.ones(2, 32)}, "x has 32 features.*K must agree"),
        ({"x": torch.ones(2, 64).double()}, "torch.float64"),
        ({"recipe": "nvfp4-2d", "weight": (40, 64)}, "N is 40.*nvfp4 for this layer"),
        ({"recipe": "mxfp4"}, "weight is a NVFP4Tensor.*MXFP4Tensor.*quantize_mxfp4"),
        ({"weight": (48, 64, "1d", "mxfp4")}, "weight is a MXFP4Tensor.*quantize_nvfp4"),
    ],
)
def test_refused_with_the_value_and_the_remedy(options: dict, message: str) -> None:
    x = options.pop("x", torch.ones(2, 64))
    weight = _weight(*options.pop("weight", (48, 64)))
    with pytest.raises(ValueError, match=message):
        linear_fp4(x, weight, **options)
