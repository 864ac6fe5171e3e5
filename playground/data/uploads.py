"""Files that people gave through the page: checked, kept once by their content, never fetched back.

    HOME/uploads/<digest>/<name>.jsonl   the rows, under a name that is safe in any shell or path
    HOME/uploads/<digest>/.called        the name the file came with, for show

What is not yet checked lies in a folder that begins with a dot and goes when it is refused. Reading
a stranger's file is for a child process (``look``); moving it is for the page's (``keep``).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from playground.catalog.datasets import FILE_TYPES, PACKED, kind_of
from playground.config import SettingsError, expand, private
from playground.data.files import open_unpacked
from playground.data.formats import column_key, recognise
from playground.data.rows import Row, stream_rows
from playground.data.split import HEAD_ROWS, HEAD_SIZE

MAX_BYTES = 512 * 2**20
"""Of one file that is given through the page; a larger one is named by its path instead."""

MAX_UNPACKED = 4 * 2**30
"""Bytes that a packed one may hold."""

EXAMPLE_CHARACTERS = 160
_SHOWN_NAME = 120
_CALLED = ".called"
_ARRIVING = ".arriving-"
_ABANDONED_S = 3600.0
"""After so long no upload is still on its way: the server that took it was killed."""


class Upload(NamedTuple):
    """path: what is chosen as the dataset. name: what the person's file is called."""

    path: Path
    name: str


def keep(home: Path, received: Path, name: str, check: Callable[[Path], Any]) -> Upload:
    """Moves a received file to its place in the home folder, once ``check`` has not refused it.

    A second file of the same content and kind is the first. Whatever happens, ``received`` is gone
    afterwards, and of a refused file nothing is left.

    Args:
        name: as the browser tells it: any text at all, used for its ending and for show.
        check: raises SettingsError for a file that cannot be read.
    Raises:
        SettingsError: it is too large, of an unknown kind, refused, or cannot be stored.
    """
    try:
        kind = _kind(name)
        size = received.stat().st_size
        if size > MAX_BYTES:
            raise SettingsError(too_large(name))
        folder = home / "uploads"
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        with tempfile.TemporaryDirectory(prefix=_ARRIVING, dir=folder) as arriving:
            file = Path(arriving) / "kept" / f"{_safe(name, kind)}{kind}"
            file.parent.mkdir()
            shutil.move(received, file)
            check(file)
            (file.parent / _CALLED).write_text(shown(name), encoding="utf-8")
            return _settled(file, folder / _digest(file, kind))
    except OSError as error:
        raise SettingsError(
            f"'{shown(name)}' could not be stored ({error.strerror or type(error).__name__}); make "
            "room in the home folder, or name the file by its path."
        ) from None
    finally:
        received.unlink(missing_ok=True)


def kept(home: Path) -> list[Upload]:
    """All that was given before, by name."""
    found = [upload for each in (home / "uploads").glob("[!.]*") if (upload := _of(each))]
    return sorted(found, key=lambda upload: (upload.name.lower(), upload.path))


def called(dataset: str) -> str:
    """A dataset as people know it: what an uploaded file came as, else its id or path."""
    try:
        return (expand(dataset).parent / _CALLED).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return private(dataset)


def shown(name: str) -> str:
    """A file's name as a sentence has room for it: its last part, whole characters only."""
    last = re.split(r"[/\\]", name)[-1].encode("utf-8", "replace").decode()
    return last if len(last) <= _SHOWN_NAME else f"{last[: _SHOWN_NAME - 1]}…"


def too_large(name: str) -> str:
    return (
        f"'{shown(name)}' is larger than {MAX_BYTES // 2**20} MiB, which is the most that can be "
        "uploaded; put it on the machine that runs this page and name it by its path."
    )


def look(path: Path) -> dict[str, Any]:
    """Reads a stranger's file as far as a short run would, and unpacks all of a packed one.

    Returns:
        as ``columns_of``.
    Raises:
        SettingsError: it is not what its name says, holds no row, or unpacks beyond measure.
    """
    if path.stat().st_size == 0:
        raise SettingsError(f"'{path.name}' is empty; choose a file with rows in it.")
    _refuse_bomb(path)
    first, size = None, 0
    for number, row in enumerate(stream_rows([path])):
        first, size = first or row, size + row.size
        if number >= HEAD_ROWS or size >= HEAD_SIZE:
            break
    return columns_of(first)


def columns_of(first: Row) -> dict[str, Any]:
    """The columns of a source by its first row, for JSON.

    Returns:
        ``columns``: ``{"name", "kind", "example"}`` of each: ``text``, ``number``, ``list``,
        ``object`` or ``nothing``, and the first value as text.
        ``recognised``: the column of each part where the usual names tell, else None.
    """
    names = {column_key(name): str(name).strip() for name in first.cells}
    try:
        parts = recognise(first).columns
        recognised = {part: names[key] for part, key in parts.items() if key in names}
    except SettingsError:
        recognised = None
    return {
        "columns": [
            {"name": str(name).strip(), "kind": _kind_of(value), "example": _example(value)}
            for name, value in first.cells.items()
        ],
        "recognised": recognised,
    }


def _kind_of(value: Any) -> str:
    kinds = {str: "text", list: "list", dict: "object"}
    nothing = value is None or value != value
    return "nothing" if nothing else kinds.get(type(value), "number")


def _example(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= EXAMPLE_CHARACTERS else f"{text[:EXAMPLE_CHARACTERS]}…"


def _refuse_bomb(path: Path) -> None:
    for size in _unpacked(path):
        if size > MAX_UNPACKED:
            raise SettingsError(
                f"'{path.name}' unpacks to more than {MAX_UNPACKED // 2**30} GiB; divide it, or "
                "name it by its path on the machine that runs this page."
            )


def _unpacked(path: Path) -> Iterator[int]:
    """How many bytes it holds, counted as they are unpacked."""
    if kind_of(path) == ".parquet":
        # What a file says of itself may be a lie, so the process that reads it is short of memory.
        import pyarrow
        import pyarrow.parquet

        try:
            about = pyarrow.parquet.read_metadata(path)
        except (OSError, ValueError, pyarrow.ArrowException):
            return  # reading rows says it better
        yield sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    elif path.suffix.lower() in PACKED:
        size = 0
        try:
            with open_unpacked(path) as content:
                while chunk := content.read(2**20):
                    size += len(chunk)
                    yield size
        except (OSError, EOFError) as error:
            raise SettingsError(
                f"'{path.name}' could not be unpacked ({error}); it is damaged or incomplete, so "
                "pack it again."
            ) from None


def _kind(name: str) -> str:
    """``.csv.gz`` of ``rows.CSV.GZ``."""
    lower = name[-_SHOWN_NAME:].lower()  # however long, and whatever stands before
    packed = next((ending for ending in PACKED if lower.endswith(ending)), "")
    kind = kind_of(Path(lower))
    if kind not in FILE_TYPES or (packed and kind == ".parquet"):
        raise SettingsError(
            f"'{shown(name)}' is of a kind that cannot be read; choose one of "
            f"{', '.join(FILE_TYPES)}, which may be packed as {' or '.join(PACKED)}."
        )
    return kind + packed


def _safe(name: str, kind: str) -> str:
    stem = re.split(r"[/\\\\]", name)[-1].lower().removesuffix(kind)
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:40].strip("-") or "rows"


def _digest(file: Path, kind: str) -> str:
    """Of the content and of how it is read."""
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256")
    digest.update(kind.encode())
    return digest.hexdigest()[:16]


def _settled(file: Path, place: Path) -> Upload:
    """The arriving folder in its place, by one rename; or what was there before."""
    try:
        os.rename(file.parent, place)
    except OSError:  # it is there, not empty: the same file came before, or at the same time
        if (there := _of(place)) is None:
            raise
        return there
    return _of(place)


def _of(place: Path) -> Upload | None:
    files = [path for path in place.glob("[!.]*") if path.is_file()]
    if len(files) != 1:
        return None
    try:
        return Upload(files[0], (place / _CALLED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Upload(files[0], files[0].name)


def _sweep(folder: Path) -> None:
    """Removes what a server that was killed had begun to take."""
    for path in folder.glob(f"{_ARRIVING}*"):
        if time.time() - path.stat().st_mtime > _ABANDONED_S:
            shutil.rmtree(path, ignore_errors=True)
