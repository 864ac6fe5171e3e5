"""Few blocks are computed, and the figures are those of all of them, to the byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from transformers import Gemma3TextConfig, LlamaConfig, Phi3Config, Qwen3Config

from playground.config import RunConfig
from playground.training import repeated
from playground.training.fit import Shape, estimate
from playground.training.repeated import alike_computed_once

SMALL = dict(
    vocab_size=96,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=14,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    pad_token_id=0,
)
FAMILIES = {
    "llama": LlamaConfig(**SMALL),
    "tied": Qwen3Config(**SMALL, tie_word_embeddings=True),
    "two kinds in turn": Gemma3TextConfig(**SMALL, sliding_window=8),
    "fused": Phi3Config(**{**SMALL, "head_dim": 8}),
}


@pytest.fixture
def count_of_calls(monkeypatch: pytest.MonkeyPatch) -> list[nn.Module]:
    called: list[nn.Module] = []
    compute = repeated._Kinds.call

    def call(self: Any, block: nn.Module, *rest: Any) -> Any:
        spied = block.register_forward_pre_hook(lambda module, args: called.append(module))
        try:
            return compute(self, block, *rest)
        finally:
            spied.remove()

    monkeypatch.setattr(repeated._Kinds, "call", call)
    return called


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"gradient_checkpointing": True}, {"packing": True}])
@pytest.mark.parametrize("family", FAMILIES)
def test_as_much_is_saved_as_by_all_blocks(
    family: str,
    options: dict[str, bool],
    configure: Callable[..., RunConfig],
    count_of_calls: list[nn.Module],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = configure(precision="nvfp4", keep_last_blocks=1, **options)
    shape = Shape(2, 24, 40)
    few = estimate(config, shape, published=FAMILIES[family], on_gpu=True)
    computed = len(count_of_calls)
    monkeypatch.setattr(repeated, "_COMPUTED", 1000)
    assert estimate(config, shape, published=FAMILIES[family], on_gpu=True) == few
    passes = 2  # the choice of a loss kernel, and the step
    assert computed < passes * SMALL["num_hidden_layers"]


def test_blocks_that_differ_in_a_number_are_all_computed() -> None:
    from transformers.modeling_layers import GradientCheckpointingLayer

    class Scaled(GradientCheckpointingLayer):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.size = size

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            calls.append(self.size)
            return x * self.size

    class Model(nn.Module):
        def __init__(self, sizes: list[int]) -> None:
            super().__init__()
            self.layers = nn.ModuleList(map(Scaled, sizes))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                x = layer(x)
            return x

    class Count:
        total = 0

    for sizes, computed in (([7] * 12, 4), (list(range(12)), 12)):
        calls: list[int] = []
        model = Model(sizes)
        with alike_computed_once(model, Count()):
            model(torch.ones(2))
        assert len(calls) == computed
        assert all(type(layer) is Scaled for layer in model.layers)
