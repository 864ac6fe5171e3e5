"""A checkpoint that is quantised already is recognised, whatever tool wrote it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from playground.catalog import resolve_model
from playground.catalog.models import TINY
from playground.catalog.quantised import by_config, by_files, by_folder, by_tensors
from playground.config import SettingsError

CONFIGS = {
    "fp8": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
    "bitsandbytes": {"quant_method": "bitsandbytes", "load_in_4bit": True},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128},
    "awq": {"quant_method": "awq", "bits": 4, "version": "gemm"},
    "compressed-tensors": {"quant_method": "compressed-tensors", "format": "pack-quantized"},
    "modelopt NVFP4": {"quant_method": "modelopt", "quant_algo": "NVFP4"},
    "mxfp4": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]},
    "by its config.json": {},
}


@pytest.mark.parametrize("how", CONFIGS)
def test_config_json_says_so(how: str) -> None:
    section = {"model_type": "llama", "quantization_config": CONFIGS[how]}
    assert by_config(section) == how
    assert by_config({"model_type": "gemma3", "text_config": section}) == how


def test_a_config_without_says_nothing() -> None:
    assert by_config({"model_type": "llama", "quantization_config": None}) is None
    assert by_config({"text_config": {"hidden_size": 3}, "vision_config": {}}) is None


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("hf_quant_config.json", "ModelOpt"),
        ("quantize_config.json", "GPTQ"),
        ("quant_config.json", "AWQ"),
    ],
)
def test_a_file_beside_the_weights_says_so(name: str, how: str) -> None:
    assert by_files(["config.json", name]) == f"{how}, by its {name}"
    assert by_files(["config.json", "generation_config.json", "model.safetensors"]) is None


LAYER = "model.layers.0.mlp.down_proj"


@pytest.mark.parametrize(
    ("name", "dtype", "how"),
    [
        (f"{LAYER}.qweight", "I32", "packed integers"),
        (f"{LAYER}.weight_packed", "U8", "compressed-tensors"),
        (f"{LAYER}.weight_scale", None, "scaled weights"),
        (f"{LAYER}.weight_scale_inv", "F32", "block-scaled FP8"),
        (f"{LAYER}.weight_scale_2", "F32", "NVFP4"),
        (f"{LAYER}.SCB", "F32", "bitsandbytes"),
        (f"{LAYER}.weight.absmax", "F32", "bitsandbytes"),
        ("model.layers.0.mlp.experts.gate_up_proj_blocks", "U8", "MXFP4"),
        (f"{LAYER}.weight", "F8_E4M3", "F8_E4M3"),
        (f"{LAYER}.weight", "I8", "I8"),
    ],
)
def test_tensors_betray_it(name: str, dtype: str | None, how: str) -> None:
    plain = {"model.embed_tokens.weight": "BF16", "model.norm.weight": "F32"}
    assert by_tensors(plain | {name: dtype}) == f"{how}, by its tensor '{name}'"


def test_plain_weights_are_plain(tmp_path: Path) -> None:
    assert by_folder(TINY.path) is None
    plain = ("scale", "layer_scale", "rotary_emb.inv_freq", "self_attn.q_proj.weight", "A_log")
    assert by_tensors({f"model.layers.0.{name}": "BF16" for name in plain}) is None
    (tmp_path / "model.safetensors").write_bytes(b"cut short")
    assert by_folder(tmp_path) is None  # loading it says so


def test_a_local_folder_is_refused_before_anything_is_loaded(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TINY.path, tmp_path / "mine"))
    assert resolve_model(str(folder)).path == folder
    tensors = load_file(folder / "model.safetensors")
    save_file(tensors | {f"{LAYER}.weight_scale": torch.ones(1)}, folder / "model.safetensors")
    with pytest.raises(SettingsError, match="already quantised .scaled weights, by its tensor"):
        resolve_model(str(folder))
    save_file(tensors, folder / "model.safetensors")
    (folder / "hf_quant_config.json").write_text(json.dumps({"quantization": {}}))
    with pytest.raises(SettingsError, match="ModelOpt, by its hf_quant_config.json"):
        resolve_model(str(folder))
