"""What a layer says it multiplies is what it multiplies; and a look leaves no trace."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from playground.precision.linear import FrozenLinear
from playground.precision.operands import SharedOperand
from playground.precision.registry import PRECISION_RECIPES

CPU = torch.device("cpu")
SIXTEEN_BITS = {"rtol": 2**-7, "atol": 1e-5}  # fprop and dgrad round their result to 16 bits too


def layer_of(name: str) -> FrozenLinear:
    torch.manual_seed(0)
    return PRECISION_RECIPES[name].convert(nn.Linear(64, 32, bias=False), CPU, SharedOperand())


@pytest.mark.parametrize("name", PRECISION_RECIPES)
def test_fprop_and_dgrad_multiply_what_is_said(name: str) -> None:
    layer = layer_of(name)
    x, dy = torch.randn(5, 64, requires_grad=True), torch.randn(5, 32)
    y = layer(x)
    said = layer.rounded_activation(x.detach()).float() @ layer.decoded_weight().T
    torch.testing.assert_close(y, said, **SIXTEEN_BITS)
    y.backward(dy)
    said = layer.rounded_gradient(dy).float() @ layer.decoded_weight()
    torch.testing.assert_close(x.grad, said, **SIXTEEN_BITS)


def test_only_fp32_rounds_nothing() -> None:
    x, dy = torch.randn(5, 64), torch.randn(5, 32)
    for name in PRECISION_RECIPES:
        layer = layer_of(name)
        exact = torch.equal(layer.rounded_activation(x), x)
        exact &= torch.equal(layer.rounded_gradient(dy), dy)
        assert exact == (name == "fp32"), name


def test_passes_aside_are_not_counted() -> None:
    operand = SharedOperand()
    first = operand.first_seed(CPU)
    operand.next_pass()
    seed = operand.seed(first)
    with operand.aside():
        operand.next_pass()
        assert operand.seed(first) != seed
    assert operand.seed(first) == seed
    x = torch.ones(2)
    with operand.aside():
        operand.get(x, torch.neg)
    assert operand._rounded is None
