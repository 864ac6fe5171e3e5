"""Whether a comparison fits a device, told before it is started and without loading the model.

The estimates need torch, so a child process makes them (``training/fit.py``); this one stays light.
On a CPU the memory is what is free now.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
from rich.box import SIMPLE_HEAD
from rich.table import Table

from playground import hardware
from playground.config import PRECISIONS, SettingsError, private
from playground.devices import OVERHEAD_MIB, TIGHT_SHARE, named_device, verdict
from playground.presets import Preset
from playground.processes import child_environment, last_line, run_to_end

_ESTIMATE = ("-P", "-m", "playground.training.fit")  # -P: never import from the cwd
_LONGEST_S = 600.0


@dataclass(frozen=True)
class Budget:
    """What there is to fit into. memory_mib: None where a driver does not tell."""

    name: str
    kind: Literal["cuda", "cpu"]
    memory_mib: float | None
    fp4_native: bool


def budget(device: str | None = None) -> Budget:
    """Of a device by its name, or of this machine: its GPU's memory, or what its RAM has free.

    Raises:
        SettingsError: no such device.
    """
    if device is not None:
        found = named_device(device)
        return Budget(found.name, "cuda", found.memory_mib, found.fp4_native)
    here = hardware.detect()
    free = psutil.virtual_memory().available / hardware.MIB
    memory = here.memory_mib if here.kind == "cuda" else free
    return Budget(here.name, here.kind, memory, here.fp4_native)


def predict(preset: Preset, into: Budget) -> dict[str, Any]:
    """The memory of each precision of a comparison, and whether it fits: plain values, for JSON.

    Raises:
        SettingsError: the model or a setting cannot be used, or there is no estimate, and why.
    """
    configs = [preset.config.with_precision(name) for name in preset.precisions]
    request = {
        "configs": [config.model_dump(mode="json") for config in configs],
        "on_gpu": into.kind == "cuda",
        "fp4_native": into.fp4_native,
    }
    report = _ask(request)
    if "refused" in report:
        raise SettingsError(report["refused"])
    overhead = OVERHEAD_MIB[into.kind]
    rows = []
    for name, found in zip(preset.precisions, report["estimates"], strict=True):
        needed = needed_mib(found, into.kind)
        row = {**found, "precision": name, "counted_in": found["precision"]}
        row |= {"needed_mib": needed, "verdict": verdict(needed, into.memory_mib)}
        rows.append(row)
    return {
        "preset": preset.name,
        "model": preset.config.model,
        "device": {"name": into.name, "kind": into.kind, "memory_mib": into.memory_mib},
        "overhead_mib": overhead,
        "gradient_checkpointing": preset.config.training.gradient_checkpointing,
        "largest_batch": report["shape"],
        "precisions": rows,
    }


def needed_mib(found: Mapping[str, Any], kind: str) -> float:
    """What a device must have for an estimate: the peak with its work space, and the overhead."""
    needed = found["peak_mib"] + found["work_mib"]
    if kind == "cpu":
        needed = max(needed, found["loading_mib"])
    return needed + OVERHEAD_MIB[kind]


def fit_table(result: Mapping[str, Any]) -> Table:
    """A row for each precision, from ``predict``; within 80 columns."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, collapse_padding=True, pad_edge=False)
    table.add_column("MiB", no_wrap=True)
    for heading in ("weights", "adapters", "optimizer", "gradients", "activ.", "peak"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in result["precisions"]:
        parts = ("weights", "adapters", "optimizer", "gradients", "activations", "peak")
        figures = (_mib(row[f"{part}_mib"]) for part in parts)
        table.add_row(PRECISIONS[row["precision"]].label, *figures, row["verdict"])
    return table


def said(result: Mapping[str, Any]) -> list[str]:
    """What the table is about, and what it takes for granted, a line each."""
    device, batch = result["device"], result["largest_batch"]
    free = " free" if device["kind"] == "cpu" else ""
    memory = f"{device['memory_mib'] / 1024:,.1f} GiB{free}" if device["memory_mib"] else "unknown"
    checkpointing = "with" if result["gradient_checkpointing"] else "without"
    loading = ", and the whole model while it loads" if device["kind"] == "cpu" else ""
    lines = [
        f"Model {result['model']} on {device['name']}, {memory}",
        f"Largest batch: {batch['sequences']} x {batch['tokens']:,} tokens, "
        f"{checkpointing} gradient checkpointing",
        f"Judged with {result['overhead_mib']:,.0f} MiB for the process and its libraries, and the "
        f"work space of an operation{loading}; tight is above {TIGHT_SHARE:.0%}.",
    ]
    healed = [row for row in result["precisions"] if row["counted_in"] != row["precision"]]
    lines += [
        f"{PRECISIONS[row['precision']].label} heals, so it is counted in "
        f"{PRECISIONS[row['counted_in']].label}."
        for row in healed
    ]
    return lines


def _mib(value: float) -> str:
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def _ask(request: Mapping[str, Any]) -> dict[str, Any]:
    """The child's report."""
    with tempfile.TemporaryDirectory(prefix="fp4-fit-") as folder:
        asked, file = Path(folder) / "request.json", Path(folder) / "report.json"
        output = Path(folder) / "output.log"
        asked.write_text(json.dumps(request), encoding="utf-8")
        command = [sys.executable, *_ESTIMATE, str(asked), "--json", str(file)]
        environment = {**child_environment(), "CUDA_VISIBLE_DEVICES": ""}  # it touches no GPU
        try:
            code = run_to_end(command, output, _LONGEST_S, environment)
        except TimeoutError:
            raise SettingsError(
                f"The estimate did not end within {_LONGEST_S / 60:.0f} minutes; this model's "
                "architecture cannot be told beforehand, so start the run to see."
            ) from None
        if code == 0:
            return json.loads(file.read_text(encoding="utf-8"))
        last = last_line(output)
    raise SettingsError(
        f"The memory of this model cannot be told beforehand ({private(last) or f'code {code}'}); "
        "start the run to see."
    )
