"""What lies of a model in the hub's cache: how much of it, and the halves nobody will finish."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock


def on_disk(hub_id: str) -> int:
    """Bytes that the files of a model take; a file that is filled from several ends has gaps."""
    size = 0
    with suppress(FileNotFoundError):  # nothing was fetched yet
        for file in os.scandir(_cache() / _name(hub_id) / "blobs"):
            with suppress(FileNotFoundError):  # it was moved meanwhile
                found = file.stat()
                size += min(found.st_blocks * 512, found.st_size)
    return size


@contextmanager
def without_halves(hub_id: str) -> Iterator[None]:
    """When the block is entered and when it is left, halves that nobody will finish are removed."""
    remove_halves(hub_id)
    try:
        yield
    finally:
        remove_halves(hub_id)


def remove_halves(hub_id: str) -> None:
    """Removes the files of a model whose download was broken off.

    The hub's client gives each a name of its own and does not come back to it. It holds the lock of
    a file for as long as it writes it, and the system takes a lock from a process that was killed:
    a half that is not locked belongs to nobody, and one that is locked stays.
    """
    for half in (_cache() / _name(hub_id) / "blobs").glob("*.incomplete"):
        lock = _cache() / ".locks" / _name(hub_id) / f"{half.name.split('.')[0]}.lock"
        # It is locked, it is another user's, or this file system has no locks to tell by.
        with suppress(OSError, NotImplementedError), FileLock(lock, timeout=0, mode=0o664):
            half.unlink(missing_ok=True)


def _cache() -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def _name(hub_id: str) -> str:
    from huggingface_hub.file_download import repo_folder_name

    return repo_folder_name(repo_id=hub_id, repo_type="model")
