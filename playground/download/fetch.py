"""Watches the child that fetches a model, says how far it is, and ends it when told to stop.

Files that were complete are kept, so that what was broken off goes on with the next file; the one
that was under way begins anew, as the hub's client keeps no half of it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from playground.catalog.cache import cached_folder
from playground.catalog.entry import ModelEntry
from playground.catalog.words import in_bytes
from playground.config import SettingsError
from playground.download.disk import on_disk, without_halves
from playground.events import Message, Stage
from playground.processes import Child, child_environment, last_line, running

CHILD = ("-P", "-m", "playground.download")  # -P: never import from the cwd
_LOOK_S = 0.2
_SAY_S = 1.0


def fetched(
    entry: ModelEntry, check: Callable[[], None], child: tuple[str, ...] = CHILD
) -> Generator[Stage | Message, None, ModelEntry]:
    """Yields how far the download is; returns the model with its folder, from which it is loaded.

    A model that is on this machine is returned as it is. Without a connection, or where the hub
    does not let us, a whole copy in the cache serves, and that is said.

    Args:
        check: called all the while; raises to give up, and then nothing of the download is left
            running.
        child: arguments of the interpreter that fetches.
    Raises:
        SettingsError: there is no such model, it may not be read, or it cannot be fetched.
    """
    if entry.hub_id is None:
        return entry
    yield Stage(name="asking the hub", detail=entry.id)
    with tempfile.TemporaryDirectory(prefix="fp4-download-") as name:
        folder = Path(name)
        (folder / "request.json").write_text(json.dumps({"hub_id": entry.hub_id}), encoding="utf-8")
        command = [sys.executable, *child, name]
        log = folder / "output.log"
        with without_halves(entry.hub_id), running(command, log, child_environment()) as process:
            yield from _progress(entry.hub_id, folder / "plan.json", process, check)
        found = _answer(entry.hub_id, folder, process)
    if "kept_away" in found:
        cached = cached_folder(entry.hub_id)
        if cached is None:
            raise SettingsError(found["kept_away"])
        why = re.split("; |: open ", found["kept_away"])[0].rstrip(".")  # without the remedy
        yield Message(level="info", text=f"{why}. Its copy in the cache is used.")
        return entry.changed(path=cached)
    if "refused" in found:
        raise SettingsError(found["refused"])
    return entry.changed(path=Path(found["folder"]))


def _progress(
    hub_id: str, plan: Path, process: Child, check: Callable[[], None]
) -> Iterator[Stage]:
    planned, said_at = None, -_SAY_S
    while process.poll() is None:
        check()
        if planned is None and plan.is_file():
            planned = json.loads(plan.read_text(encoding="utf-8"))
        if planned and planned["bytes"] and time.monotonic() - said_at >= _SAY_S:
            said_at = time.monotonic()
            yield _stage(hub_id, on_disk(hub_id) - planned["before"], planned["bytes"])
        time.sleep(_LOOK_S)


def _stage(hub_id: str, done: int, total: int) -> Stage:
    done = max(0, min(done, total))
    detail = f"{hub_id}, {in_bytes(done)} of {in_bytes(total)}"
    return Stage(name="fetching the model", detail=detail, progress=done / total)


def _answer(hub_id: str, folder: Path, process: Child) -> dict[str, Any]:
    file = folder / "answer.json"
    if file.is_file():
        return json.loads(file.read_text(encoding="utf-8"))
    reason = last_line(folder / "output.log") or f"exit code {process.returncode}"
    raise SettingsError(
        f"Model '{hub_id}' could not be fetched ({reason}); start again, and what was complete is "
        "not fetched a second time."
    )
