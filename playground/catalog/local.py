"""A model in a folder of this machine, or in a GGUF file, checked without reading its weights."""

from __future__ import annotations

import json
import os
from pathlib import Path

from playground.catalog.entry import ModelEntry
from playground.catalog.quantised import by_config, by_folder, refuse_quantised
from playground.config import SettingsError


def local_model(name: str, path: Path) -> ModelEntry:
    """The model at an existing ``path``, which was typed as ``name``.

    Raises:
        SettingsError: it holds none that we read; with the remedy.
    """
    folder = path.parent if path.suffix.lower() == ".gguf" else path
    entry = ModelEntry(id=name, title=path.name, summary="A model on this machine.", path=folder)
    if path.is_file():
        if folder is path:
            raise SettingsError(
                f"Model '{name}' is a file; give the folder that holds config.json and the "
                "safetensors weights, or a .gguf file."
            )
        return entry.model_copy(update={"gguf_file": path.name})
    if not path.is_dir() or not os.access(path, os.R_OK | os.X_OK):
        raise SettingsError(
            f"Model '{name}' is no folder that can be read; give one that save_pretrained wrote."
        )
    _refuse_adapter(name, path / "adapter_config.json")
    if any(path.glob("*.safetensors")):
        _check_config(name, path / "config.json")
        return entry
    gguf = sorted(file.name for file in path.iterdir() if file.suffix.lower() == ".gguf")
    if len(gguf) == 1:
        return entry.model_copy(update={"gguf_file": gguf[0]})
    if gguf:
        raise SettingsError(
            f"Model '{name}' holds {len(gguf)} .gguf files; name the one to use, such as "
            f"{name.rstrip('/')}/{gguf[0]}."
        )
    pickled = any(path.glob("*.bin")) or any(path.glob("*.pt")) or any(path.glob("*.pth"))
    found = "only pickled weights (.bin, .pt)" if pickled else "no weights"
    raise SettingsError(
        f"Model '{name}' holds {found}; weights are read from safetensors or GGUF only, so save "
        "it again with save_pretrained, or choose another folder."
    )


def _refuse_adapter(name: str, file: Path) -> None:
    if not file.is_file():
        return
    try:
        base = json.loads(file.read_bytes()).get("base_model_name_or_path")
    except (ValueError, AttributeError, RecursionError):  # broken, and an adapter's all the same
        base = None
    which = f" ('{base}')" if isinstance(base, str) and base else ""
    raise SettingsError(
        f"Model '{name}' is an adapter and not a whole model; "
        f"name the base model that it was trained on{which}."
    )


def _check_config(name: str, file: Path) -> None:
    if not file.is_file():
        raise SettingsError(
            f"Model '{name}' has weights but no config.json, so its architecture is unknown; give "
            "the folder that save_pretrained wrote."
        )
    try:
        config = json.loads(file.read_bytes())
    except (ValueError, RecursionError):  # no JSON, or nested beyond all measure
        config = None
    if not isinstance(config, dict):
        raise SettingsError(
            f"Model '{name}' has a config.json that is no JSON object; save the model again."
        )
    refuse_quantised(name, by_config(config) or by_folder(file.parent))
