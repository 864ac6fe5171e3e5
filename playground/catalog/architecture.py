"""Which file on this machine says how a model is built, without its weights and without the hub."""

from __future__ import annotations

from pathlib import Path

from playground.catalog.cache import cached_folder
from playground.catalog.entry import ModelEntry


def architecture_file(entry: ModelEntry) -> Path | None:
    """config.json or the GGUF file itself; for a hub model that was not fetched, the catalog's.

    None where only the hub could tell.
    """
    if entry.path is not None:
        return entry.path / (entry.gguf_file or "config.json")
    folder = cached_folder(entry.hub_id) if entry.hub_id else None
    return folder / "config.json" if folder else entry.architecture
