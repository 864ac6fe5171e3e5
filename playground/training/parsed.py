"""What a GGUF file says beside its weights, kept once it has been read: that takes half a minute.

A tokenizer or configuration of such a file is saved in transformers' own format, from which it
loads in a second. What is kept is named after the file (path, size, time of its last change), the
versions of the libraries that read it and of this module, so nothing outdated is ever found. It is
kept only if what loads from it is the same to the letter, and read only if every byte of it is
still what was written; else the GGUF file is read again. Several processes may do so at once.

Rows as tokens are not kept: making tokens of the few thousand rows that most runs need takes less
time than loading the libraries does, and of more rows little beside the steps that draw so many.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playground.catalog.models import ModelEntry

VERSION = 1
KEPT = 16
"""Parts of models that are kept at most; the one that was used longest ago goes first."""

_ABANDONED_S = 3600.0
_DIGESTS = "digests.json"
_LIBRARIES = ("transformers", "tokenizers", "gguf")


def beside(self_tests: Path | None) -> Path | None:
    """Where the runs of one home keep it: beside what its backends' self-tests came to."""
    return self_tests and self_tests.parent / "parsed"


def of_home(home: str | Path | None) -> Path | None:
    """As ``beside``, for who knows the home folder and no run."""
    return Path(home) / "runs" / "parsed" if home else None


def parsed(entry: ModelEntry, part: str, read: Callable[[], Any], folder: Path | None) -> Any:
    """What ``read`` returns, or the same from what is kept of it.

    Args:
        part: ``tokenizer`` or ``configuration``.
        read: reads it from the model's own files.
        folder: where it is kept; None keeps nothing.
    """
    if folder is None or not entry.gguf_file:
        return read()
    place = folder / f"{part}-{_key(entry)}"
    found = _kept(place, part, entry)
    if found is None:
        found = read()
        _keep(found, place, part, entry)
    return found


def _key(entry: ModelEntry) -> str:
    file = Path(entry.path) / entry.gguf_file
    state = file.stat()
    versions = [importlib.metadata.version(library) for library in _LIBRARIES]
    of = [VERSION, str(file.resolve()), state.st_size, state.st_mtime_ns, *versions]
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:24]


def _kept(place: Path, part: str, entry: ModelEntry) -> Any:
    """What is kept there; None, and it is gone, if there is nothing or it is damaged."""
    try:
        if _digests(place) == json.loads((place / _DIGESTS).read_text(encoding="utf-8")):
            os.utime(place)
            return _loaded(place, part, entry)
    except (OSError, ValueError):
        pass
    shutil.rmtree(place, ignore_errors=True)
    return None


def _keep(value: Any, place: Path, part: str, entry: ModelEntry) -> None:
    """Saves it, if it loads as it was. A full disk keeps nothing and stops no run."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=place.parent) as name:
            made = Path(name) / "made"
            value.save_pretrained(made)
            if _said(_loaded(made, part, entry)) != _said(value):
                return
            (made / _DIGESTS).write_text(json.dumps(_digests(made)), encoding="utf-8")
            os.rename(made, place)
        _forget_oldest(place.parent)
    except OSError:
        return  # or another process was as quick


def _digests(place: Path) -> dict[str, str]:
    files = sorted(path for path in place.iterdir() if path.name != _DIGESTS)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _loaded(place: Path, part: str, entry: ModelEntry) -> Any:
    from transformers import AutoConfig, AutoTokenizer

    loader = AutoTokenizer if part == "tokenizer" else AutoConfig
    value = loader.from_pretrained(place)
    value.name_or_path = str(entry.path)  # as if it came from there
    return value


def _said(value: Any) -> Any:
    """All that makes it what it is, to be compared."""
    if not hasattr(value, "backend_tokenizer"):
        return type(value), {**value.to_dict(), "_name_or_path": ""}
    names = ("chat_template", "special_tokens_map", "padding_side", "truncation_side")
    more = ("model_max_length", "model_input_names", "clean_up_tokenization_spaces")
    added = {i: repr(token) for i, token in value.added_tokens_decoder.items()}
    told = [getattr(value, name, None) for name in (*names, *more)]
    return type(value), value.backend_tokenizer.to_str(), added, told


def _forget_oldest(folder: Path) -> None:
    abandoned = time.time() - _ABANDONED_S
    for path in folder.glob(".*"):  # of a process that was killed
        if path.stat().st_mtime < abandoned:
            shutil.rmtree(path, ignore_errors=True)
    kept = [path for path in folder.iterdir() if not path.name.startswith(".")]
    for path in sorted(kept, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
