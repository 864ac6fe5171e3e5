"""Estimates that were made before, in the home folder: the second look at one is immediate.

An estimate is kept under a digest of everything that it follows from: the settings that matter, the
file that says how the model is built, the libraries and our own code. So none is ever out of date,
only no longer asked for; the oldest are removed.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from playground.catalog import resolve_model
from playground.catalog.architecture import architecture_file
from playground.config import RunConfig
from playground.processes import ROOT

MOST = 400
"""Files of about 500 bytes."""

_LIBRARIES = ("torch", "transformers", "peft")
_OURS = ("kernels", "playground/precision", "playground/training")


class Kept:
    """The estimates in one folder, which need not exist.

    Args:
        folder: where; None keeps nothing and finds nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, key: str | None) -> dict[str, Any] | None:
        """What was kept under ``key``, or None; a file that cannot be read is none."""
        if self._folder is None or key is None:
            return None
        file = self._file(key)
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            os.utime(file)  # asked for again: not the oldest any more
        except (OSError, ValueError):
            return None
        # Under its key: what is JSON and yet not what ``put`` wrote has none.
        return found.get(key) if isinstance(found, dict) else None

    def put(self, key: str | None, found: dict[str, Any]) -> None:
        """Keeps ``found``, whole or not at all, and no more than ``MOST``.

        Nothing where a disk is full or may not be written: that costs the next one its time, and
        not this one its answer.
        """
        if self._folder is None or key is None:
            return
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            file = self._file(key)
            partial = file.with_suffix(f".{os.getpid()}.partial")
            try:
                partial.write_text(json.dumps({key: found}), encoding="utf-8")
                partial.replace(file)
            finally:
                partial.unlink(missing_ok=True)
            files = sorted(self._folder.glob("*.json"), key=_last_used, reverse=True)
            for oldest in files[MOST:]:
                oldest.unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def _last_used(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # another process has just removed it
        return 0.0


def key_of(config: RunConfig, *, on_gpu: bool, fp4_native: bool) -> str | None:
    """Under which the estimate of a run is kept; None where only the hub knows the model."""
    file = architecture_file(resolve_model(config.model))
    if file is None:
        return None
    healed = config.quantization.heal_to if config.first_healed_step is not None else None
    matters = {
        "precision": healed or config.precision,
        "lora": config.lora.model_dump(mode="json"),
        "quantization": config.quantization.model_dump(mode="json"),
        "max_seq_len": config.data.max_seq_len,
        "packing": config.data.packing,
        "micro_batch_size": config.training.micro_batch_size,
        "gradient_checkpointing": config.training.gradient_checkpointing,
        "device": [on_gpu, fp4_native],
        "model": _contents(file),
        "versions": [version(name) for name in _LIBRARIES],
        "code": _own_code(),
    }
    return hashlib.sha256(json.dumps(matters, sort_keys=True).encode()).hexdigest()


def _contents(file: Path) -> list[Any]:
    """Which file it is: by what it holds, or for weights, which are large, by when it was made."""
    try:
        if file.suffix == ".json":
            return [hashlib.sha256(file.read_bytes()).hexdigest()]
        found = file.stat()
    except OSError:  # the estimate itself will say what is wrong with it
        return [str(file)]
    return [str(file), found.st_size, found.st_mtime_ns]


@cache
def _own_code() -> str:
    digest = hashlib.sha256()
    for folder in _OURS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()
