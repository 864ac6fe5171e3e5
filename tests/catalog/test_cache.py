"""What the hub's cache holds already: whole language models with safe weights, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from playground.catalog import list_models, resolve_model
from playground.catalog.cache import cached_folder, cached_models
from playground.catalog.models import TINY, described
from tests.catalog.hub_cache import edit_json, put_in_cache, use_cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return use_cache(monkeypatch, tmp_path / "hub")


def test_without_a_cache_there_is_nothing_in_it(cache: Path) -> None:
    assert cached_models() == [] and cached_folder("a/b") is None


def test_a_file_in_place_of_the_cache_is_no_reason_to_fail(cache: Path) -> None:
    cache.write_text("")
    assert cached_models() == []


def test_a_model_that_was_fetched_is_listed_with_what_its_files_say(cache: Path) -> None:
    snapshot = put_in_cache(cache, "someone/small", TINY.path)
    assert cached_models() == ["someone/small"] and cached_folder("someone/small") == snapshot
    entry = next(entry for entry in list_models() if entry.id == "someone/small")
    assert (entry.where, entry.here, entry.hub_id) == ("cache", True, "someone/small")
    assert (entry.parameters, entry.max_length, entry.chat) == (1_197_440, 512, True)
    assert entry.size_bytes == TINY.size_bytes


def test_a_well_known_model_that_was_fetched_keeps_what_the_catalog_says(cache: Path) -> None:
    put_in_cache(cache, "Qwen/Qwen3-0.6B", TINY.path)
    entry = next(entry for entry in list_models() if entry.id == "Qwen/Qwen3-0.6B")
    assert (entry.where, entry.title, entry.parameters) == ("cache", "Qwen3 0.6B", 596_049_920)
    here = [entry.id for entry in list_models() if entry.here]
    assert here == ["tiny", "smollm2-135m", "Qwen/Qwen3-0.6B"]
    assert [entry.id for entry in list_models()][:3] == here


def _without_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def _without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def _one_shard_of_two(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / "model.safetensors.index.json").write_text("{}")
    edit_json(folder / "model.safetensors.index.json", weight_map=names)


def _an_encoder(folder: Path) -> None:
    edit_json(folder / "config.json", architectures=["BertModel"])


def _without_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def _broken_config(folder: Path) -> None:
    (folder / "config.json").write_text("{")


@pytest.mark.parametrize(
    "spoil",
    [
        _without_config,
        _without_weights,
        _one_shard_of_two,
        _an_encoder,
        _without_tokenizer,
        _broken_config,
    ],
)
def test_what_cannot_be_loaded_from_the_cache_alone_is_not_listed(cache: Path, spoil) -> None:
    spoil(put_in_cache(cache, "someone/small", TINY.path))
    assert cached_models() == [] and cached_folder("someone/small") is None


def test_datasets_are_no_models(cache: Path) -> None:
    put_in_cache(cache, "someone/rows", TINY.path, kind="dataset")
    assert cached_models() == []


def test_of_a_model_in_16_bits_and_another_in_packed_ones_only_the_first_is_counted(
    cache: Path,
) -> None:
    snapshot = put_in_cache(cache, "someone/packed", TINY.path)
    edit_json(snapshot / "config.json", quantization_config={"quant_method": "gptq"})
    entry = next(entry for entry in list_models() if entry.id == "someone/packed")
    assert entry.parameters is None and entry.size_bytes > 0


def test_local_folders_are_looked_into(tmp_path: Path, cache: Path) -> None:
    import shutil

    shutil.copytree(TINY.path, tmp_path / "models" / "mine")
    (tmp_path / "models" / "notes").mkdir()
    (tmp_path / "models" / "broken").mkdir()
    (tmp_path / "models" / "broken" / "model.safetensors").write_text("no weights")
    mine = str(tmp_path / "models" / "mine")
    listed = {entry.id: entry for entry in list_models([tmp_path / "models", tmp_path / "none"])}
    assert listed[mine].where == "folder" and listed[mine].parameters == 1_197_440
    assert not {name for name in listed if "notes" in name or "broken" in name}


def test_a_model_is_described_by_its_files(cache: Path) -> None:
    snapshot = put_in_cache(cache, "someone/small", TINY.path)
    (snapshot / "chat_template.jinja").unlink()
    entry = described(resolve_model("someone/small"))
    assert (entry.where, entry.chat, entry.max_length) == ("cache", False, 512)
    unknown = described(resolve_model("someone/else"))
    assert (unknown.where, unknown.chat, unknown.size_bytes) == ("hub", None, None)
    (snapshot / "model.safetensors").write_bytes(b"cut short")
    assert described(resolve_model(str(snapshot))).parameters is None


def test_who_leaves_the_owner_out_is_told_the_whole_name() -> None:
    from playground.config import SettingsError

    with pytest.raises(SettingsError, match="Did you mean 'Qwen/Qwen3-0.6B'?"):
        resolve_model("qwen3-0.6b")
