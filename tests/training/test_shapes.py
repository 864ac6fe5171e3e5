"""Odd sizes train in every precision: tokens that no tile divides, real widths, ragged ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from playground.config import LoraSettings, RunConfig
from playground.data.batches import collate
from playground.events import Step
from playground.precision.convert import convert
from playground.precision.registry import PRECISION_RECIPES
from playground.presets import defaults
from playground.training.adapter import add_adapter, trainable
from playground.training.loop import train
from playground.training.loss import choose_loss_kernel, summed_loss
from tests.tiny import tiny_llama
from tests.training.test_loss import rows

CPU = torch.device("cpu")
WIDTHS = {  # hidden size, heads, heads of k and v: of SmolLM2-135M and of Qwen2.5-0.5B
    "576, k and v 192": (576, 9, 3),
    "896, k and v 128": (896, 14, 2),
}


def adapted(width: str, precision: str) -> Any:
    hidden, heads, kv_heads = WIDTHS[width]
    model = tiny_llama(
        hidden_size=hidden,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        intermediate_size=96,
        num_hidden_layers=1,
    )
    assert convert(model, PRECISION_RECIPES[precision], CPU).converted == 7
    model = add_adapter(model, LoraSettings(**defaults()["lora"]), seed=0).train()
    choose_loss_kernel(model)
    return model


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("precision", sorted(PRECISION_RECIPES))
def test_batches_of_odd_sizes_teach_every_adapter(width: str, precision: str) -> None:
    model = adapted(width, precision)
    for lengths in [(7,), (127,), (129,), (3,) * 7, (64, 63), (43, 43, 43)]:
        summed_loss(model, collate(rows(*lengths), 1)).backward()
        for name, parameter in trainable(model).items():
            if ".lora_B." in name:  # A has no gradient while B is still zero
                assert torch.isfinite(parameter.grad).all(), (lengths, name)
                assert parameter.grad.abs().max() > 0, (lengths, name)
        model.zero_grad()


@pytest.mark.parametrize("packing", [False, True])
def test_a_ragged_last_batch_is_trained_on(
    packing: bool, configure: Callable[..., RunConfig], tmp_path: Path
) -> None:
    config = configure(train_rows=5, max_steps=4, micro_batch_size=4, packing=packing)
    steps = [e for e in train(config, folder=tmp_path / "run") if isinstance(e, Step)]
    assert len(steps) == 4 and all(math.isfinite(step.loss) for step in steps)
    if not packing:  # four rows, one row, four rows, one row
        assert steps[1].tokens < steps[0].tokens
    assert sum(s.tokens for s in steps[:2]) == sum(s.tokens for s in steps[2:]) or packing
