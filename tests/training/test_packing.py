"""Packed rows have the losses they have alone, and a model that mixes them is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from playground.config import RunConfig, SettingsError
from playground.data.batches import collate, lay_out
from playground.events import Event, Facts, Step
from playground.precision.convert import convert
from playground.precision.registry import PRECISION_RECIPES
from playground.training.loop import train
from playground.training.loss import choose_loss_kernel, summed_loss, token_losses
from playground.training.packing import refuse_leaks
from tests.tiny import tiny_llama
from tests.training.test_loss import family, rows

CPU = torch.device("cpu")
Configure = Callable[..., RunConfig]


def windowed() -> Any:
    """Every other layer sees the last eight tokens only."""
    import transformers as tf

    from tests.training.test_loss import SMALL

    torch.manual_seed(0)
    settings = SMALL | {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}
    return tf.Gemma2ForCausalLM(tf.Gemma2Config(**settings, head_dim=8)).requires_grad_(False)


MODELS = {
    "llama": lambda: tiny_llama().requires_grad_(False),
    "partly rotated": lambda: family("biased head"),
    "sliding window": windowed,
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kernel", ["chunked", "selected"])
def test_each_token_has_the_loss_it_has_alone(name: str, kernel: str) -> None:
    model = MODELS[name]().eval()
    if kernel == "chunked":
        choose_loss_kernel(model)
    some = rows(5, 17, 1, 2, 30, 9)
    packed = lay_out([some[:4], some[4:]], 1, packed=True)
    together, _ = token_losses(model, packed)
    alone = torch.cat([token_losses(model, collate([row], 1))[0] for row in some])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)  # measured 2e-6
    assert len(alone) == packed.supervised_tokens


def test_the_gradient_is_that_of_the_rows_alone() -> None:
    model = tiny_llama().requires_grad_(False)
    weight = model.model.layers[0].self_attn.q_proj.weight.requires_grad_()
    some = rows(5, 17, 30)
    summed_loss(model, lay_out([some], 1, packed=True)).backward()
    packed, weight.grad = weight.grad, None
    summed_loss(model, collate(some, 1)).backward()
    torch.testing.assert_close(packed, weight.grad, rtol=1e-4, atol=1e-5)


def stateful() -> Any:
    """Its layers carry a state along the sequence, whatever the positions say."""
    import transformers as tf

    torch.manual_seed(0)
    config = tf.MambaConfig(
        vocab_size=258, hidden_size=32, state_size=4, num_hidden_layers=2, pad_token_id=1
    )
    model = tf.MambaForCausalLM(config).requires_grad_(False)
    model.get_output_embeddings().weight.data.mul_(25)
    return model


def test_a_model_that_carries_a_state_from_row_to_row_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"^packing is true, but this model .* set packing to"):
        refuse_leaks(stateful(), rows(20, 20), 1, CPU)


@pytest.mark.parametrize("precision", ["fp32", "fp16", "nvfp4", "nvfp4-2d"])
def test_in_every_precision_rows_are_found_to_be_apart(precision: str) -> None:
    model = tiny_llama().train()
    convert(model, PRECISION_RECIPES[precision], CPU)
    choose_loss_kernel(model)
    refuse_leaks(model, rows(20, 9), 1, CPU)
    refuse_leaks(model, rows(1, 2), 1, CPU)
    refuse_leaks(model, rows(7), 1, CPU)
    assert model.training and all(p.grad is None for p in model.parameters())


def run(config: RunConfig, folder: Path) -> list[Event]:
    return list(train(config, folder=folder))


def test_a_run_packs_says_so_and_does_not_see_how_a_step_is_split(
    configure: Configure, tmp_path: Path
) -> None:
    def events(**settings: Any) -> list[Event]:
        return run(configure(max_steps=2, packing=True, **settings), tmp_path / str(settings))

    whole = events(micro_batch_size=4, grad_accum_steps=1)
    split = events(micro_batch_size=1, grad_accum_steps=4)
    one, other = ([e for e in found if isinstance(e, Step)] for found in (whole, split))
    assert [s.tokens for s in one] == [s.tokens for s in other]
    assert [s.loss for s in one] == pytest.approx([s.loss for s in other], rel=1e-5)
    assert [s.grad_norm for s in one] == pytest.approx([s.grad_norm for s in other], rel=1e-4)
    assert sum(s.padded_tokens for s in one) < 0.2 * sum(s.tokens for s in one)
    environment = next(e.environment for e in whole if isinstance(e, Facts) and e.environment)
    assert environment["packing"] is True


def test_every_row_is_learned_from_once_a_pass(configure: Configure, tmp_path: Path) -> None:
    """36 rows of a few tokens: packed, a pass takes fewer steps, and no token is lost."""
    plain = run(configure(max_steps=9, micro_batch_size=4, eval_rows=4), tmp_path / "plain")
    learned = sum(e.supervised_tokens for e in plain if isinstance(e, Step))
    packed = run(
        configure(max_steps=1, micro_batch_size=36, packing=True, eval_rows=4), tmp_path / "packed"
    )
    (step,) = (e for e in packed if isinstance(e, Step))
    assert step.supervised_tokens == learned
