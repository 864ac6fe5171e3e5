"""How much of a model lies in the hub's cache, half files included."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def on_disk(hub_id: str) -> int:
    """Bytes that the files of a model take; a file that is filled from several ends has gaps."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    repo = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=hub_id, repo_type="model")
    size = 0
    with suppress(FileNotFoundError):  # nothing was fetched yet
        for file in os.scandir(repo / "blobs"):
            with suppress(FileNotFoundError):  # it was moved meanwhile
                found = file.stat()
                size += min(found.st_blocks * 512, found.st_size)
    return size
