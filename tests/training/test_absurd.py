"""A configuration that nobody can have meant is refused at once, by all who would build by it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from playground.catalog import resolve_model
from playground.config import RunConfig, SettingsError
from playground.precision.registry import PRECISION_RECIPES
from playground.training import absurd
from playground.training.fit import estimate
from playground.training.model import load_base
from playground.training.pretrained import load_tokenizer

CPU = torch.device("cpu")
Configure = Callable[..., RunConfig]


@pytest.fixture
def copied(model_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_folder, tmp_path / "copy"))


def changed(folder: Path, **changes: Any) -> str:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return str(folder)


@pytest.mark.parametrize("number", [100_000, 10**9, 1e300])
def test_too_many_layers_before_anything_is_built(
    number: float, copied: Path, configure: Configure
) -> None:
    config = configure(model=changed(copied, num_hidden_layers=number))
    entry = resolve_model(config.model)
    for act in (
        lambda: estimate(config),
        lambda: load_tokenizer(entry, 64),
        lambda: load_base(entry, config, PRECISION_RECIPES["nvfp4"], CPU),
    ):
        with pytest.raises(
            SettingsError, match="'num_hidden_layers' set to 1.*any model has; mend"
        ):
            act()


def test_too_many_experts_of_a_model_that_also_sees(copied: Path, configure: Configure) -> None:
    text = {"text_config": {"num_experts": 10**6, "num_experts_per_tok": 2}}
    with pytest.raises(SettingsError, match="'num_experts' set to 1,000,000 in"):
        estimate(configure(model=changed(copied, **text)))


def test_too_many_modules_whatever_they_are_counted_by(
    copied: Path, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(absurd, "MOST_MODULES", 20)
    with pytest.raises(SettingsError, match="would have more than 20 modules by its config"):
        estimate(configure(model=str(copied)))


def test_too_many_parameters(copied: Path, configure: Configure) -> None:
    with pytest.raises(SettingsError, match="would have 3.2e.15 parameters by its configuration"):
        estimate(configure(model=changed(copied, vocab_size=10**14)))
