"""An activation is rounded once for its readers, and forgotten with it."""

from __future__ import annotations

import torch
from torch import Tensor

from playground.precision.operands import SharedOperand


class Counting:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x.round()


def test_siblings_share_one_rounding() -> None:
    operand, rounded, x = SharedOperand(), Counting(), torch.randn(3, 4)
    first, second = operand.get(x, rounded), operand.get(x, rounded)
    assert rounded.calls == 1
    assert first is second


def test_a_change_in_place_is_seen() -> None:
    operand, rounded, x = SharedOperand(), Counting(), torch.zeros(2)
    operand.get(x, rounded)
    x.add_(1)
    assert operand.get(x, rounded).tolist() == [1, 1]
    assert rounded.calls == 2


def test_an_equal_tensor_is_not_the_same_tensor() -> None:
    operand, rounded, x = SharedOperand(), Counting(), torch.ones(2)
    operand.get(x, rounded)
    operand.get(x.clone(), rounded)
    assert rounded.calls == 2


def test_the_entry_goes_with_its_input() -> None:
    operand, rounded, x = SharedOperand(), Counting(), torch.ones(2)
    operand.get(x, rounded)
    assert operand._rounded is not None
    del x
    assert operand._rounded is None


def test_an_old_input_that_is_freed_leaves_the_current_entry() -> None:
    operand, rounded, old, x = SharedOperand(), Counting(), torch.ones(2), torch.zeros(2)
    operand.get(old, rounded)
    operand.get(x, rounded)
    del old
    operand.get(x, rounded)
    assert rounded.calls == 2


def test_inference_tensors_are_never_kept() -> None:
    operand, rounded = SharedOperand(), Counting()
    with torch.inference_mode():
        x = torch.zeros(2)
        operand.get(x, rounded)
        x.add_(1)  # leaves no trace that could be checked
        assert operand.get(x, rounded).tolist() == [1, 1]
