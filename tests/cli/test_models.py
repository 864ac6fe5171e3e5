"""The models of the catalog and of this machine in a terminal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from playground import __main__ as terminal
from playground.catalog.models import TINY
from playground.catalog.words import in_bytes, in_parameters
from playground.config import SettingsError
from tests.catalog.hub_cache import put_in_cache, use_cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return use_cache(monkeypatch, tmp_path / "hub")


def said(tmp_path: Path, *words: str) -> tuple[str, object]:
    file = tmp_path / "out.json"
    asked = ["models", *words, "--json", str(file), "--home", str(tmp_path / "home")]
    done = CliRunner().invoke(terminal.cli, asked, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output, json.loads(file.read_text())


def test_all_are_listed_with_those_on_this_machine_first(tmp_path: Path, cache: Path) -> None:
    put_in_cache(cache, "someone/small", TINY.path)
    shutil.copytree(TINY.path, tmp_path / "home" / "models" / "mine")
    output, found = said(tmp_path)
    here = [entry["id"] for entry in found if entry["on_this_machine"]]
    mine = str(tmp_path / "home" / "models" / "mine")
    assert here == ["tiny", "smollm2-135m", "someone/small", mine]
    assert [entry["id"] for entry in found][:4] == here
    llama = next(entry for entry in found if entry["id"] == "meta-llama/Llama-3.1-8B")
    assert (llama["parameters"], llama["gated"], llama["where"]) == (8_030_261_248, True, "hub")
    assert max(map(len, output.splitlines()[:30])) <= 80
    assert "someone/small" in output and "gated" in output and "16.1 GB" in output


def test_one_is_described(tmp_path: Path, cache: Path) -> None:
    output, found = said(tmp_path, "meta-llama/Llama-3.2-1B")
    assert output.startswith("Llama 3.2 1B (meta-llama/Llama-3.2-1B)")
    assert "reads at most: 131,072 tokens" in output and "`hf auth login`" in output
    assert found["licence"] == "Llama 3.2"
    output, found = said(tmp_path, str(TINY.path))
    assert "parameters: 1.2 M" in output and found["where"] == "folder"
    output, found = said(tmp_path, "some/one")
    assert "Not in the catalog" in output and found["parameters"] is None
    output, found = said(tmp_path, "Qwen/Qwen3-0.6")
    assert "Did you mean 'Qwen/Qwen3-0.6B'?" in output


def test_what_is_no_model_is_refused(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(SettingsError, match="Did you mean 'tiny'"):
        said(tmp_path, "tinny")


def test_no_home_folder_of_a_person_is_written(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(TINY.path, tmp_path / "home" / "models" / "mine")
    output, found = said(tmp_path)
    assert "~/home/models/mine" in [entry["id"] for entry in found]
    assert str(tmp_path) not in output + json.dumps(found)


@pytest.mark.parametrize(
    ("size", "words"),
    [(999, "1 kB"), (4_794_768, "4.79 MB"), (98_362_432, "98.4 MB"), (16_100_000_000, "16.1 GB")],
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert in_bytes(size) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [(999, "999"), (1_197_440, "1.2 M"), (999_885_952, "1 B"), (70_553_706_496, "70.6 B")],
)
def test_parameters_in_words(count: int, words: str) -> None:
    assert in_parameters(count) == words
