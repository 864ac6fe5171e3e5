"""The registry and the table that people read agree, name by name and bit by bit."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from playground.config import PRECISIONS
from playground.hardware import Device
from playground.precision.linear import FrozenLinear
from playground.precision.operands import SharedOperand
from playground.precision.registry import PRECISION_RECIPES

CPU = torch.device("cpu")


def device(kind: str, capability: str | None = None) -> Device:
    return Device("Test", kind, None, None, capability, False, None, "Because.", 2)


def test_every_precision_has_a_recipe_and_no_other() -> None:
    assert list(PRECISION_RECIPES) == list(PRECISIONS)
    assert all(name == recipe.name for name, recipe in PRECISION_RECIPES.items())


@pytest.mark.parametrize("name", PRECISIONS)
def test_the_compute_type_is_the_one_announced(name: str) -> None:
    dtypes = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
    assert PRECISION_RECIPES[name].compute_dtype == dtypes[PRECISIONS[name].compute]


@pytest.mark.parametrize("name", PRECISIONS)
def test_a_weight_takes_the_bits_announced(name: str) -> None:
    layer = PRECISION_RECIPES[name].convert(nn.Linear(256, 128), CPU, SharedOperand())
    assert isinstance(layer, FrozenLinear)
    bits = 8 * sum(t.untyped_storage().nbytes() for t in layer.weight_tensors())
    tensor_scale = 32 if name.startswith(("nvfp4", "fp8")) else 0
    assert bits - tensor_scale == PRECISIONS[name].storage_bits * 256 * 128


@pytest.mark.parametrize("name", PRECISIONS)
def test_nothing_but_the_announced_weight_is_kept(name: str) -> None:
    layer = PRECISION_RECIPES[name].convert(nn.Linear(256, 128), CPU, SharedOperand())
    held = {id(t) for t in [*layer.parameters(), *layer.buffers()]}
    assert held == {id(t) for t in [*layer.weight_tensors(), layer.bias]}
    assert not any(p.requires_grad for p in layer.parameters())


@pytest.mark.parametrize(
    ("name", "where", "how"),
    [
        ("fp32", device("cpu"), "native"),
        ("fp16", device("cpu"), "emulated"),
        ("bf16", device("cpu"), "emulated"),
        ("nvfp4", device("cpu"), "emulated"),
        ("nvfp4-2d", device("cpu"), "emulated"),
        ("nvfp4-weight-only", device("cpu"), "emulated"),
        ("mxfp4", device("cpu"), "emulated"),
        ("fp8", device("cpu"), "emulated"),
        ("nf4", device("cpu"), "emulated"),
        ("fp16", device("cuda", "7.5"), "native"),
        ("bf16", device("cuda", "7.5"), "emulated"),
        ("bf16", device("cuda", "12.0"), "native"),
    ],
)
def test_how_it_runs_is_said_in_one_sentence(name: str, where: Device, how: str) -> None:
    said = PRECISION_RECIPES[name].how(where)
    assert (said.effective, said.how) == (name, how)
    assert said.reason.endswith(".") and said.reason.count(". ") == 0
