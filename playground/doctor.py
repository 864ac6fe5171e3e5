"""What this machine is, and which backend serves each recipe below 16 bits on it, and why.

The self-test needs torch, so it runs as a child: this process stays light, and whatever a driver or
a kernel does to the child is a finding.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground import hardware
from playground.config import PRECISIONS, expand, private
from playground.hardware import Device
from playground.processes import ROOT, child_environment, last_line, run_to_end

SELF_TEST = ("-P", "-m", "kernels.selftest")  # -P: never import from the cwd
RECIPES = tuple(name for name, info in PRECISIONS.items() if info.storage_bits < 16)
_LONGEST_S = 600.0  # compiling every kernel takes a minute or two; a hung driver takes for ever
_TAIL_LINES = 20


@dataclass(frozen=True)
class CheckUp:
    """What the doctor found.

    Attributes:
        found: plain values, for JSON.
        completed: the self-test ran to its end.
        log: the end of what the self-test printed, if it did not; for a person, not for JSON.
    """

    found: dict[str, Any]
    completed: bool
    log: str = ""


def examine(home: Path, self_test: tuple[str, ...] = SELF_TEST) -> CheckUp:
    """Looks at the machine and lets every backend be tried.

    On a GPU the verdicts are kept where the runs of ``home`` keep theirs, so that both agree.

    Args:
        self_test: arguments of the interpreter for the child.
    """
    device = hardware.detect()
    versions, findings = _versions()
    home = expand(home)
    report, why, log = _self_test(device, home, self_test)
    if why:
        findings.append(why)
        backends = [_unknown(recipe, why) for recipe in RECIPES]
    else:
        backends = [_backend(row) for row in report["recipes"]]
        if device.kind == "cuda" and report["device"].startswith("cpu"):
            findings.append(
                f"The driver shows {device.name}, but torch finds no GPU that it can use; "
                "the backends below are those of the CPU."
            )
    found = {
        "device": device.to_dict(),
        "versions": versions,
        "home": {"path": private(str(home)), "free_disk_mib": _free_disk_mib(home)},
        "findings": findings,
        "backends": backends,
    }
    return CheckUp(found, completed=not why, log=log)


def lines(found: Mapping[str, Any]) -> list[str]:
    """The findings for a terminal, a line each."""
    device, home = found["device"], found["home"]
    memory = f", {device['memory_mib'] / 1024:,.1f} GiB" if device["memory_mib"] else ""
    driver = f", driver {device['driver']}" if device["driver"] else ""
    libraries = ", ".join(f"{name} {v or 'missing'}" for name, v in found["versions"].items())
    said = [
        f"Device: {device['name']}{memory}{driver}, {device['cpu_count']} CPUs for us",
        f"  {device['reason']}",
        f"Home: {home['path']}, {home['free_disk_mib'] / 1024:,.1f} GiB free",
        f"Versions: {libraries}",
        *(f"Finding: {sentence}" for sentence in found["findings"]),
    ]
    for row in found["backends"]:
        served = f"{row['backend']}, {row['how']}" if row["backend"] else "unknown"
        said += [f"{PRECISIONS[row['recipe']].label}: {served}", f"  {row['reason']}"]
        said += [
            f"  {'passed' if verdict['passed'] else 'off'}: {_named(verdict)}"
            for verdict in row["verdicts"]
            if verdict["reason"] != row["reason"]
        ]
    return said


def _named(verdict: Mapping[str, Any]) -> str:
    name, reason = verdict["backend"], verdict["reason"]
    return reason if reason.startswith(name) else f"{name}: {reason}"


def _self_test(
    device: Device, home: Path, arguments: tuple[str, ...]
) -> tuple[dict[str, Any], str, str]:
    """Its report, or why there is none in one sentence, with the end of what it printed."""
    with tempfile.TemporaryDirectory(prefix="fp4-doctor-") as folder:
        file, output = Path(folder) / "report.json", Path(folder) / "output.log"
        command = [sys.executable, *arguments, "--json", str(file)]
        environment = child_environment()
        if device.kind == "cuda":
            command += ["--cache", str(home / "runs" / "self-tests.json")]
        else:
            environment["CUDA_VISIBLE_DEVICES"] = ""  # runs use no GPU either
        why = _carry_out(command, environment, output)
        if not why:
            try:
                return json.loads(file.read_text(encoding="utf-8")), "", ""
            except (OSError, ValueError) as error:
                why = f"The self-test left no report that can be read ({type(error).__name__})."
        log = output.read_text(encoding="utf-8", errors="replace").rstrip()
        return {}, private(why), private("\n".join(log.split("\n")[-_TAIL_LINES:]))


def _carry_out(command: list[str], environment: dict[str, str], output: Path) -> str:
    """Runs the child to its end; one sentence if that was no good one."""
    try:
        code = run_to_end(command, output, _LONGEST_S, environment)
    except TimeoutError:
        return (
            f"The self-test did not end within {_LONGEST_S / 60:.0f} minutes and was ended; "
            "a driver that hangs does that, and restarting the machine often helps."
        )
    if code < 0:
        name = signal.Signals(-code).name
        return f"The self-test crashed with {name}, so no backend can be relied on."
    if code > 0:
        said = last_line(output) or "it said nothing"
        return f"The self-test ended with exit code {code}: {said}"
    return ""


def _backend(row: Mapping[str, Any]) -> dict[str, Any]:
    choice = row["choice"]
    return {
        "recipe": row["recipe"],
        "backend": choice["name"],
        "how": choice["how"],
        "reason": private(choice["reason"]),
        "verdicts": [{**v, "reason": private(v["reason"])} for v in row["verdicts"]],
    }


def _unknown(recipe: str, why: str) -> dict[str, Any]:
    return {"recipe": recipe, "backend": None, "how": None, "reason": why, "verdicts": []}


def _versions() -> tuple[dict[str, str | None], list[str]]:
    """What is installed of what requirements.txt pins, and a sentence where the two differ."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))
    versions = {"python": platform.python_version(), **{name: _installed(name) for name in pins}}
    findings = []
    for name, pinned in pins.items():
        there = versions[name]
        if there is None or there.split("+")[0] != pinned:  # "2.13.0+cpu" is 2.13.0
            is_here = f"{there} is installed" if there else "is not installed"
            findings.append(f"{name} {pinned} was tested, but {is_here}; run `make setup`.")
    return versions, findings


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _free_disk_mib(home: Path) -> int:
    # The folder may not exist yet: it will lie on the disk of the nearest one that does.
    there = next(folder for folder in (home, *home.parents) if os.path.exists(folder))
    return shutil.disk_usage(there).free // 2**20
