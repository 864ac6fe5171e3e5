"""Fit before Start: a table and a verdict from a process without torch."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from playground import fit
from playground.__main__ import cli
from playground.config import SettingsError
from playground.devices import DEVICES, OVERHEAD_MIB, named_device, verdict
from playground.fit import asking, cache
from playground.fit.cache import key_of
from playground.fit.terminal import said
from playground.presets import load_preset
from playground.training.fit import _report as in_the_child


def test_devices_are_found_as_people_write_them() -> None:
    assert named_device("RTX PRO 6000") is DEVICES["rtx-pro-6000"]
    assert named_device("rtx_5090").fp4_native and not named_device("h200").fp4_native
    with pytest.raises(SettingsError, match="Did you mean 'rtx-5090'"):
        named_device("rtx5090")


@pytest.mark.parametrize(
    ("needed", "memory", "expected"),
    [
        (850.0, 1000.0, "fits"),
        (851.0, 1000.0, "tight"),
        (1000.0, 1000.0, "tight"),
        (1001.0, 1000.0, "does not fit"),
        (1.0, None, "unknown"),
    ],
)
def test_the_verdict(needed: float, memory: float | None, expected: str) -> None:
    assert verdict(needed, memory) == expected


def test_a_cpu_also_holds_the_whole_model_while_it_loads() -> None:
    found = {"peak_mib": 100.0, "work_mib": 20.0, "loading_mib": 500.0}
    assert fit.needed_mib(found, "cpu") == 500 + OVERHEAD_MIB["cpu"]
    assert fit.needed_mib(found, "cuda") == 120 + OVERHEAD_MIB["cuda"]


@pytest.mark.slow
def test_the_command_says_what_each_precision_takes(tmp_path: Path) -> None:
    file = tmp_path / "fit.json"
    options = ["--device", "rtx-5090", "--set", "precisions=fp16,nvfp4", "--json", str(file)]
    options += ["--home", str(tmp_path)]
    done = CliRunner().invoke(cli, ["fit", "quick", *options])
    assert done.exit_code == 0, done.output
    assert "16 x 128 tokens" in done.output and "NVIDIA GeForce RTX 5090" in done.output
    result = json.loads(file.read_text())
    fp16, nvfp4 = result["precisions"]
    assert (fp16["precision"], nvfp4["precision"]) == ("fp16", "nvfp4")
    assert fp16["weights_mib"] > nvfp4["weights_mib"] > 0
    parts = ("weights", "adapters", "optimizer", "gradients", "activations")
    assert fp16["peak_mib"] == pytest.approx(sum(fp16[f"{part}_mib"] for part in parts))
    assert {row["verdict"] for row in result["precisions"]} == {"fits"}
    assert result["largest_batch"]["tokens"] == 128
    kept = list((tmp_path / "estimates").iterdir())
    assert len(kept) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "_ask", lambda request: pytest.fail("it was kept"))
        preset = load_preset("quick", {"precisions": "fp16", "max_steps": "3", "seed": "1"})
        known = fit.predict(preset, fit.budget("rtx-5090"), tmp_path)
    assert known["precisions"][0]["peak_mib"] == fp16["peak_mib"]


def test_what_a_run_would_refuse_comes_back_as_its_sentence() -> None:
    preset = load_preset("quick", {"max_seq_len": "1000000"})
    with pytest.raises(SettingsError, match="max_seq_len is 1000000"):
        fit.predict(preset, fit.budget("h100"))


def test_what_an_estimate_follows_from_makes_its_key(tmp_path: Path) -> None:
    def key(**settings: str) -> str | None:
        config = load_preset("quick", settings).config.with_precision("nvfp4")
        return key_of(config, on_gpu=True, fp4_native=False)

    assert key() == key(max_steps="7", learning_rate="0.1")
    changed = [
        {"lora_r": "3"},
        {"max_seq_len": "100"},
        {"micro_batch_size": "3"},
        {"gradient_checkpointing": "true"},
        {"packing": "true"},
        {"keep_last_blocks": "1"},
        {"heal_after": "0.5"},
        {"model": "Qwen/Qwen3-4B"},
    ]
    keys = {key(), *(key(**settings) for settings in changed)}
    assert len(keys) == 1 + len(changed) and None not in keys
    assert key(model="somebody/unheard-of") is None  # only the hub knows it


def test_no_more_is_kept_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MOST", 3)
    kept = cache.Kept(tmp_path / "estimates")
    for number in range(5):
        kept.put(f"key{number}", {"peak_mib": number})
        age = 100 - number
        os.utime(tmp_path / "estimates" / f"key{number}.json", (age, age))
        assert kept.get(f"key{number}") == {"peak_mib": number}
    assert len(list((tmp_path / "estimates").iterdir())) == 3
    assert kept.get("key0") is None and kept.get(None) is None
    (tmp_path / "estimates" / "key4.json").write_text("{")
    assert kept.get("key4") is None
    assert cache.Kept(None).get("key4") is None


@pytest.mark.parametrize("content", ["", "null", "[]", "{}", '{"precision": "nvfp4"}'])
def test_a_damaged_file_is_made_anew(tmp_path: Path, content: str) -> None:
    kept = cache.Kept(tmp_path)
    kept.put("key", {"peak_mib": 1.0})
    (tmp_path / "key.json").write_text(content)
    assert kept.get("key") is None
    kept.put("key", {"peak_mib": 2.0})
    assert kept.get("key") == {"peak_mib": 2.0}


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "taken.json").mkdir()
    for folder, key in ((tmp_path / "file", "key"), (tmp_path, "taken")):
        kept = cache.Kept(folder)
        kept.put(key, {"peak_mib": 1.0})
        assert kept.get(key) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken.json"]


def test_a_hub_model_is_told_by_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_ask", in_the_child)  # here, for starting one takes seconds
    preset = load_preset("quick", {"model": "Qwen/Qwen3-0.6B", "precisions": "nvfp4"})
    found = fit.predict(preset, fit.budget("rtx-5090"))
    assert found["built_by"] == "catalog"
    assert found["precisions"][0]["weights_mib"] == pytest.approx(547, rel=0.1)
    assert any("the catalog says how it is built" in line for line in said(found))
