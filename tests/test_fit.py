"""Fit before Start: a table and a verdict from a process without torch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from playground import fit
from playground.__main__ import cli
from playground.config import SettingsError
from playground.devices import DEVICES, OVERHEAD_MIB, named_device, verdict
from playground.presets import load_preset


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


def test_the_command_says_what_each_precision_takes(tmp_path: Path) -> None:
    file = tmp_path / "fit.json"
    options = ["--device", "rtx-5090", "--set", "precisions=fp16,nvfp4", "--json", str(file)]
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


def test_what_a_run_would_refuse_comes_back_as_its_sentence() -> None:
    preset = load_preset("quick", {"max_seq_len": "1000000"})
    with pytest.raises(SettingsError, match="max_seq_len is 1000000"):
        fit.predict(preset, fit.budget("h100"))
