"""The child: ``python -m playground.download FOLDER`` fetches what the request there names.

``request.json`` has the hub id; ``plan.json`` then says how many bytes are to come and how many lay
there before, as soon as that is known, and ``answer.json`` at the end where the files are, or the
sentence why they are not.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from playground.catalog.quantised import by_config, by_files, by_tensors, refuse_quantised
from playground.catalog.weights import read_json
from playground.config import SettingsError, private
from playground.data.hub import Listing, Unreachable, ask_hub, refuse_unusable, said_of
from playground.download.disk import on_disk

_ENDINGS = (".json", ".jinja", ".model", ".txt", ".safetensors")
_INDEX = "model.safetensors.index.json"
_AT_ONCE = 4


def main() -> None:
    folder = Path(sys.argv[1])
    hub_id = json.loads((folder / "request.json").read_text(encoding="utf-8"))["hub_id"]
    write(folder / "answer.json", answer(hub_id, folder / "plan.json"))


def answer(hub_id: str, plan: Path) -> dict[str, Any]:
    """``{"folder": path}``, or ``{"kept_away": sentence}`` or ``{"refused": sentence}``.

    Kept away: the hub does not let us, or there is no way to it; a copy from before may serve.
    """
    try:
        listing = ask_hub("model", hub_id)
    except SettingsError as error:
        return {"kept_away": str(error)}
    try:
        refuse_unusable(hub_id, listing.files)
        return {"folder": _fetch(hub_id, listing, plan)}
    except Unreachable as error:
        return {"kept_away": str(error)}
    except SettingsError as error:
        return {"refused": str(error)}


def wanted(names: Iterable[str], shards: Iterable[str] = ()) -> list[str]:
    """Of a repository's files those that loading needs: no folders in it, no second set of weights.

    Args:
        shards: the files of weights that its index names, where it has one.
    """
    shards = set(shards) or {"model.safetensors"}
    top = [name for name in names if "/" not in name and name.endswith(_ENDINGS)]
    return [name for name in top if not name.endswith(".safetensors") or name in shards]


def _fetch(hub_id: str, listing: Listing, plan: Path) -> str:
    from huggingface_hub import snapshot_download

    tensors = _index(hub_id, listing)
    config = _read_early(hub_id, listing, "config.json")
    found = by_config(config) or by_files(listing.files) or by_tensors(dict.fromkeys(tensors))
    refuse_quantised(hub_id, found)
    names = wanted(listing.files, tensors.values())
    if not any(name.endswith(".safetensors") for name in names):
        raise SettingsError(
            f"Model '{hub_id}' has no model.safetensors, nor an index that names its parts; pick a "
            "checkpoint that save_pretrained wrote."
        )
    missing = sum(
        size or 0
        for name, size in listing.files.items()
        if name in names and not _has(hub_id, listing.revision, name)
    )
    _refuse_full_disk(hub_id, missing)
    write(plan, {"bytes": missing, "before": on_disk(hub_id)})
    try:
        # By the branch, not by its commit, so that the cache knows which one is the newest.
        return snapshot_download(hub_id, allow_patterns=names, max_workers=_AT_ONCE)
    except Exception as error:
        raise said_of(error, "model", hub_id) from error


def _index(hub_id: str, listing: Listing) -> dict[str, str]:
    """The file of each tensor; empty where all are in one."""
    if _INDEX not in listing.files:
        return {}
    try:
        found = _read_early(hub_id, listing, _INDEX)["weight_map"]
        return {str(name): str(file) for name, file in found.items()}
    except (KeyError, AttributeError):
        raise SettingsError(
            f"Model '{hub_id}' has a {_INDEX} that names no weights; pick another checkpoint."
        ) from None


def _read_early(hub_id: str, listing: Listing, name: str) -> dict[str, Any]:
    """What a small file holds, fetched before the weights; empty if it is not there or broken."""
    from huggingface_hub import hf_hub_download

    if name not in listing.files:
        return {}
    try:
        return read_json(Path(hf_hub_download(hub_id, name)))
    except Exception as error:
        raise said_of(error, "model", hub_id) from error


def _has(hub_id: str, revision: str, name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(hub_id, name, revision=revision), str)


def _refuse_full_disk(hub_id: str, needed: int) -> None:
    from huggingface_hub import constants

    cache = Path(constants.HF_HUB_CACHE)
    there = next(folder for folder in (cache, *cache.parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    if needed > free:
        raise SettingsError(
            f"Model '{hub_id}' needs {needed / 1e9:.1f} GB in {private(str(cache))}, and "
            f"{free / 1e9:.1f} GB are free; free some, or move the hub's cache by HF_HOME."
        )


def write(file: Path, content: dict[str, Any]) -> None:
    """In one move: the parent reads all of it or nothing."""
    later = file.with_suffix(".new")
    later.write_text(json.dumps(content), encoding="utf-8")
    later.replace(file)


if __name__ == "__main__":
    main()
