"""Folders as huggingface_hub keeps fetched models in, made without fetching any."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants

COMMIT = "a" * 40


def use_cache(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Lets this process take ``folder`` for the hub's cache."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    return folder


def put_in_cache(cache: Path, hub_id: str, model: Path, *, kind: str = "model") -> Path:
    """A copy of a model's folder, as if it had been fetched; returns its snapshot."""
    repo = cache / f"{kind}s--{hub_id.replace('/', '--')}"
    snapshot = repo / "snapshots" / COMMIT
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text(COMMIT)
    shutil.copytree(model, snapshot)
    return snapshot


def edit_json(file: Path, **changes: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
