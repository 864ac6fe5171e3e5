"""Whether a comparison fits a device, told before it is started and without loading the model.

The estimates need torch, so a child process makes them (``training/fit.py``); this one stays light.
On a CPU the memory is what is free now.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil

from playground import hardware
from playground.catalog import resolve_model
from playground.catalog.architecture import architecture_file
from playground.config import RunConfig, SettingsError
from playground.devices import OVERHEAD_MIB, named_device, verdict
from playground.fit.cache import Kept, key_of
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


def predict(preset: Preset, into: Budget, home: Path | None = None) -> dict[str, Any]:
    """The memory of each precision of a comparison, and whether it fits: plain values, for JSON.

    Args:
        home: the folder of runs, where estimates are kept; None makes all of them anew.
    Raises:
        SettingsError: the model or a setting cannot be used, or there is no estimate, and why.
    """
    return _judged(preset, into, _estimates(preset, into, home, ask=True))


def kept(preset: Preset, into: Budget, home: Path) -> dict[str, Any] | None:
    """As ``predict``, without a child: None where any of it was never estimated.

    Raises:
        SettingsError: there is no such model.
    """
    estimates = _estimates(preset, into, home, ask=False)
    return _judged(preset, into, estimates) if None not in estimates else None


def _judged(preset: Preset, into: Budget, estimates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rows = []
    for name, found in zip(preset.precisions, estimates, strict=True):
        needed = needed_mib(found, into.kind)
        row = {**found, "precision": name, "counted_in": found["precision"]}
        row |= {"needed_mib": needed, "verdict": verdict(needed, into.memory_mib)}
        rows.append(row)
    sequences, tokens = preset.config.training.micro_batch_size, preset.config.data.max_seq_len
    return {
        "preset": preset.name,
        "model": preset.config.model,
        "built_by": _built_by(preset.config),
        "device": {"name": into.name, "kind": into.kind, "memory_mib": into.memory_mib},
        "overhead_mib": OVERHEAD_MIB[into.kind],
        "gradient_checkpointing": preset.config.training.gradient_checkpointing,
        "largest_batch": {"sequences": sequences, "tokens": tokens},
        "precisions": rows,
    }


def _built_by(config: RunConfig) -> str:
    """Whose word the model's architecture is: its own files', the catalog's or the hub's."""
    entry = resolve_model(config.model)
    file = architecture_file(entry)
    if file is None:
        return "hub"
    return "catalog" if file == entry.architecture else "files"


def _estimates(
    preset: Preset, into: Budget, home: Path | None, *, ask: bool
) -> list[dict[str, Any] | None]:
    """Of each precision: what is kept, and with ``ask`` the others, made in one go."""
    configs = [preset.config.with_precision(name) for name in preset.precisions]
    where = {"on_gpu": into.kind == "cuda", "fp4_native": into.fp4_native}
    store = Kept(home / "estimates" if home else None)
    keys = [key_of(config, **where) for config in configs]
    found = [store.get(key) for key in keys]
    missing = [i for i, estimate in enumerate(found) if estimate is None] if ask else []
    if missing:
        asked = [configs[i].model_dump(mode="json") for i in missing]
        request = {"configs": asked, **where} | ({"home": str(home)} if home else {})
        report = _ask(request)
        if "refused" in report:
            raise SettingsError(report["refused"])
        for i, estimate in zip(missing, report["estimates"], strict=True):
            found[i] = estimate
            store.put(keys[i], estimate)
    return found


def needed_mib(found: Mapping[str, Any], kind: str) -> float:
    """What a device must have for an estimate: the peak with its work space, and the overhead."""
    needed = found["peak_mib"] + found["work_mib"]
    if kind == "cpu":
        needed = max(needed, found["loading_mib"])
    return needed + OVERHEAD_MIB[kind]


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
        f"The memory of this model cannot be told beforehand ({last or f'code {code}'}); "
        "start the run to see."
    )
