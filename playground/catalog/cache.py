"""Models that the Hugging Face cache of this machine already holds. Nothing here asks the hub."""

from __future__ import annotations

from pathlib import Path

from playground.catalog.weights import is_complete_model


def cached_models() -> list[str]:
    """The hub ids of the complete language models with safetensors weights in the cache."""
    from huggingface_hub import constants, scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repos = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except (CacheNotFound, ValueError):  # nothing was ever fetched, or a file is in its place
        return []
    names = sorted(repo.repo_id for repo in repos if repo.repo_type == "model")
    return [hub_id for hub_id in names if cached_folder(hub_id)]


def cached_folder(hub_id: str) -> Path | None:
    """The folder of the cache that holds all of a model: of ``main``, as far as it is there."""
    from huggingface_hub import constants, try_to_load_from_cache

    config = try_to_load_from_cache(hub_id, "config.json", cache_dir=constants.HF_HUB_CACHE)
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    return folder if is_complete_model(folder) else None
