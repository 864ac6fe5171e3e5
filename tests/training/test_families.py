"""Linears are found by looking: small random models of known families load, round and train."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from peft import PeftModel
from transformers import AutoModelForCausalLM

from playground.catalog import resolve_model
from playground.config import RunConfig, SettingsError
from playground.precision.found import UNREACHED
from playground.precision.linear import FrozenLinear
from playground.precision.registry import recipe_of
from playground.training.adapter import adapted_modules, save_adapter, trainable
from playground.training.fit import estimate
from playground.training.loop import train
from playground.training.model import load_base
from playground.training.rebase import rebase
from tests.assertions import bits_equal
from tests.tiny import tiny_tokenizer
from tests.training.prepared import IDS, facts, logits, ready, train_a_little

Configure = Callable[..., RunConfig]

SIZES = {
    "vocab_size": 258,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
}
IDENTITY = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
GPT2 = {"vocab_size": 258, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512}
HEADS = {"head_dim": 16}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "image_size": 16,
    "patch_size": 8,
}
SEES = {"text_config": SIZES | HEADS, "vision_config": VISION, "mm_tokens_per_image": 4}

FAMILIES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "GPT2": (GPT2, {"c_attn", "c_proj", "c_fc"}),
    "Phi3": (SIZES, {"qkv_proj", "o_proj", "gate_up_proj", "down_proj"}),
    "Qwen3": (SIZES | HEADS, {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj"}),
    "Gemma3Text": (SIZES | HEADS, {"q_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}),
    "Mistral": (SIZES, {"q_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}),
    "Llama": (SIZES, {"q_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}),
    "Gemma3": (SEES, {"q_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}),
    "Qwen3Moe": (SIZES | HEADS | EXPERTS, {"q_proj", "k_proj", "v_proj", "o_proj"}),
}


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The folder of a random model of a family, written as it would be published: in bf16."""

    def folder(name: str) -> str:
        where = tmp_path_factory.getbasetemp() / name
        if not where.exists():
            torch.manual_seed(0)
            config = getattr(transformers, f"{name}Config")(**FAMILIES[name][0], **IDENTITY)
            model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
            model.save_pretrained(where)
            tiny_tokenizer().save_pretrained(where)
        return str(where)

    return folder


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_rounded_adapted_trained_and_put_on_another_base(
    name: str, family: Callable[[str], str], configure: Configure
) -> None:
    run = ready(configure(model=family(name), precision="nvfp4"))
    base = run.model.get_base_model()
    frozen = [
        name.removesuffix(".base_layer")
        for name, module in base.named_modules()
        if isinstance(module, FrozenLinear)
    ]
    assert FAMILIES[name][1] <= {n.rpartition(".")[2] for n in frozen}
    assert adapted_modules(run.model) == len(frozen)
    run.model.train()(IDS, labels=IDS).loss.backward()
    assert all(p.grad is not None for p in trainable(run.model).values())
    train_a_little(run)
    apart = logits(run.model)
    rebase(run, "fp32")
    exact = logits(run.model)
    assert not torch.equal(apart, exact)
    rebase(run, "fp32", merged=True)
    with run.model.disable_adapter():
        torch.testing.assert_close(logits(run.model), exact, rtol=1e-3, atol=1e-3)
    rebase(run, "nvfp4")
    bits_equal(logits(run.model), apart)


@pytest.mark.parametrize("name", ["GPT2", "Phi3", "Gemma3Text"])
def test_plain_peft_loads_what_was_saved(
    name: str, family: Callable[[str], str], configure: Configure, tmp_path: Path
) -> None:
    """GPT-2's adapter too, though its layers lay transposed when peft met them again."""
    run = ready(configure(model=family(name), precision="fp32"))
    train_a_little(run)
    save_adapter(run.model, tmp_path / "adapter", family(name))
    published = AutoModelForCausalLM.from_pretrained(family(name), dtype=torch.float32)
    merged = PeftModel.from_pretrained(published, tmp_path / "adapter").merge_and_unload()
    torch.testing.assert_close(logits(merged), logits(run.model), rtol=1e-3, atol=1e-3)


def test_what_text_never_reaches_is_left_as_it_is_and_listed(
    family: Callable[[str], str], configure: Configure, tmp_path: Path
) -> None:
    """By name too: the layers of a vision tower are called like the text's."""
    config = configure(model=family("Gemma3"), precision="nvfp4", target_modules=["q_proj"])
    known = facts(list(train(config, folder=tmp_path)))
    assert known["adapted_modules"] == 2
    assert known["predicted_peak_mib"] == pytest.approx(known["peak_mib"], rel=1e-6)
    coverage = known["coverage"]
    assert coverage["converted"] == 14
    assert {s["name"]: s["reason"] for s in coverage["skipped"]} == {
        "model.vision_tower": UNREACHED,
        "model.multi_modal_projector": UNREACHED,
        "lm_head": "the output head stays in the compute type",
    }
    with pytest.raises(SettingsError, match="names 'fc1', which no layer of this model"):
        ready(configure(model=family("Gemma3"), target_modules=["fc1"]))


def test_experts_in_one_tensor_are_listed_and_their_share_is_counted(
    family: Callable[[str], str], configure: Configure
) -> None:
    config = configure(model=family("Qwen3Moe"), precision="nvfp4")
    base = load_base(resolve_model(config.model), config, recipe_of(config), torch.device("cpu"))
    skipped = {s.name: s.reason for s in base.coverage.skipped}
    assert skipped["model.layers.1.mlp.experts.down_proj"] == (
        "a tensor of 3 dimensions that Qwen3MoeExperts multiplies with by itself, no Linear"
    )
    assert "Qwen3MoeTopKRouter" in skipped["model.layers.0.mlp.gate.weight"]
    experts = sum(p.numel() for n, p in base.model.named_parameters() if ".mlp." in n)
    linears = 2 * (2 * 32 * 64 + 2 * 32 * 32)
    assert base.coverage.converted == 8
    head = base.model.lm_head.weight.numel()
    assert base.coverage.share_of_linear_weights == linears / (linears + experts + head)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("GPT2", "c_attn, c_fc, c_proj"),
        ("Phi3", "down_proj, gate_up_proj, lm_head, o_proj, qkv_proj"),
    ],
)
def test_a_target_that_is_no_layer_is_refused_with_those_that_are(
    name: str, known: str, family: Callable[[str], str], configure: Configure
) -> None:
    with pytest.raises(SettingsError, match=f"target_modules names 'q_proj', .* from {known}"):
        ready(configure(model=family(name), target_modules=("q_proj",)))


def test_memory_is_told_of_a_model_with_experts_in_one_tensor(
    family: Callable[[str], str], configure: Configure, tmp_path: Path
) -> None:
    config = configure(model=family("Qwen3Moe"), precision="nvfp4", max_steps=2)
    known = facts(list(train(config, folder=tmp_path)))
    assert known["predicted_peak_mib"] == pytest.approx(known["peak_mib"], rel=1e-3)
    on_gpu = estimate(config.with_precision("fp16"), on_gpu=True)  # in another type
    assert 0 < on_gpu.activations_mib < estimate(config).activations_mib


def test_a_layer_that_peft_refuses_is_refused_in_a_sentence(
    tmp_path: Path, configure: Configure
) -> None:
    mamba = transformers.MambaConfig(
        vocab_size=258, hidden_size=32, num_hidden_layers=2, state_size=4, **IDENTITY
    )
    AutoModelForCausalLM.from_config(mamba).save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    config = configure(model=str(tmp_path), precision="nvfp4")
    with pytest.raises(SettingsError, match="cannot be put on this model .*out_proj.*; name"):
        ready(config)
    run = ready(configure(model=str(tmp_path), target_modules=["in_proj"]))
    assert adapted_modules(run.model) == 2
