"""The file that ``--json`` names: whether it can be written, and writing it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playground.config import SettingsError


def check_writable(json_file: Path | None) -> None:
    """Before a run takes minutes, not after."""
    if json_file is None:
        return
    try:
        new = not json_file.exists()
        json_file.open("a").close()
        if new:
            json_file.unlink()
    except OSError as error:
        raise _unwritable(json_file, error) from None


def write_json(json_file: Path | None, value: Any) -> None:
    if json_file is None:
        return
    try:
        json_file.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:  # a full disk, say; the runs are kept, and `show ID --json` asks again
        raise _unwritable(json_file, error) from None


def _unwritable(json_file: Path, error: OSError) -> SettingsError:
    name = str(json_file) if len(str(json_file)) <= 200 else f"{str(json_file)[:60]}…"
    return SettingsError(
        f"JSON file '{name}' cannot be written ({error.strerror}); choose another place."
    )
