"""Another base under the same adapter is a fresh run's, bit for bit, and the adapter the same."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from playground.config import PRECISIONS, RunConfig, SettingsError
from playground.precision.linear import FrozenLinear
from playground.training import model as loading
from playground.training import rebase as rebasing
from playground.training.adapter import save_adapter, trainable
from playground.training.rebase import rebase
from tests.assertions import bits_equal
from tests.tiny import save_tiny
from tests.training.prepared import IDS, logits, ready, train_a_little

Configure = Callable[..., RunConfig]


@pytest.mark.parametrize("to", PRECISIONS)
def test_the_new_base_is_that_of_a_fresh_run(to: str, configure: Configure) -> None:
    run = ready(configure(precision="nvfp4" if to != "nvfp4" else "fp32"))
    train_a_little(run)
    before = trainable(run.model)
    values = {name: p.detach().clone() for name, p in before.items()}
    rebase(run, to)
    assert run.recipe.name == to
    after = trainable(run.model)
    assert list(after) == list(before)
    for name, parameter in after.items():
        assert parameter is before[name]
        bits_equal(parameter.detach(), values[name], name)

    fresh = ready(configure(precision=to))
    train_a_little(fresh)
    bits_equal(logits(run.model), logits(fresh.model))
    for ours, theirs in zip(run.model.modules(), fresh.model.modules(), strict=True):
        assert type(ours) is type(theirs)


def test_the_gradient_is_the_same_from_wherever_one_came(configure: Configure) -> None:
    """nvfp4-2d draws a seed for each layer and pass, which must be counted on after the change."""
    grads = []
    for start in ("fp16", "nvfp4-2d"):
        run = ready(configure(precision=start))
        train_a_little(run)
        rebase(run, "nvfp4-2d")
        passes = []
        for _ in range(2):
            run.model.train()(IDS, labels=IDS).loss.backward()
            passes.append([p.grad.clone() for p in trainable(run.model).values()])
            run.model.zero_grad()
        assert not all(torch.equal(a, b) for a, b in zip(*passes, strict=True))
        grads.append(passes)
    for ours, theirs in zip(grads[0], grads[1], strict=True):
        for a, b in zip(ours, theirs, strict=True):
            bits_equal(a, b)


def test_the_old_base_is_gone_before_the_new_one_is_loaded(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ready(configure(precision="fp16"))
    base = run.model.get_base_model()
    old = [weakref.ref(p) for p in base.parameters() if not p.requires_grad]
    assert len(old) > 10
    load_base = rebasing.load_base

    def watched(*arguments: object, **options: object) -> object:
        assert not any(ref() is not None for ref in old)
        return load_base(*arguments, **options)

    monkeypatch.setattr(rebasing, "load_base", watched)
    rebase(run, "nvfp4")
    assert not any(p.is_meta for p in (*base.parameters(), *base.buffers()))


def test_hooks_and_the_head_stay_where_they_were(configure: Configure) -> None:
    run = ready(configure(gradient_checkpointing=True))
    base, calls = run.model.get_base_model(), []
    base.model.layers[0].mlp.register_forward_pre_hook(lambda *_: calls.append(1))
    rebase(run, "nvfp4")
    assert run.model.get_base_model() is base
    assert base.lm_head.weight is base.model.embed_tokens.weight
    run.model.train()(IDS, labels=IDS).loss.backward()
    assert calls == [1, 1]  # forward, and once more for the backward pass
    assert all(p.grad is not None for p in trainable(run.model).values())


@pytest.mark.parametrize("merged", [False, True])
def test_embeddings_norms_and_head_follow_the_compute_type(
    merged: bool, configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU, where everything but the converted Linears comes in the recipe's own type."""
    path = str(save_tiny(tmp_path / "m", tie_word_embeddings=False))
    run = ready(configure(model=path, target_modules=("lm_head", "q_proj")))
    train_a_little(run)
    monkeypatch.setattr(loading, "compute_dtype", lambda recipe, device: torch.bfloat16)
    rebase(run, "bf16", merged=merged)
    base = run.model.get_base_model()
    assert {p.dtype for p in base.parameters() if not p.requires_grad} == {torch.bfloat16}
    assert {p.dtype for p in trainable(run.model).values()} == {torch.float32}
    published = AutoModelForCausalLM.from_pretrained(path)
    for name in ("lm_head", "model.layers.1.self_attn.q_proj"):
        layer = base.get_submodule(name)
        exact = published.get_submodule(name).weight.detach().bfloat16().float()
        if merged:
            exact += layer.get_delta_weight("default").detach()
        bits_equal(layer.base_layer.weight.detach(), exact.bfloat16(), name)  # rounded once


def test_giving_up_half_way_leaves_the_adapter_and_a_second_try(configure: Configure) -> None:
    run = ready(configure(precision="fp16"))
    train_a_little(run)
    values = {name: p.detach().clone() for name, p in trainable(run.model).items()}

    def give_up() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebase(run, "nvfp4", check=give_up)
    for name, parameter in trainable(run.model).items():
        bits_equal(parameter.detach(), values[name], name)
    rebase(run, "fp32")
    fresh = ready(configure(precision="fp32"))
    train_a_little(fresh)
    bits_equal(logits(run.model), logits(fresh.model))


def test_a_base_that_cannot_be_had_is_refused_in_a_sentence(
    configure: Configure, tmp_path: Path
) -> None:
    run = ready(configure(model=str(save_tiny(tmp_path / "m"))))
    (tmp_path / "m" / "model.safetensors").unlink()
    with pytest.raises(SettingsError, match="weights of model .* cannot be loaded"):
        rebase(run, "nvfp4")


# --- merged ---


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("names", ["all-linear", ("q_proj", "down_proj")])
def test_merged_in_full_precision_it_says_what_it_said_apart(
    tied: bool, names: object, configure: Configure, tmp_path: Path
) -> None:
    model = str(save_tiny(tmp_path / "m", tie_word_embeddings=tied))
    run = ready(configure(model=model, target_modules=names, lora_dropout=0.3))
    plain = logits(run.model)
    train_a_little(run)
    apart = logits(run.model)
    assert (apart - plain).abs().max() > 0.1  # the adapter says something
    rebase(run, "fp32", merged=True)
    with run.model.disable_adapter():
        merged = logits(run.model)
    torch.testing.assert_close(merged, apart, rtol=1e-4, atol=1e-4)
    assert (logits(run.model) - apart).abs().max() > 0.1  # enabled, it counts twice
    base = run.model.get_base_model()
    assert (base.lm_head.weight is base.model.embed_tokens.weight) is tied
    rebase(run, "fp32")
    bits_equal(logits(run.model), apart)


def test_a_head_of_its_own_is_merged_too(configure: Configure, tmp_path: Path) -> None:
    """The precision leaves the head alone, so it must end in the compute type by itself."""
    model = str(save_tiny(tmp_path / "m", tie_word_embeddings=False))
    run = ready(configure(model=model, target_modules=("lm_head", "q_proj")))
    train_a_little(run)
    apart = logits(run.model)
    rebase(run, "fp32", merged=True)
    head = run.model.get_base_model().lm_head.base_layer
    assert not isinstance(head, FrozenLinear) and head.weight.dtype == torch.float32
    with run.model.disable_adapter():
        torch.testing.assert_close(logits(run.model), apart, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("tied", [True, False])
def test_saved_loaded_and_merged_by_peft_it_says_the_same(
    tied: bool, configure: Configure, tmp_path: Path
) -> None:
    """Adapter apart here, adapter from disk merged by peft there: the same logits."""
    model = str(save_tiny(tmp_path / "m", tie_word_embeddings=tied))
    run = ready(configure(model=model))
    train_a_little(run)
    save_adapter(run.model, tmp_path / "adapter", "tiny")
    published = AutoModelForCausalLM.from_pretrained(model)
    embedding = published.model.embed_tokens.weight.detach().clone()
    loaded = PeftModel.from_pretrained(published, tmp_path / "adapter").merge_and_unload()
    torch.testing.assert_close(logits(loaded), logits(run.model), rtol=1e-4, atol=1e-4)
    bits_equal(loaded.model.embed_tokens.weight.detach(), embedding)
    assert (loaded.lm_head.weight is loaded.model.embed_tokens.weight) is tied
    loaded.save_pretrained(tmp_path / "merged")
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "merged")
    bits_equal(logits(again), logits(loaded))


def test_merging_rounds_once_after_the_sum(configure: Configure) -> None:
    run = ready(configure(precision="nvfp4"))
    train_a_little(run)
    name = "model.layers.0.self_attn.q_proj"
    layer = run.model.get_base_model().get_submodule(name)
    delta = layer.get_delta_weight("default").detach()
    rebase(run, "fp32")
    exact = layer.base_layer.decoded_weight() + delta
    errors = {}
    for to in ("fp16", "nvfp4"):
        rebase(run, to, merged=True)
        got = layer.base_layer.decoded_weight()
        errors[to] = float((got - exact).norm() / exact.norm())
    assert errors["fp16"] < 5e-4  # half an ulp is 4.9e-4 of a value
    assert 0.01 < errors["nvfp4"] < 0.15  # a 4-bit grid's own error, about 0.09
