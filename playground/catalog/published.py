"""Well-known models of the hub: ``presets/catalog.yaml`` says where its figures come from."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from playground.catalog.entry import ModelEntry

FOLDER = Path(__file__).parent.parent.parent / "presets"
_ARCHITECTURES = FOLDER / "architectures"

HUB_SUMMARY = "From the Hugging Face hub; fetched when the run loads it."


@cache
def published_models() -> tuple[ModelEntry, ...]:
    """Every model of ``catalog.yaml``, in its order, family by family."""
    written = yaml.safe_load((FOLDER / "catalog.yaml").read_text(encoding="utf-8"))
    return tuple(_entry(**model) for model in written)


def _entry(*, id: str, architecture: str, size_gb: float, **known: Any) -> ModelEntry:
    file = _ARCHITECTURES / f"{architecture}.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    return ModelEntry(
        id=id,
        hub_id=id,
        where="hub",
        summary=HUB_SUMMARY,
        size_bytes=round(size_gb * 1e9),
        max_length=longest(config),
        architecture=file,
        **known,
    )


def longest(config: dict[str, Any]) -> int | None:
    """Tokens that a model with this config.json reads at most; None if it does not say."""
    text = config.get("text_config")  # of a model that sees images as well
    stated = text if isinstance(text, dict) else config
    found = stated.get("max_position_embeddings", stated.get("n_positions"))  # the latter: GPT-2
    return found if isinstance(found, int) and not isinstance(found, bool) else None
