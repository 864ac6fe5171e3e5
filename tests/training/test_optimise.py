"""The learning rate's shape, and what a step does with gradients."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from playground.config import TrainingSettings
from playground.data.batches import collate
from playground.data.tokenise import Example
from playground.presets import defaults
from playground.training.optimise import SMALLEST_SCALE, Optimiser, learning_rate_share

CPU = torch.device("cpu")


def settings(**changes: object) -> TrainingSettings:
    return TrainingSettings(**(defaults()["training"] | changes))


@pytest.mark.parametrize("schedule", ["cosine", "linear", "constant"])
def test_the_rate_rises_to_its_peak_and_falls_as_named(schedule: str) -> None:
    plan = settings(schedule=schedule, max_steps=100, warmup_share=0.1)
    shares = [learning_rate_share(n, plan) for n in range(100)]
    assert shares[:10] == pytest.approx([(n + 1) / 10 for n in range(10)])
    assert shares[10] == 1.0
    halfway = {"cosine": 0.5, "linear": 0.5, "constant": 1.0}[schedule]
    assert shares[55] == pytest.approx(halfway)
    assert 0 < shares[-1] <= shares[55]
    assert shares[10:] == sorted(shares[10:], reverse=True)


def test_a_single_step_has_a_rate() -> None:
    for share in (0.0, 0.05, 1.0):
        plan = settings(max_steps=1, warmup_share=share)
        assert learning_rate_share(0, plan) == 1.0


def batch_of(tokens: int):  # type: ignore[no-untyped-def]
    return collate([Example([1] * (tokens + 1), [-100] + [1] * tokens, [], None)], pad_id=0)


def test_each_token_weighs_the_same_in_whichever_micro_batch() -> None:
    weight = nn.Parameter(torch.zeros(1))
    optimiser = Optimiser([weight], settings(), scales_loss=False, device=CPU)
    per_token = {1: 4.0, 3: 8.0}  # tokens in the micro-batch -> loss of each
    update = optimiser.step(
        [batch_of(1), batch_of(3)],
        lambda b: per_token[b.supervised_tokens] * b.supervised_tokens * (1 + weight.sum()),
    )
    assert update.loss == pytest.approx((4 + 3 * 8) / 4)
    assert update.grad_norm == pytest.approx(7)


@pytest.mark.parametrize("scales_loss", [False, True])
def test_gradients_are_clipped_after_unscaling(scales_loss: bool) -> None:
    weight = nn.Parameter(torch.zeros(1))
    seen = []
    plan = settings(max_grad_norm=0.5)
    optimiser = Optimiser([weight], plan, scales_loss=scales_loss, device=CPU)
    optimiser.adamw.register_step_pre_hook(lambda *_: seen.append(weight.grad.item()))
    update = optimiser.step([batch_of(1)], lambda b: 3 * weight.sum())
    assert update.grad_norm == pytest.approx(3)
    assert seen == pytest.approx([0.5], rel=1e-4)


def test_a_scaler_that_never_finds_a_finite_gradient_gives_up() -> None:
    weight = nn.Parameter(torch.ones(1))
    optimiser = Optimiser([weight], settings(), scales_loss=True, device=CPU)
    for _ in range(31):
        assert not optimiser.exhausted
        update = optimiser.step([batch_of(1)], lambda b: (weight * torch.inf).sum())
        assert update.skipped
    assert optimiser.exhausted
    assert (optimiser.updates, optimiser.skipped) == (0, 31)
    assert weight.item() == 1
    assert update.loss_scale == SMALLEST_SCALE


def test_without_a_scaler_bad_gradients_leave_the_weights_alone() -> None:
    weight = nn.Parameter(torch.ones(1))
    optimiser = Optimiser([weight], settings(), scales_loss=False, device=CPU)
    update = optimiser.step([batch_of(1)], lambda b: (weight * torch.nan).sum())
    assert update.skipped and update.loss_scale is None
    assert weight.item() == 1
