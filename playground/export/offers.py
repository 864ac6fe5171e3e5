"""What can be exported of a run, and where it lies; nothing here is made of a visitor's words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Literal, get_args

from playground.store import Run, RunStore
from playground.training.durable import PARTIAL

Kind = Literal["adapter", "merged-bf16", "merged-fp16"]
KINDS: tuple[Kind, ...] = get_args(Kind)

REPORT = "verified.json"
"""In every export: what its check found. It is written last, so what has it is whole."""


def folder_of(store: RunStore, run_id: str, kind: Kind) -> Path:
    """Where an export of a run is made. Raises ValueError for an unsafe id."""
    return store.run_folder(run_id) / "exports" / kind


def archive_of(store: RunStore, run_id: str, kind: Kind) -> Path:
    """Its one file to download. Raises ValueError for an unsafe id."""
    return store.run_folder(run_id) / "exports" / f"{kind}.zip"


def exported(folder: Path) -> dict[str, Any] | None:
    """What the check of an export found; None where there is none."""
    try:
        return json.loads((folder / REPORT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def remove_unfinished(folder: Path) -> None:
    """What an export into ``folder`` that was broken off has left beside it."""
    shutil.rmtree(folder.with_name(folder.name + PARTIAL), ignore_errors=True)
    folder.with_name(f"{folder.name}.zip{PARTIAL}").unlink(missing_ok=True)


def why_not(store: RunStore, run: Run) -> str | None:
    """One sentence when a run has nothing to export, else None."""
    if run.status != "finished":
        return f"Run {run.id} is {run.status}; only a finished run has an adapter to export."
    if not (store.run_folder(run.id) / "adapter").is_dir():
        return f"The adapter of run {run.id} is gone from its folder; train it again."
    return None
