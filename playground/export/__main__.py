"""The child: ``python -m playground.export RUN KIND FOLDER --home HOME --say FILE [--archive]``.

Appends lines of JSON to FILE: ``{"doing": ...}`` on the way, and at last one with the ``report`` of
the check, or ``{"refused": sentence}``.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playground.config import SettingsError
from playground.export.offers import KINDS, archive_of, folder_of, remove_unfinished
from playground.failures import is_out_of_memory
from playground.processes import lines_from_parent
from playground.store import RunStore

_DELETED = "The run was deleted while it was exported, so nothing was kept of the export."


def main() -> None:
    parser = argparse.ArgumentParser(description="Make an export; page and terminal call this.")
    parser.add_argument("run")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--say", type=Path, required=True)
    parser.add_argument("--archive", action="store_true")
    asked = parser.parse_args()
    leave = threading.Thread(target=_leave_with_parent, args=[asked.folder], daemon=True)
    leave.start()

    def say(**said: Any) -> None:
        with asked.say.open("a", encoding="ascii") as file:
            file.write(json.dumps(said) + "\n")

    try:
        say(**_carry_out(asked, lambda doing, share=None: say(doing=doing, share=share)))
    except SettingsError as error:
        say(refused=str(error))
    except Exception as error:
        gone = isinstance(error, FileNotFoundError) and _is_gone(asked)
        if (sentence := _DELETED if gone else _foreseen(error)) is None:
            raise
        say(refused=sentence)


def _carry_out(asked: argparse.Namespace, doing: Callable[..., None]) -> dict[str, Any]:
    store = RunStore(asked.home)
    run = store.get_run(asked.run)
    doing("loading the libraries")
    from playground.export.writing import write_archive, write_export

    report = write_export(store, run, asked.kind, asked.folder, doing)
    if asked.archive and asked.folder == folder_of(store, run.id, asked.kind):
        doing("packing it into one file")
        try:
            write_archive(asked.folder, archive_of(store, run.id, asked.kind))
        except OSError as error:
            raise SettingsError(
                "The export is whole and checked in the run's folder, but the one file to download "
                f"could not be written ({error.strerror}); make room, and ask again."
            ) from None
    return {"doing": "verified", "report": report}


def _foreseen(error: Exception) -> str | None:
    full = (errno.ENOSPC, errno.EDQUOT)
    # safetensors raises an error of its own that only quotes the system's.
    if getattr(error, "errno", None) in full or "No space left" in str(error):
        return "The disk is full, so nothing was kept of the export; make room, and ask again."
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EROFS, errno.ENOTDIR):
        return f"The folder cannot be written ({error.strerror}); name another one."
    if is_out_of_memory(error):
        return "There is not enough memory to export this model; do it on a machine with more."
    return None


def _is_gone(asked: argparse.Namespace) -> bool:
    """Whether the run was deleted, with its folder, while it was exported."""
    try:
        RunStore(asked.home).get_run(asked.run)
    except SettingsError:
        return True
    return False


def _leave_with_parent(folder: Path) -> None:
    """Nobody else is there to remove what is half written."""
    for _ in lines_from_parent():  # nobody writes
        pass
    remove_unfinished(folder)
    os._exit(1)


if __name__ == "__main__":
    main()
