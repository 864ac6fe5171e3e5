"""The catalog of well-known models: each can be built from its file, and is as large as it says."""

from __future__ import annotations

import json

import pytest

from playground.catalog.entry import ModelEntry
from playground.catalog.models import TINY, named_models
from playground.catalog.names import is_hub_id
from playground.catalog.published import FOLDER, longest, published_models

ALL = published_models()


def test_each_has_an_id_of_its_own_of_the_form_that_the_hub_allows() -> None:
    ids = [entry.id for entry in ALL]
    assert len(set(ids)) == len(ids) and all(map(is_hub_id, ids))
    assert all(entry.hub_id == entry.id for entry in ALL)


def test_it_reaches_from_a_tenth_of_a_billion_to_seventy() -> None:
    sizes = [entry.parameters for entry in ALL]
    assert min(sizes) < 0.15e9 and max(sizes) > 68e9
    families = {entry.family for entry in ALL}
    assert families == {"SmolLM2", "Qwen3", "Llama", "Gemma 3", "Mistral", "Phi"}


def test_what_is_gated_is_what_asks_for_its_own_licence() -> None:
    own_terms = {entry.family for entry in ALL if entry.gated}
    assert own_terms == {"Llama", "Gemma 3"}
    assert all(entry.gated for entry in ALL if entry.family in own_terms)


def test_every_architecture_is_used() -> None:
    files = {path.stem for path in (FOLDER / "architectures").glob("*.json")}
    assert files == {entry.architecture.stem for entry in ALL}


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.id)
def test_built_from_its_file_it_has_the_parameters_that_the_hub_counts(entry: ModelEntry) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.initialization import no_init_weights

    config = AutoConfig.from_pretrained(str(entry.architecture))
    with torch.device("meta"), no_init_weights():
        model = AutoModelForCausalLM.from_config(config)
    model.tie_weights()
    assert sum(p.numel() for p in model.parameters()) == entry.parameters


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.id)
def test_its_files_are_as_large_as_its_numbers_in_16_bits(entry: ModelEntry) -> None:
    config = json.loads(entry.architecture.read_text())
    stored = entry.parameters
    if entry.id in ("Qwen/Qwen3-0.6B", "Qwen/Qwen3-1.7B"):  # their files hold the tied matrix twice
        assert config["tie_word_embeddings"]
        stored += config["vocab_size"] * config["hidden_size"]
    assert entry.size_bytes == pytest.approx(2 * stored, rel=0.01)


def test_the_longest_sequence_is_found_where_a_model_sees_images_too() -> None:
    found = {entry.id: entry.max_length for entry in ALL}
    assert found["google/gemma-3-4b-it"] == 131072 and found["Qwen/Qwen3-0.6B"] == 40960
    assert longest({"n_positions": 1024}) == 1024  # GPT-2's word for it
    assert longest({}) is None and longest({"max_position_embeddings": True}) is None


def test_what_is_said_of_our_own_is_what_their_files_say() -> None:
    file = TINY.path / "model.safetensors"
    assert TINY.size_bytes == file.stat().st_size
    smollm2 = next(entry for entry in named_models() if entry.id == "smollm2-135m")
    assert smollm2.size_bytes == (smollm2.path / smollm2.gguf_file).stat().st_size
