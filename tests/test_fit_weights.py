"""The quick figure for weights is the estimate's, for one architecture of each family."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoConfig

from playground.fit.weights import weights_mib
from playground.presets import load_preset
from playground.training.fit import at_rest

FOLDER = Path(__file__).parent.parent / "presets" / "architectures"
ONE_OF_EACH = {
    "smollm2-135m": "fp16",
    "gemma-3-1b": "nvfp4",
    "mistral-7b-v0.3": "nf4",
    "phi-4-mini": "fp8",
    "qwen3-4b": "nvfp4",
    "llama-3.1-70b": "nvfp4",
}


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_it_is_what_the_model_built_as_shapes_takes(name: str) -> None:
    told = few_blocks(json.loads((FOLDER / f"{name}.json").read_text()))
    precision = ONE_OF_EACH[name]
    config = load_preset("quick", {"precisions": precision}).config.with_precision(precision)
    taken = at_rest(config, AutoConfig.for_model(**told), on_gpu=True).weights_mib
    assert weights_mib(told, precision, on_gpu=True) == pytest.approx(taken, rel=0.01)


def few_blocks(told: dict[str, Any]) -> dict[str, Any]:
    """The same architecture with as many blocks as it takes to see what one adds."""
    layers = {"layer_types": told["layer_types"][:3]} if "layer_types" in told else {}
    return told | {"num_hidden_layers": 3} | layers


def test_what_is_not_known_is_none() -> None:
    with_pictures = json.loads((FOLDER / "gemma-3-4b.json").read_text())
    assert weights_mib(with_pictures, "fp16", on_gpu=True) is None
    assert weights_mib({"model_type": "mamba"}, "fp16", on_gpu=True) is None
    assert weights_mib({"model_type": "llama"}, "fp16", on_gpu=True) is None
