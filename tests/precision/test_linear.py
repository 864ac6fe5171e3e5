"""Each precision's Linear against its definition: rounding, gradients, and peft around it."""

from __future__ import annotations

import peft
import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from kernels import (
    fake_quantize_fp8,
    fake_quantize_mxfp4,
    fake_quantize_nvfp4,
    quantize_fp8,
    quantize_mxfp4,
    quantize_nf4,
    quantize_nvfp4,
    round_to,
)
from playground.config import PRECISIONS, QuantizationSettings
from playground.precision.linear import FrozenLinear
from playground.precision.operands import SharedOperand
from playground.precision.registry import PRECISION_RECIPES
from playground.presets import defaults

CPU = torch.device("cpu")
SHAPES = [(1, 32, 16), (7, 576, 192), (127, 896, 128), (129, 64, 48)]
"""(tokens, K, N): single tokens, ragged counts, hidden sizes 576 and 896, small k and v."""


def layer_of(name: str, linear: nn.Linear) -> FrozenLinear:
    return PRECISION_RECIPES[name].convert(linear, CPU, SharedOperand())


def made(tokens: int, k: int, n: int, bias: bool = True) -> tuple[nn.Linear, Tensor, Tensor]:
    torch.manual_seed(tokens * k + n)
    linear = nn.Linear(k, n, bias=bias)
    return linear, torch.randn(tokens, k, requires_grad=True), torch.randn(tokens, n)


def rounded_activation(name: str, x: Tensor) -> Tensor:
    if name in ("nvfp4", "nvfp4-2d"):
        return fake_quantize_nvfp4(x, scale_rule=PRECISION_RECIPES[name].activation_scale_rule)
    if name == "mxfp4":
        return fake_quantize_mxfp4(x)
    if name == "fp8":
        return fake_quantize_fp8(x)
    return rounded_result(name, x)


def rounded_result(name: str, y: Tensor) -> Tensor:
    compute = PRECISIONS[name].compute
    return y if compute == "fp32" else round_to(y, compute)


def rounded_gradient(name: str, layer: FrozenLinear, dy: Tensor) -> Tensor:
    dy = rounded_result(name, dy)
    if name == "fp8":
        return fake_quantize_fp8(dy, "e5m2")
    if name != "nvfp4-2d":
        return dy
    return fake_quantize_nvfp4(dy, rounding="stochastic", seed=int(layer.first_seed))


@pytest.mark.parametrize("name", PRECISION_RECIPES)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_fprop_multiplies_rounded_operands(name: str, shape: tuple[int, int, int]) -> None:
    linear, x, _ = made(*shape)
    layer = layer_of(name, linear)
    with torch.no_grad():
        product = rounded_activation(name, x) @ layer.decoded_weight().T + linear.bias
        y = layer(x)
    torch.testing.assert_close(y, rounded_result(name, product), rtol=2**-7, atol=1e-5)
    assert torch.equal(y, rounded_result(name, y)), "the result is not on the format's grid"


@pytest.mark.parametrize("name", PRECISION_RECIPES)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_dgrad_is_autograd_through_the_decoded_weight(
    name: str, shape: tuple[int, int, int]
) -> None:
    linear, x, dy = made(*shape)
    layer = layer_of(name, linear)
    layer(x).backward(dy)
    exact = x.detach().clone().requires_grad_()
    (exact @ layer.decoded_weight().T).backward(rounded_gradient(name, layer, dy))
    assert torch.equal(x.grad, rounded_result(name, exact.grad))


@pytest.mark.parametrize(
    ("name", "scaling"), [("nvfp4", "1d"), ("nvfp4-2d", "2d"), ("nvfp4-weight-only", "1d")]
)
def test_nvfp4_weight_is_what_the_kernel_packs(name: str, scaling: str) -> None:
    linear, *_ = made(1, 64, 32)
    layer = layer_of(name, linear)
    packed = quantize_nvfp4(linear.weight.detach(), scaling=scaling, scale_rule="search")
    assert torch.equal(layer.codes, packed.codes)
    assert torch.equal(layer.decoded_weight(), packed.dequantize())
    assert layer.weight is None


@pytest.mark.parametrize(
    ("name", "quantize"), [("mxfp4", quantize_mxfp4), ("fp8", quantize_fp8), ("nf4", quantize_nf4)]
)
def test_a_weight_is_what_the_kernel_packs(name: str, quantize) -> None:  # type: ignore[no-untyped-def]
    linear, *_ = made(1, 64, 32)
    layer = layer_of(name, linear)
    packed = quantize(linear.weight.detach())
    assert torch.equal(layer.codes.view(torch.uint8), packed.codes.view(torch.uint8))
    as_multiplied = torch.bfloat16 if name == "nf4" else torch.float32
    assert torch.equal(layer.decoded_weight(), packed.dequantize(as_multiplied).float())
    assert layer.weight is None


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["mxfp4", "fp8"])
def test_a_bad_activation_is_passed_on_as_nan_in_its_row(name: str, bad: float) -> None:
    x = torch.ones(2, 32)
    x[1, 3] = bad
    found = layer_of(name, nn.Linear(32, 16))(x).isnan()
    assert found[1].all() and not found[0].any()


@pytest.mark.parametrize("name", PRECISION_RECIPES)
def test_zeros_in_zeros_out_both_ways(name: str) -> None:
    x = torch.zeros(3, 32, requires_grad=True)
    y = layer_of(name, nn.Linear(32, 16, bias=False))(x)
    y.backward(torch.zeros_like(y))
    assert not y.any() and not x.grad.any()


def test_fp16_overflows_as_hardware_does() -> None:
    linear = nn.Linear(16, 1, bias=False)
    nn.init.constant_(linear.weight, 1.0)
    y = layer_of("fp16", linear)(torch.full((1, 16), 60_000.0))
    assert y.item() == float("inf")
    assert layer_of("bf16", linear)(torch.full((1, 16), 60_000.0)).isfinite().all()


def test_fp16_underflow_in_the_backward_pass_is_real() -> None:
    linear = nn.Linear(16, 4, bias=False)
    for name, survives in {"fp16": False, "bf16": True, "nvfp4": True}.items():
        x = torch.randn(2, 16, requires_grad=True)
        layer_of(name, linear)(x).backward(torch.full((2, 4), 1e-9))
        assert bool(x.grad.any()) is survives, name


def test_fp16_gradients_overflow_to_inf() -> None:
    linear = nn.Linear(16, 4, bias=False)
    x = torch.randn(2, 16, requires_grad=True)
    layer_of("fp16", linear)(x).backward(torch.full((2, 4), 1e6))
    assert not x.grad.isfinite().any()


@pytest.mark.parametrize("magnitude", [1e-30, 1e30])
@pytest.mark.parametrize("name", ["fp8", "nvfp4", "mxfp4", "nf4"])
def test_tiny_and_huge_activations_stay_in_proportion(name: str, magnitude: float) -> None:
    linear, x, _ = made(3, 64, 16, bias=False)
    layer = layer_of(name, linear)
    scaled = 2.0 ** round(torch.tensor(magnitude).log2().item())
    want = layer(x).detach() * scaled
    torch.testing.assert_close(layer(x.detach() * scaled), want, rtol=2**-7, atol=0)


def options(name: str, **changes: object):  # type: ignore[no-untyped-def]
    settings = QuantizationSettings(**(defaults()["quantization"] | changes))
    return PRECISION_RECIPES[name].with_options(settings)


@pytest.mark.parametrize("name", PRECISION_RECIPES)
def test_the_defaults_are_the_options_of_every_recipe(name: str) -> None:
    assert options(name) == PRECISION_RECIPES[name]


@pytest.mark.parametrize("rule", ["amax", "four_over_six"])
def test_an_activation_is_scaled_by_the_rule_asked_for(rule: str) -> None:
    linear, x, _ = made(7, 64, 32)
    layer = options("nvfp4", activation_scale_rule=rule).convert(linear, CPU, SharedOperand())
    rounded = fake_quantize_nvfp4(x.detach(), scale_rule=rule)
    want = round_to(nn.functional.linear(rounded, layer.decoded_weight(), linear.bias), "bf16")
    assert torch.equal(layer(x), want)
    assert torch.equal(layer.rounded_activation(x.detach()), rounded)


@pytest.mark.parametrize("rule", ["amax", "four_over_six", "search"])
def test_a_weight_is_scaled_by_the_rule_asked_for(rule: str) -> None:
    linear, *_ = made(1, 64, 32)
    layer = options("nvfp4", weight_scale_rule=rule).convert(linear, CPU, SharedOperand())
    packed = quantize_nvfp4(linear.weight.detach(), scale_rule=rule)
    assert torch.equal(layer.decoded_weight(), packed.dequantize())


def test_dy_is_rounded_to_nearest_where_asked() -> None:
    linear, x, dy = made(7, 64, 32)
    recipe = options("nvfp4-2d", gradient_rounding="nearest")
    layer = recipe.convert(linear, CPU, SharedOperand())
    layer(x).backward(dy)
    rounded = fake_quantize_nvfp4(round_to(dy, "bf16"))
    assert torch.equal(x.grad, round_to(rounded @ layer.decoded_weight(), "bf16"))
    assert torch.equal(layer.rounded_gradient(dy), rounded)


@pytest.mark.parametrize("format", ["e4m3", "e5m2"])
def test_fp8_rounds_dy_to_the_format_asked_for(format: str) -> None:
    linear, x, dy = made(7, 64, 32)
    layer = options("fp8", fp8_gradients=format).convert(linear, CPU, SharedOperand())
    layer(x).backward(dy)
    rounded = fake_quantize_fp8(round_to(dy, "bf16"), format)
    assert torch.equal(x.grad, round_to(rounded @ layer.decoded_weight(), "bf16"))
    assert torch.equal(layer.rounded_gradient(dy), rounded)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nvfp4_passes_a_bad_activation_on_as_nan(bad: float) -> None:
    x = torch.ones(2, 16)
    x[1, 3] = bad
    assert layer_of("nvfp4", nn.Linear(16, 4))(x).isnan().all()


@pytest.mark.parametrize("name", ["fp8", "nvfp4", "nf4"])
def test_a_packed_weight_refuses_another_dtype(name: str) -> None:
    with pytest.raises(TypeError, match="has no other dtype"):
        layer_of(name, nn.Linear(32, 16)).to(torch.bfloat16)


@pytest.mark.parametrize("name", PRECISION_RECIPES)
def test_no_wgrad_and_no_saved_input(name: str) -> None:
    linear, x, _ = made(4, 32, 16)
    saved: list[Tensor] = []
    layer = layer_of(name, linear)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        layer(x)
    # References to what the layer keeps anyway, and a seed of eight bytes; no activation.
    at_rest = {t.untyped_storage().data_ptr() for t in layer.weight_tensors()}
    others = [t for t in saved if t.untyped_storage().data_ptr() not in at_rest]
    assert sum(t.untyped_storage().nbytes() for t in others) == (8 if name == "nvfp4-2d" else 0)


def test_stochastic_rounding_draws_anew_in_every_pass_and_layer() -> None:
    operand = SharedOperand()
    linear, x, dy = made(5, 32, 32)
    layers = [PRECISION_RECIPES["nvfp4-2d"].convert(linear, CPU, operand) for _ in range(2)]
    gradients = []
    for layer in (*layers, layers[0]):
        if gradients[1:]:
            operand.next_pass()
        x.grad = None
        layer(x).backward(dy)
        gradients.append(x.grad)
    assert not torch.equal(gradients[0], gradients[1]), "two layers drew the same"
    assert not torch.equal(gradients[0], gradients[2]), "two passes drew the same"


@pytest.mark.parametrize("name", PRECISION_RECIPES)
def test_checkpointing_changes_nothing(name: str) -> None:
    linear, x, dy = made(5, 32, 32)
    block = nn.Sequential(layer_of(name, linear), nn.SiLU(), layer_of(name, linear))
    block(x).backward(dy)
    plain, x.grad = x.grad, None
    checkpoint(block, x, use_reentrant=False).backward(dy)
    assert torch.equal(x.grad, plain)


@pytest.mark.parametrize("name", PRECISION_RECIPES)
def test_peft_wraps_it_as_a_linear(name: str) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.proj = layer_of(name, nn.Linear(32, 16))

        def forward(self, x: Tensor) -> Tensor:
            return self.proj(x)

    model = peft.get_peft_model(Model(), peft.LoraConfig(r=4, target_modules=["proj"]))
    x = torch.randn(3, 32)
    before = model(x)
    before.sum().backward()
    gradients = {n: p.grad for n, p in model.named_parameters() if p.requires_grad}
    assert {n.split(".")[-3] for n in gradients} == {"lora_A", "lora_B"}
    # B starts at zero, so only B has a gradient; after it moves, the output does.
    assert all(g.any() for n, g in gradients.items() if "lora_B" in n)
    with torch.no_grad():
        model.base_model.model.proj.lora_B["default"].weight.add_(0.1)
    assert not torch.equal(model(x), before)
