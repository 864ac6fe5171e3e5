"""Folders that are complete or absent, whenever the process or the machine dies."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PARTIAL = ".partial"
"""How the name of a folder ends that is being written or removed; such a one is worth nothing."""


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into, which becomes ``folder`` in one step once all of it is on the disk.

    An earlier ``folder`` stays until then. Whatever is raised inside leaves it as it was.
    """
    partial = folder.with_name(folder.name + PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        for path in [*partial.rglob("*"), partial]:
            _flush(path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    if folder.exists():
        remove_folder(folder)
    os.replace(partial, folder)
    _flush(folder.parent)


def remove_folder(folder: Path) -> None:
    """Removes ``folder``, which never is there in part under its own name."""
    going = folder.with_name(f"{folder.name}.old{PARTIAL}")
    shutil.rmtree(going, ignore_errors=True)
    os.replace(folder, going)
    shutil.rmtree(going)


def remove_partial(parent: Path) -> None:
    """Removes what a process that died in the middle left in ``parent``."""
    for path in parent.glob(f"*{PARTIAL}"):
        shutil.rmtree(path)


def _flush(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
