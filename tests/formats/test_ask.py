"""The real child, asked as the page asks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.formats import EXAMPLES, FORMATS, Microscope, written
from playground.residents import evict


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def scope(home: Path) -> Iterator[Microscope]:
    made = Microscope(home)
    yield made
    made.close()


def test_numbers(scope: Microscope) -> None:
    found = scope.numbers(written(EXAMPLES["outlier"]))
    assert [one["name"] for one in found["formats"]] == list(FORMATS)
    assert len(found["values"]) == 32 and len(found["formats"][0]["blocks"]) == 2
    assert found["gaussian"]["errors"]["nvfp4"] == pytest.approx(0.0951, rel=0.01)
    with pytest.raises(SettingsError, match="There are 15 numbers"):
        scope.numbers(" ".join(["1"] * 15))


def test_layers_and_a_layer(scope: Microscope) -> None:
    layers = scope.layers("tiny")
    assert sum(layer["in_block"] for layer in layers) == 35 and len(layers) == 36
    found = scope.layer("tiny", "layers.2.mlp.up_proj", {"how": "at", "row": 3, "column": 40})
    assert found["layer"] == "model.layers.2.mlp.up_proj.weight" and found["shape"] == [384, 128]
    assert (found["row"], found["column"], found["model"]) == (3, 32, "tiny")
    with pytest.raises(SettingsError, match="is outside this layer"):
        scope.layer("tiny", None, {"how": "at", "row": 9999, "column": 0})
    with pytest.raises(SettingsError, match="Did you mean 'tiny'"):
        scope.layers("tinny")


def test_a_model_and_again(scope: Microscope) -> None:
    *told, last = scope.model("tiny")
    assert len(told) == 35 and last["answer"]["model"] == "tiny"
    total, gaussian = last["answer"]["total"], last["answer"]["gaussian"]
    for name in FORMATS:  # the bundled model's weights are as good as Gaussian
        assert total[name] == pytest.approx(gaussian[name], rel=0.02)
    (again,) = scope.model("tiny")
    assert again["answer"]["kept"] is True
    assert json.dumps(again["answer"]["rows"]) == json.dumps(last["answer"]["rows"])


@pytest.mark.slow
def test_a_run_that_starts_has_the_machine_to_itself(scope: Microscope, home: Path) -> None:
    scope.numbers(written(EXAMPLES["gaussian"]))
    assert evict(home) == ["lens", "lens-of-models"]
    assert scope.numbers(written(EXAMPLES["gaussian"]))["formats"]  # and it is there again
