"""Models that the Hugging Face cache of this machine already holds. Nothing here asks the hub."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from playground.catalog.weights import is_complete_model


class Cached(NamedTuple):
    """A model that can be loaded without a connection.

    folder: its newest complete snapshot. size_bytes: of all that the cache holds of it.
    """

    hub_id: str
    folder: Path
    size_bytes: int


def cached_models() -> list[Cached]:
    """Every complete language model with safetensors weights in the cache, by name."""
    from huggingface_hub import constants, scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repos = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except (CacheNotFound, ValueError):  # nothing was ever fetched, or a file is in its place
        return []
    found = []
    for repo in sorted(repos, key=lambda repo: repo.repo_id):
        folder = cached_folder(repo.repo_id) if repo.repo_type == "model" else None
        if folder is not None:
            found.append(Cached(repo.repo_id, folder, repo.size_on_disk))
    return found


def cached_folder(hub_id: str) -> Path | None:
    """The folder of the cache that holds all of a model: of ``main``, as far as it is there."""
    from huggingface_hub import constants, try_to_load_from_cache

    config = try_to_load_from_cache(hub_id, "config.json", cache_dir=constants.HF_HUB_CACHE)
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    return folder if is_complete_model(folder) else None
