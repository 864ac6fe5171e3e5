"""Matrices of a model: listed from heads, read one at a time, refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaConfig

from playground.catalog import resolve_model
from playground.config import SettingsError
from playground.formats.layer import look
from playground.formats.weights import _decoded, find_layer, open_weights
from playground.training import pretrained

TENSORS = {
    "model.layers.10.mlp.up_proj.weight": torch.ones(4, 32),
    "model.layers.2.mlp.up_proj.weight": torch.ones(4, 32, dtype=torch.bfloat16) / 2,
    "model.embed_tokens.weight": torch.ones(8, 32),
    "model.layers.2.norm.weight": torch.ones(32),
    "model.layers.2.codes": torch.ones(4, 32, dtype=torch.uint8),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model in two shards."""
    names = list(TENSORS)
    save_file({n: TENSORS[n] for n in names[:2]}, tmp_path / "model-1.safetensors")
    save_file({n: TENSORS[n] for n in names[2:]}, tmp_path / "model-2.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    return tmp_path


def test_matrices_of_floats_in_order_blocks_first(folder: Path) -> None:
    weights = open_weights(str(folder))
    layers = weights.layers()
    assert [(layer.name, layer.shape, layer.dtype, layer.in_block) for layer in layers] == [
        ("model.layers.2.mlp.up_proj.weight", (4, 32), "bf16", True),
        ("model.layers.10.mlp.up_proj.weight", (4, 32), "fp32", True),
        ("model.embed_tokens.weight", (8, 32), "fp32", False),
    ]
    for layer in layers:
        assert torch.equal(weights.read(layer.name), TENSORS[layer.name])


def test_only_what_is_asked_for_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import safetensors

    read: list[str] = []
    real = safetensors.safe_open

    class Noted:
        def __init__(self, *args: object, **more: object) -> None:
            self._opened = real(*args, **more)

        def __enter__(self) -> Noted:
            self._tensors = self._opened.__enter__()
            return self

        def __exit__(self, *said: object) -> None:
            self._opened.__exit__(*said)

        def get_tensor(self, name: str) -> torch.Tensor:
            read.append(name)
            return self._tensors.get_tensor(name)

        def __getattr__(self, name: str) -> object:
            return getattr(self._tensors, name)

    monkeypatch.setattr(safetensors, "safe_open", Noted)
    weights = open_weights(str(folder))
    weights.layers()
    assert read == []
    weights.read("model.embed_tokens.weight")
    assert read == ["model.embed_tokens.weight"]


def test_a_layer_by_a_part_of_its_name(folder: Path) -> None:
    layers = open_weights(str(folder)).layers()
    assert find_layer(layers, None).name == "model.layers.2.mlp.up_proj.weight"
    assert find_layer(layers, "layers.10.").name == "model.layers.10.mlp.up_proj.weight"
    with pytest.raises(SettingsError, match=r"may be any of 2 \(.*\); write more of its name"):
        find_layer(layers, "up_proj")
    with pytest.raises(SettingsError, match="is not in this model; .* Did you mean"):
        find_layer(layers, "model.embed_token.weight")


def test_a_file_that_is_cut_short_is_refused(folder: Path) -> None:
    file = folder / "model-1.safetensors"
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(SettingsError, match="'model-1.safetensors' of model .* cannot be read"):
        open_weights(str(folder)).layers()


def test_a_model_without_floats_is_refused(tmp_path: Path) -> None:
    save_file({"a": torch.ones(2, 2, dtype=torch.uint8)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(SettingsError, match="holds no matrix of 16- or 32-bit floats"):
        open_weights(str(tmp_path)).layers()


def test_a_hub_model_that_was_never_fetched_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="has not been fetched to this machine"):
        open_weights("nobody/nothing")


def test_of_a_gguf_file_no_tokenizer_is_read_and_the_rest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w.gguf").write_bytes(b"GGUF")
    read: list[str] = []

    def load(entry: object, part: str, arguments: dict) -> object:
        read.append(part)
        config = LlamaConfig(vocab_size=8, hidden_size=32, intermediate_size=32,
                             num_hidden_layers=1, num_attention_heads=2)  # fmt: skip
        if part == "configuration":
            return config
        said = {"missing_keys": [], "mismatched_keys": [], "unexpected_keys": []}
        return AutoModelForCausalLM.from_config(config), said

    monkeypatch.setattr(pretrained, "_load", load)
    file, home = str(tmp_path / "w.gguf"), tmp_path / "home"
    assert len(open_weights(file, home).layers()) == 9
    assert read == ["configuration", "architecture", "weights"]
    _decoded.cache_clear()  # another child
    open_weights(file, home).layers()
    assert read == ["configuration", *["architecture", "weights"] * 2]


@pytest.mark.slow
def test_gguf_decodes_to_what_its_own_library_says() -> None:
    from gguf import GGUFReader
    from gguf.quants import dequantize

    try:
        resolve_model("smollm2-135m")
    except SettingsError as missing:
        pytest.skip(str(missing))
    weights = open_weights("smollm2-135m")
    layers = weights.layers()
    assert sum(layer.in_block for layer in layers) == 210 and weights.gguf.endswith(".gguf")
    raw = next(t for t in GGUFReader(weights.files[0]).tensors if t.name == "blk.3.ffn_up.weight")
    wanted = torch.from_numpy(dequantize(raw.data, raw.tensor_type))
    assert torch.equal(weights.read("model.layers.3.mlp.up_proj.weight"), wanted)


class TestOneLayer:
    def weight(self) -> torch.Tensor:
        return torch.randn(32, 64, generator=torch.Generator().manual_seed(0)) * 0.05

    def layer(self, shape: tuple[int, int] = (32, 64)):
        from playground.formats.weights import Layer

        return Layer("layers.0.a", shape, "fp32", True)

    def test_median_and_worst(self) -> None:
        median = look(self.layer(), self.weight(), {"how": "median"})
        worst = look(self.layer(), self.weight(), {"how": "worst"})
        assert median["blocks"] == 128 and median["block_error"] == median["median_error"]
        assert abs(median["worse_share"] - 0.5) < 0.01 and worst["worse_share"] == 0
        assert worst["block_error"] > median["block_error"]
        nvfp4 = worst["formats"][0]
        assert nvfp4["error"] == pytest.approx(worst["block_error"], rel=1e-5)

    def test_a_place_and_any(self) -> None:
        weight = self.weight()
        found = look(self.layer(), weight, {"how": "at", "row": 7, "column": 37})
        assert (found["row"], found["column"]) == (7, 32)
        assert found["values"] == weight[7, 32:48].tolist()
        one, again, other = (
            look(self.layer(), weight, {"how": "random", "seed": seed}) for seed in (1, 1, 2)
        )
        place = ("row", "column")
        assert [one[key] for key in place] == [again[key] for key in place]
        assert [one[key] for key in place] != [other[key] for key in place]

    def test_histograms_count_every_value(self) -> None:
        found = look(self.layer(), self.weight(), {"how": "median"})
        values, scaled = found["value_histogram"], found["scaled_histogram"]
        assert sum(values["counts"]) + values["beyond"] == 32 * 64
        assert sum(scaled["counts"]) == 32 * 64
        # Each of 128 blocks has its largest value at 6 or beside it, on one side or the other.
        ends = scaled["counts"][:8] + scaled["counts"][-8:]
        assert sum(ends) >= 128

    @pytest.mark.parametrize(
        ("weight", "which", "said"),
        [
            (torch.ones(2, 20), {"how": "median"}, "rows of 20 values, which blocks of 16 do not"),
            (torch.full((2, 32), torch.nan), {"how": "median"}, "has 64 values that are NaN"),
            (torch.ones(2, 32), {"how": "at", "row": 2, "column": 0}, "is outside this layer"),
            (torch.ones(2, 32), {"how": "at", "row": 0, "column": 32}, "columns 0 to 31"),
        ],
    )
    def test_refused(self, weight: torch.Tensor, which: dict, said: str) -> None:
        with pytest.raises(SettingsError, match=said):
            look(self.layer(tuple(weight.shape)), weight, which)

    def test_zeros_can_be_looked_at(self) -> None:
        found = look(self.layer(), torch.zeros(32, 64), {"how": "worst"})
        json.dumps(found, allow_nan=False)
        assert found["error"] == 0 and found["value_histogram"]["end"] == 1.0
