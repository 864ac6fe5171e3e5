"""The chunked kernel gives a model the loss of its own logits, or is not taken."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from playground.config import LoraSettings
from playground.data.batches import collate
from playground.data.tokenise import IGNORED, Example
from playground.presets import defaults
from playground.training import chunked
from playground.training.adapter import add_adapter
from playground.training.chunked import chunked_cross_entropy
from playground.training.loss import (
    CHUNKED,
    SELECTED,
    choose_loss_kernel,
    row_losses,
    summed_loss,
)
from tests.tiny import tiny_llama

SMALL = {
    "vocab_size": 258,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 1,
}


def family(name: str) -> Any:
    """A small random model of a family that treats its logits in its own way."""
    import transformers as tf

    torch.manual_seed(0)
    made = {
        "llama": lambda: tiny_llama(),
        "capped": lambda: tf.Gemma2ForCausalLM(tf.Gemma2Config(**SMALL, head_dim=8)),
        "divided": lambda: tf.GraniteForCausalLM(tf.GraniteConfig(**SMALL, logits_scaling=8.0)),
        "multiplied": lambda: tf.CohereForCausalLM(tf.CohereConfig(**SMALL, logit_scale=0.1)),
        "biased head": lambda: tf.PhiForCausalLM(tf.PhiConfig(**SMALL)),
    }
    model = made[name]()
    head = model.get_output_embeddings()
    head.weight.data.mul_(25)  # a fresh head says next to nothing
    if head.bias is not None:
        head.bias.data.normal_()
    return model.requires_grad_(False)


def rows(*lengths: int) -> list[Example]:
    draw = torch.Generator().manual_seed(0)
    made = []
    for length in lengths:
        ids = torch.randint(2, 258, (length,), generator=draw).tolist()
        prompt = length // 3
        made.append(Example(ids, [IGNORED] * prompt + ids[prompt:], [], None))
    return made


def own_loss(model: Any, batch: Any) -> Tensor:
    logits = model(input_ids=batch.input_ids, attention_mask=batch.attention_mask).logits
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1), batch.labels[:, 1:].flatten(), reduction="sum"
    )


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("llama", CHUNKED),
        ("biased head", CHUNKED),
        ("capped", SELECTED),
        ("divided", SELECTED),
        ("multiplied", SELECTED),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)
def test_loss_and_gradient_are_those_of_the_models_own_logits(name: str, kernel: str) -> None:
    model = family(name).eval()
    assert choose_loss_kernel(model) == kernel
    learns = next(p for n, p in model.named_parameters() if n.endswith("q_proj.weight"))
    learns.requires_grad_()
    batch = collate(rows(5, 17, 9), 1)
    ours = summed_loss(model, batch)
    ours.backward()
    gradient, learns.grad = learns.grad, None
    own = own_loss(model, batch)
    own.backward()
    torch.testing.assert_close(ours, own, rtol=1e-6, atol=0)  # measured 2e-7
    torch.testing.assert_close(gradient, learns.grad, rtol=1e-4, atol=1e-5)
    assert row_losses(model, batch).sum().item() == pytest.approx(own.item(), rel=1e-6)


def test_an_adapter_on_the_head_keeps_the_models_own_head() -> None:
    model = tiny_llama(tie_word_embeddings=False)
    lora = LoraSettings(**(defaults()["lora"] | {"target_modules": ["lm_head", "q_proj"]}))
    adapted = add_adapter(model, lora, seed=0)
    assert choose_loss_kernel(adapted) == SELECTED
    batch = collate(rows(6), 1)
    summed_loss(adapted, batch).backward()
    assert adapted.get_output_embeddings().lora_B["default"].weight.grad.abs().sum() > 0


def test_choosing_leaves_the_model_as_it_was() -> None:
    model = tiny_llama().train()
    before = torch.get_rng_state()
    choose_loss_kernel(model)
    assert model.training and torch.equal(torch.get_rng_state(), before)
    assert not model.lm_head._forward_hooks


def case(count: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(0)
    hidden = torch.randn(count, 24, generator=draw).to(dtype).requires_grad_()
    weight = torch.randn(300, 24, generator=draw).to(dtype)
    bias = torch.randn(300, generator=draw).to(dtype)
    return hidden, weight, bias, torch.randint(300, (count,), generator=draw)


@pytest.mark.parametrize("count", [0, 1, 7, 127, 129])
def test_chunks_do_not_show(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(chunked.LOGITS_BYTES, "cpu", 64 * 4 * 300)  # 64 rows at a time
    hidden, weight, bias, targets = case(count, torch.float32)
    upstream = torch.linspace(0.5, 2, count)
    losses = chunked_cross_entropy(hidden, weight, bias, targets)
    (losses * upstream).sum().backward()
    exact_hidden = hidden.detach().double().requires_grad_()
    logits = exact_hidden @ weight.double().t() + bias.double()
    exact = F.cross_entropy(logits, targets, reduction="none")
    (exact * upstream.double()).sum().backward()
    torch.testing.assert_close(losses.double(), exact, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(hidden.grad.double(), exact_hidden.grad, rtol=1e-4, atol=1e-5)


def test_the_whole_logits_never_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(chunked.LOGITS_BYTES, "cpu", 16 * 4 * 300)
    made: list[int] = []
    product = chunked._fp32_product

    def watched(a: Tensor, b: Tensor) -> Tensor:
        made.append(product(a, b).numel())
        return product(a, b)

    monkeypatch.setattr(chunked, "_fp32_product", watched)
    hidden, weight, bias, targets = case(100, torch.float32)
    chunked_cross_entropy(hidden, weight, bias, targets).sum().backward()
    assert len(made) == 7 and max(made) == 16 * 300


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_16_bit_head_loses_neither_a_large_sum_nor_a_small_gradient(dtype: torch.dtype) -> None:
    """What torch's own chunked kernel does lose in FP16: both are rounded before the loss scale."""
    hidden, weight, _, targets = case(20_000, dtype)
    losses = chunked_cross_entropy(hidden, weight, None, targets)
    exact_hidden = hidden.detach().double().requires_grad_()
    exact = F.cross_entropy(exact_hidden @ weight.double().t(), targets, reduction="none")
    assert exact.sum() > 65504
    torch.testing.assert_close(losses.sum().double(), exact.sum(), rtol=1e-5, atol=0)
    scale = 65536 / 20_000
    (losses.sum() * scale).backward()
    (exact.sum() * scale).backward()
    error = (hidden.grad.double() - exact_hidden.grad).norm() / exact_hidden.grad.norm()
    assert error < torch.finfo(dtype).eps  # measured 0.22 of it in both
    assert hidden.grad.dtype == dtype


def test_without_a_gradient_none_is_computed() -> None:
    hidden, weight, bias, targets = case(9, torch.float32)
    with torch.no_grad():
        losses = chunked_cross_entropy(hidden, weight, bias, targets)
    assert not losses.requires_grad
    assert torch.isfinite(losses).all()


def test_logits_that_are_no_numbers_give_a_loss_that_is_none() -> None:
    hidden, weight, bias, targets = case(3, torch.float32)
    losses = chunked_cross_entropy(hidden * torch.inf, weight, bias, targets)
    assert not torch.isfinite(losses).any()


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (1, 127), (1, 129), (7, 1), (7, 127)])
def test_ragged_shapes(shape: tuple[int, int]) -> None:
    """Rows of one token have nothing to predict; everything else has the model's own loss."""
    model = tiny_llama().requires_grad_(False).eval()
    choose_loss_kernel(model)
    batch = collate(rows(*[shape[1]] * shape[0]), 1)
    loss = summed_loss(model, batch)
    assert loss.item() == pytest.approx(own_loss(model, batch).item(), rel=1e-6)
