"""What a folder of safetensors says of itself, read from headers: no weight is loaded."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open

from playground.catalog.published import longest

_CAUSAL = ("ForCausalLM", "LMHeadModel")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "tekken.json")


class Found(NamedTuple):
    """Of a model folder. Each is None where its files do not say."""

    parameters: int | None
    size_bytes: int
    chat: bool
    max_length: int | None


def look_into(folder: Path) -> Found:
    """Parameters as stored, bytes of the weights, whether there is a chat template, and how long.

    A matrix that is stored twice is counted twice; packed formats, which hold several numbers in
    one, are not counted.
    """
    config = read_json(folder / "config.json")
    files = sorted(folder.glob("*.safetensors"))
    parameters = None if "quantization_config" in config else _stored(files)
    size = sum(file.stat().st_size for file in files)
    return Found(parameters, size, _has_template(folder), longest(config))


def is_complete_model(folder: Path) -> bool:
    """Whether a folder of the hub cache has all it takes to load a language model without the hub.

    An adapter is none, nor is an encoder, an image model, or a download that was broken off.
    """
    config = read_json(folder / "config.json")
    names = config.get("architectures") or []
    speaks = any(str(name).endswith(_CAUSAL) for name in names)
    # A model that sees as well says so by the text model it holds.
    speaks = speaks or isinstance(config.get("text_config"), dict)
    tokenizer = any((folder / name).is_file() for name in _TOKENIZERS)
    return speaks and tokenizer and all_weights(folder)


def all_weights(folder: Path) -> bool:
    """Whether every shard is there."""
    index = read_json(folder / "model.safetensors.index.json").get("weight_map")
    if isinstance(index, dict) and index:
        return all((folder / str(name)).is_file() for name in set(index.values()))
    return (folder / "model.safetensors").is_file()


def read_json(file: Path) -> dict[str, Any]:
    """The object in a file; empty if it is not there or holds none."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):  # broken: the run that loads it says how
        return {}
    return found if isinstance(found, dict) else {}


def _stored(files: list[Path]) -> int | None:
    try:
        return sum(map(_in_file, files)) or None
    except (OSError, SafetensorError):  # cut short; the run that loads it says so
        return None


def _in_file(file: Path) -> int:
    with safe_open(file, framework="np") as tensors:
        names = tensors.keys()
        return sum(math.prod(tensors.get_slice(name).get_shape()) for name in names)


def _has_template(folder: Path) -> bool:
    in_tokenizer = read_json(folder / "tokenizer_config.json").get("chat_template")
    return bool(in_tokenizer) or (folder / "chat_template.jinja").is_file()
