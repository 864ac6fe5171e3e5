"""A tiny model and dataset on disk, and a configuration that trains it in about a second."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground.config import SECTIONS, RunConfig, parse_config, setting_path
from playground.presets import defaults
from tests.tiny import save_tiny


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def dataset_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 additions: short rows of uneven lengths."""
    path = tmp_path_factory.mktemp("rows") / "sums.jsonl"
    sums = [(a, b) for a in range(8) for b in range(0, 100, 20)]
    rows = [{"prompt": f"{a}+{b}=", "completion": str(a + b)} for a, b in sums]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def configure(model_folder: Path, dataset_file: Path) -> Callable[..., RunConfig]:
    """``configure(max_steps=3, precision="nvfp4")``: any setting by its name."""

    def build(**settings: Any) -> RunConfig:
        values = defaults()
        small = {
            "model": str(model_folder),
            "dataset": str(dataset_file),
            "precision": "fp32",
            "max_seq_len": 64,
            "max_steps": 4,
            "micro_batch_size": 4,
            "learning_rate": 1e-2,
            "lora_r": 4,
        }
        for name, value in (small | settings).items():
            *section, leaf = setting_path(name)
            (values[section[0]] if section else values)[leaf] = value
        assert set(SECTIONS) <= set(values)
        return parse_config(values)

    return build
