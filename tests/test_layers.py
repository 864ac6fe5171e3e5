"""Imports point one way, and each big library has one home. Read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LEAVES = {"config", "commands", "events", "failures", "hardware", "devices", "compare", "language"}

# Who may import whom inside the project, itself aside; the leaves may be imported by all.
ALLOWED: dict[str, set[str]] = {
    "kernels": set(),
    "playground.config": set(),
    "playground.commands": set(),
    "playground.events": set(),
    "playground.failures": set(),
    "playground.hardware": set(),
    "playground.language": set(),
    "playground.devices": set(),
    "playground.compare": set(),
    "playground.processes": set(),
    "playground.residents": {"processes"},
    "playground.json_file": set(),
    "playground.sinks": set(),
    "playground.users": set(),
    "playground.presets": set(),
    "playground.own_presets": {"presets"},
    "playground.catalog": set(),
    "playground.precision": {"kernels"},
    "playground.data": {"catalog"},
    "playground.download": {"data", "catalog", "processes"},
    "playground.training": {"kernels", "precision", "data", "catalog", "download"},
    "playground.worker": {"training", "store", "processes", "sinks"},
    "playground.store": {"processes"},
    "playground.launcher": {"store", "presets", "processes", "residents", "sinks"},
    "playground.doctor": {"processes"},
    "playground.stored": {"store"},
    "playground.fit": {"presets", "processes", "catalog"},
    "playground.cli": {"users", "store", "launcher", "presets", "catalog", "json_file"}
    | {"stored", "tables", "formats"}
    | {"export", "ui"},
    "playground.report": {"store", "stored"},
    "playground.generate": {"training", "precision", "data", "catalog", "store", "processes"}
    | {"residents"},
    "playground.export": {"training", "precision", "data", "catalog", "store", "processes"}
    | {"residents", "presets"},
    "playground.preview": {"training", "data", "catalog", "processes"},
    "playground.answering": {"processes"},
    "playground.formats": {"kernels", "precision", "training", "catalog", "answering"}
    | {"processes", "residents"},
    "playground.progress": {"store"},
    "playground.tables": {"store", "progress"},
    "playground.assets": {"training", "data", "catalog", "precision"},
    "playground.ui": {"fit", "users", "store", "launcher", "presets", "preview", "catalog", "data"}
    | {"own_presets", "processes"}
    | {"formats", "generate", "export", "report"},
    "playground.__main__": {
        "store",
        "launcher",
        "presets",
        "preview",
        "catalog",
        "data",
        "progress",
        "tables",
        "json_file",
        "doctor",
        "stored",
        "fit",
        "sinks",
        "cli",
    },
    "app": {"ui", "generate", "store", "launcher", "presets", "users"},
}

# Each big library has one home.
HOMES: dict[str, set[str]] = {
    "triton": {"kernels"},
    "torch": {
        "kernels",
        "playground.precision",
        "playground.training",
        "playground.data",
        "playground.worker",
        "playground.assets",
        "playground.sinks",
        "playground.generate",
        "playground.export",
        "playground.formats",
    },
    "tensorboard": {"playground.sinks"},
    "trackio": {"playground.sinks"},
    "pynvml": {"playground.hardware", "playground.training"},
    "transformers": {
        "playground.training",
        "playground.data",
        "playground.assets",
        "playground.generate",
        "playground.export",
    },
    "peft": {"playground.training", "playground.export"},
    "datasets": {"playground.data"},
    "sqlite3": {"playground.store"},
    "subprocess": {
        "playground.launcher",
        "playground.processes",
        "playground.answering",
        "playground.assets",
        "playground.generate",
        "playground.export",
    },
    "signal": {
        "playground.launcher",
        "playground.worker",
        "playground.failures",
        "playground.doctor",
        "playground.preview",
        "playground.answering",
        "playground.residents",
        "playground.generate",
        "playground.export",
        "app",
    },
    "gradio": {"playground.ui", "app"},
}


def _sources() -> list[Path]:
    folders = [ROOT / "kernels", ROOT / "playground"]
    return [ROOT / "app.py", *(p for f in folders for p in sorted(f.rglob("*.py")))]


def _unit(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:2]) if parts[0] == "playground" else parts[0]


@cache
def _imports(path: Path) -> list[str]:
    """Dotted names of everything a file imports, wherever in the file it does so."""
    package = path.relative_to(ROOT).parent.parts
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            names += [f"{module}.{alias.name}" for alias in node.names]
    return names


def _inside(name: str) -> str | None:
    """The part of ours that a dotted name belongs to, or None for a library."""
    parts = name.split(".")
    if parts[0] == "kernels":
        return "kernels"
    return parts[1] if parts[0] == "playground" and len(parts) > 1 else None


@pytest.mark.parametrize("path", _sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    unit = _unit(path)
    if unit == "playground.__init__":
        assert _imports(path) == []
        return
    allowed = ALLOWED[unit] | LEAVES | {unit.removeprefix("playground.")}
    used = {part for name in _imports(path) if (part := _inside(name))}
    assert used <= allowed, f"{unit} may not import {sorted(used - allowed)}"


@pytest.mark.parametrize("path", _sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_each_big_library_has_one_home(path: Path) -> None:
    unit = _unit(path)
    used = {name.split(".")[0] for name in _imports(path)} & HOMES.keys()
    astray = sorted(lib for lib in used if unit not in HOMES[lib])
    assert not astray, f"{unit} imports {astray}, whose homes are elsewhere"


def test_the_page_never_loads_torch() -> None:
    heavy = "{'torch', 'transformers', 'peft', 'datasets'}"
    modules = "playground.__main__, playground.ui, app"
    code = f"import sys, {modules}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_transformers_does_not_take_our_kernels_for_the_hub_package() -> None:
    # transformers probes for a Hugging Face package of the same name.
    code = "import transformers.integrations.hub_kernels as h; print('ok')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "ok", done.stderr
