"""Models come from safe files only, and what cannot be used is said before anything is trained."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from playground.catalog import ModelEntry, resolve_model
from playground.config import RunConfig, SettingsError
from playground.data import hub
from playground.precision.registry import PRECISION_RECIPES
from playground.training.model import load_base
from tests.tiny import tiny_llama

CPU = torch.device("cpu")
Configure = Callable[..., RunConfig]


def load(entry: ModelEntry, config: RunConfig):  # type: ignore[no-untyped-def]
    return load_base(entry, config, PRECISION_RECIPES["nvfp4"], CPU)


def local(folder: Path) -> ModelEntry:
    return ModelEntry(id="mine", title="mine", summary="", path=folder)


@pytest.fixture
def copied(model_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_folder, tmp_path / "copy"))


def test_a_local_folder(model_folder: Path, configure: Configure) -> None:
    base = load(local(model_folder), configure())
    assert base.coverage.converted == 14
    assert base.model.config.use_cache is False
    assert base.tokenizer.pad_token_id is not None


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"keep_last_blocks": 9}, "keep_last_blocks is 9; this model has 2 blocks"),
        ({"keep_layers": ["down"]}, "keep_layers names 'down', which no layer of this model"),
    ],
)
def test_16_bits_refuse_at_once_what_a_lower_precision_would_refuse_later(
    model_folder: Path, configure: Configure, setting: dict, said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        load_base(
            local(model_folder),
            configure(precision="fp16", **setting),
            PRECISION_RECIPES["fp16"],
            CPU,
        )


def test_a_pickle_is_never_read(copied: Path, configure: Configure) -> None:
    (copied / "model.safetensors").unlink()
    torch.save(tiny_llama().state_dict(), copied / "pytorch_model.bin")
    with pytest.raises(SettingsError, match="The weights of model 'mine' cannot be loaded") as e:
        load(local(copied), configure())
    assert str(copied) not in str(e.value)


def test_code_that_comes_with_a_model_is_never_run(
    copied: Path, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda question: "y")  # nobody is asked
    (copied / "evil.py").write_text("raise SystemExit('ran')\nclass C: pass\n")
    auto_map = {"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.C"}
    set_config(copied, model_type="custom", auto_map=auto_map)
    with pytest.raises(SettingsError, match="needs Python code of its own .* is never run here"):
        load(local(copied), configure())


def test_code_beside_an_architecture_that_is_known_is_passed_over(
    copied: Path, configure: Configure
) -> None:
    (copied / "evil.py").write_text("raise SystemExit('ran')\nclass C: pass\n")
    set_config(copied, auto_map={"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.C"})
    assert load(local(copied), configure()).coverage.converted == 14


def set_config(folder: Path, **changes: object) -> None:
    settings = json.loads((folder / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(settings))


def test_layers_that_the_file_lacks_are_never_drawn_at_random(
    copied: Path, configure: Configure
) -> None:
    set_config(copied, num_hidden_layers=4)
    with pytest.raises(SettingsError) as refused:
        load(local(copied), configure())
    assert str(refused.value).startswith(
        "Model 'mine' lacks 18 tensors (model.layers.2.input_layernorm.weight, "
        "model.layers.2.mlp.down_proj.weight, model.layers.2.mlp.gate_proj.weight, ...), which"
    )


def test_a_head_is_missing_unless_it_is_the_embedding(copied: Path, configure: Configure) -> None:
    assert load(local(copied), configure()).unused == []  # the file has no lm_head, being tied
    set_config(copied, tie_word_embeddings=False)
    with pytest.raises(SettingsError, match=r"lacks 1 tensor \(lm_head.weight\)"):
        load(local(copied), configure())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"vocab_size": 300}, "embed_tokens.weight' of model 'mine' is 258 x 32 .* 300 x 32 by"),
        ({"hidden_size": 64}, r"config.json \(and 19 more\); the two files do not belong together"),
    ],
)
def test_weights_of_another_shape_are_refused(
    changes: dict, sentence: str, copied: Path, configure: Configure
) -> None:
    set_config(copied, **changes)
    with pytest.raises(SettingsError, match=sentence):
        load(local(copied), configure())


def test_weights_without_a_place_are_named(copied: Path, configure: Configure) -> None:
    set_config(copied, num_hidden_layers=1)
    unused = load(local(copied), configure()).unused
    assert len(unused) == 9 and unused[0] == "model.layers.1.input_layernorm.weight"


def test_a_quantised_checkpoint_is_refused(copied: Path, configure: Configure) -> None:
    set_config(copied, quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True})
    with pytest.raises(SettingsError, match=r"already quantised \(bitsandbytes\)"):
        load(local(copied), configure())


def test_so_is_one_whose_tensors_betray_it(copied: Path, configure: Configure) -> None:
    tensors = load_file(copied / "model.safetensors")
    tensors["model.layers.0.mlp.down_proj.weight_scale"] = torch.ones(1)
    save_file(tensors, copied / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(SettingsError, match="scaled weights, by its tensor 'model.layers.0.mlp.d"):
        load(local(copied), configure())


def test_longer_sequences_than_the_model_reads_are_refused(
    model_folder: Path, configure: Configure
) -> None:
    with pytest.raises(SettingsError, match="max_seq_len is 600; model 'mine' reads at most 512"):
        load(local(model_folder), configure(max_seq_len=600))


def test_a_tokenizer_without_padding_pads_with_its_end_mark(
    copied: Path, configure: Configure
) -> None:
    file = copied / "tokenizer_config.json"
    settings = json.loads(file.read_text())
    del settings["pad_token"]
    file.write_text(json.dumps(settings))
    tokenizer = load(local(copied), configure()).tokenizer
    assert tokenizer.pad_token_id == tokenizer.eos_token_id


def test_padding_that_the_embedding_does_not_know_is_replaced(
    copied: Path, configure: Configure
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(copied)
    tokenizer.add_special_tokens({"pad_token": "<|pad|>"})  # the model has no row for it
    assert tokenizer.pad_token_id == 258
    tokenizer.save_pretrained(copied)
    assert load(local(copied), configure()).tokenizer.pad_token_id == 1


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("end_mark", [None, "<|beyond the embedding|>"])
def test_without_an_end_mark_that_it_knows_the_model_is_refused(
    copied: Path, configure: Configure, end_mark: str | None, padded: bool
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(copied)
    tokenizer.eos_token = end_mark
    if not padded:
        tokenizer.pad_token = None
    tokenizer.save_pretrained(copied)
    with pytest.raises(SettingsError, match=r"of model 'mine' has no end mark \(eos_token\) that"):
        load(local(copied), configure())


def shorten(name: str, length: int) -> Callable[[Path], None]:
    def cut(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:length])

    return cut


def overwrite(name: str, start: bytes) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(start + content[len(start) :])

    return damage


WEIGHTS = "model.safetensors"


@pytest.mark.parametrize(
    ("damage", "part", "reason"),
    [
        (shorten(WEIGHTS, 5000), "weights", "file not fully covered"),
        (shorten(WEIGHTS, 0), "weights", "header too small"),
        (overwrite(WEIGHTS, b"\xff" * 8), "weights", "header too large"),
        (shorten("tokenizer.json", 100), "tokenizer", ""),
        (overwrite("tokenizer.json", b'{"a": 1}' + b" " * 10**6), "tokenizer", "added_tokens"),
        (partial(set_config, hidden_size="128x"), "configuration", "expected int, got str"),
        (partial(set_config, num_attention_heads=0), "configuration", "ZeroDivisionError"),
        (partial(set_config, hidden_act="nope"), "architecture", "nope"),
    ],
)
def test_broken_files_are_refused_in_a_sentence(
    damage: Callable[[Path], None], part: str, reason: str, copied: Path, configure: Configure
) -> None:
    damage(copied)
    with pytest.raises(SettingsError) as refused:
        load(local(copied), configure())
    sentence = str(refused.value)
    assert sentence.startswith(f"The {part} of model 'mine' cannot be loaded (")
    assert reason in sentence and "\n" not in sentence
    assert "save or fetch it again" in sentence and str(copied) not in sentence


@pytest.mark.parametrize("content", [b"", b"GGUF\x03\0\0\0" + b"\x01\0\0\0\0\0\0\0" * 2, b"no"])
def test_a_gguf_file_cut_short_is_refused_in_a_sentence(
    content: bytes, tmp_path: Path, configure: Configure
) -> None:
    (tmp_path / "m.gguf").write_bytes(content)
    entry = local(tmp_path).model_copy(update={"gguf_file": "m.gguf"})
    with pytest.raises(SettingsError) as refused:
        load(entry, configure())
    sentence = str(refused.value)
    assert sentence.startswith("The configuration of m.gguf of model 'mine' cannot be loaded (")
    assert "save or fetch it again" in sentence and str(tmp_path) not in sentence


def test_a_model_that_no_memory_holds_is_refused(copied: Path, configure: Configure) -> None:
    set_config(copied, hidden_size=32 * 10**9)
    with pytest.raises(SettingsError, match="'mine' does not fit into this machine's memory"):
        load(local(copied), configure())


HUB = ModelEntry(id="owner/name", title="", summary="", hub_id="owner/name")


def test_without_a_connection_the_sentence_says_so(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SettingsError, match="'owner/name' cannot be reached: there is no connec"):
        load(HUB, configure())


def test_a_hub_model_without_safetensors_is_refused_before_the_download(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "hub_files", lambda *_: ["pytorch_model.bin", "config.json"])
    monkeypatch.setattr("playground.training.pretrained.hub_files", hub.hub_files)
    with pytest.raises(SettingsError, match="'owner/name' has no safetensors"):
        load(HUB, configure())


def test_an_adapter_on_the_hub_is_refused_before_the_download(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = ["adapter_config.json", "adapter_model.safetensors", "config.json"]
    monkeypatch.setattr("playground.training.pretrained.hub_files", lambda *_: files)
    with pytest.raises(SettingsError, match="'owner/name' is an adapter .*name the base model"):
        load(HUB, configure())


def test_an_adapter_folder_is_refused_with_the_name_of_its_base(copied: Path) -> None:
    (copied / "adapter_config.json").write_text('{"base_model_name_or_path": "tiny"}')
    with pytest.raises(SettingsError, match=r"is an adapter .* was trained on \('tiny'\)"):
        resolve_model(str(copied))
    (copied / "adapter_config.json").write_text("{")
    (copied / "config.json").unlink()
    with pytest.raises(SettingsError, match="is an adapter .* that it was trained on\\."):
        resolve_model(str(copied))
