"""The adapter starts the same in every precision, changes something, and comes back from disk."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch
from peft import PeftModel

from playground.config import LoraSettings, SettingsError
from playground.precision.convert import convert
from playground.precision.registry import PRECISION_RECIPES
from playground.presets import defaults
from playground.training.adapter import (
    adapted_modules,
    adapter_sha256,
    add_adapter,
    save_adapter,
    trainable,
)
from tests.tiny import tiny_llama

CPU = torch.device("cpu")
IDS = torch.tensor([[5, 6, 7, 8]])


def lora(**changes: object) -> LoraSettings:
    return LoraSettings(**(defaults()["lora"] | {"lora_r": 4} | changes))


def adapted(precision: str, seed: int = 0, **changes: object):  # type: ignore[no-untyped-def]
    model = tiny_llama()
    convert(model, PRECISION_RECIPES[precision], CPU)
    return add_adapter(model, lora(**changes), seed)


def test_the_same_start_in_every_precision_and_another_for_another_seed() -> None:
    starts = {name: adapter_sha256(adapted(name)) for name in PRECISION_RECIPES}
    assert len(set(starts.values())) == 1
    assert adapter_sha256(adapted("fp32", seed=1)) not in starts.values()


@pytest.mark.parametrize("precision", PRECISION_RECIPES)
def test_trainable_weights_are_fp32_and_the_adapter_s_alone(precision: str) -> None:
    model = adapted(precision)
    assert {p.dtype for p in trainable(model).values()} == {torch.float32}
    assert all(".lora_" in name for name in trainable(model))
    assert adapted_modules(model) == 14
    assert not any("lm_head" in name for name in trainable(model))


def test_adding_it_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        adapted("fp32")


def test_named_layers_only() -> None:
    model = adapted("nvfp4", target_modules=("q_proj", "mlp.up_proj"))
    assert adapted_modules(model) == 4


def test_a_name_that_matches_nothing_is_refused_with_those_that_exist() -> None:
    with pytest.raises(SettingsError, match="'qproj'.*down_proj, gate_proj.*mean 'q_proj'"):
        adapted("fp32", target_modules=("v_proj", "qproj"))


@pytest.mark.parametrize("precision", ["fp32", "fp16", "nvfp4"])
def test_a_head_that_is_the_embedding_too_gets_no_adapter(precision: str) -> None:
    with pytest.raises(SettingsError) as refused:
        adapted(precision, target_modules=("q_proj", "lm_head"))
    sentence = str(refused.value)
    assert "the matrix of 'lm_head' is the embedding's too" in sentence
    assert "lm_head" not in sentence.partition("choose from")[2]


def test_the_hint_never_offers_a_head_that_would_be_refused() -> None:
    with pytest.raises(SettingsError) as refused:
        adapted("fp32", target_modules=("lm_heat",))
    assert "lm_head" not in str(refused.value)


def test_a_head_of_its_own_may_be_named() -> None:
    model = tiny_llama(tie_word_embeddings=False)
    convert(model, PRECISION_RECIPES["nvfp4"], CPU)
    assert adapted_modules(add_adapter(model, lora(target_modules=("lm_head",)), 0)) == 1


@pytest.mark.parametrize("precision", PRECISION_RECIPES)
def test_saved_and_loaded_it_says_the_same(precision: str, tmp_path: Path) -> None:
    model = adapted(precision).eval()
    untrained = model(IDS).logits
    with torch.no_grad():
        for name, parameter in trainable(model).items():
            if "lora_B" in name:
                parameter.normal_(generator=torch.Generator().manual_seed(1))
    trained = model(IDS).logits
    assert not torch.equal(trained, untrained)
    save_adapter(model, tmp_path / "adapter", "tiny")
    save_adapter(model, tmp_path / "adapter", "tiny")  # replaces the one that is there
    assert [p.name for p in tmp_path.iterdir()] == ["adapter"]

    base = tiny_llama()
    convert(base, PRECISION_RECIPES[precision], CPU)
    loaded = PeftModel.from_pretrained(base, tmp_path / "adapter").eval()
    assert torch.equal(loaded(IDS).logits, trained)
    assert loaded.peft_config["default"].base_model_name_or_path == "tiny"


def test_a_save_that_fails_leaves_the_old_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = adapted("fp32")
    save_adapter(model, tmp_path / "adapter", "tiny")
    before = (tmp_path / "adapter" / "adapter_model.safetensors").read_bytes()

    def full_disk(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(type(model), "save_pretrained", full_disk)
    with pytest.raises(OSError, match="no space"):
        save_adapter(model, tmp_path / "adapter", "tiny")
    assert (tmp_path / "adapter" / "adapter_model.safetensors").read_bytes() == before
