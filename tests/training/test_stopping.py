"""Stop comes out of a pass, forward or backward, and a run that is asked learns the same."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from playground.training.stopping import Stopped, listen_within_passes
from tests.tiny import tiny_llama

BLOCKS = 3
CPU = torch.device("cpu")


def model(checkpointing: bool = False) -> nn.Module:
    made = tiny_llama(num_hidden_layers=BLOCKS).train()
    if checkpointing:
        made.activation_checkpointing_enable(
            activation_checkpointing_kwargs={"use_reentrant": False}
        )
    return made


def one_pass(of: nn.Module) -> list[torch.Tensor]:
    """A forward and a backward pass; the gradients."""
    tokens = torch.arange(24).reshape(2, 12)
    of(input_ids=tokens, labels=tokens).loss.backward()
    return [p.grad for p in of.parameters() if p.grad is not None]


@pytest.mark.parametrize("checkpointing", [False, True])
def test_each_block_asks_on_the_way_forward_and_back(checkpointing: bool) -> None:
    asked: list[int] = []
    listening = model(checkpointing)
    listen_within_passes(listening, CPU, lambda: asked.append(1))
    gradients = one_pass(listening)
    assert len(asked) >= 2 * BLOCKS
    for got, want in zip(gradients, one_pass(model(checkpointing)), strict=True):
        assert torch.equal(got, want)


@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("call", [1, BLOCKS, BLOCKS + 1, 2 * BLOCKS])
def test_it_comes_out_of_whichever_pass_it_is_heard_in(call: int, checkpointing: bool) -> None:
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        if len(asked) == call:
            raise Stopped

    listening = model(checkpointing)
    listen_within_passes(listening, CPU, check)
    with pytest.raises(Stopped):
        one_pass(listening)
    assert len(asked) == call


def test_only_training_asks_and_a_gpu_is_left_alone() -> None:
    asked: list[int] = []
    listening = model()
    listen_within_passes(listening, torch.device("cuda"), lambda: asked.append(1))
    one_pass(listening)
    listen_within_passes(listening, CPU, lambda: asked.append(1))
    with torch.no_grad():
        listening.eval()(input_ids=torch.arange(24).reshape(2, 12))
    assert asked == []
