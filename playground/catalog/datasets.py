"""Datasets: which are bundled, and what a name typed by a person stands for."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from playground.catalog.names import ASSETS, as_path, is_hub_id, looks_like_path
from playground.config import SettingsError, nearest

FILE_TYPES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".txt")
PACKED = (".gz", ".zst")
"""May follow each of FILE_TYPES but .parquet, which packs its own columns."""

_HELD_OUT_NAMES = (("validation", "valid", "val", "eval", "evaluation", "dev"), ("test",))
_TRAIN_NAMES = {"train", "training"}
_SUBFOLDERS = _TRAIN_NAMES.union({"data"}, *_HELD_OUT_NAMES)
_HUB_PART = re.compile(r"(?P<id>[^:\[\]]+)(:(?P<config>[\w.-]+))?(\[(?P<split>[\w.-]+)\])?")


class DatasetEntry(BaseModel):
    """A dataset that can be read.

    Attributes:
        id: what a person types and what a run records.
        train_files: the local files to train on, in order; none for a hub dataset.
        eval_files: those of held-out rows; none when they must be split off the others.
        other_files: those of a folder that are neither, by their names, and are not read.
        hub_id: ``owner/name`` on the Hugging Face hub; whether it exists is found on loading.
        hub_config: which of its subsets, where it has several; typed as ``owner/name:config``.
        hub_split: typed as ``owner/name[split]``.
        licence: an SPDX name, or None when we cannot know.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    title: str
    summary: str
    train_files: tuple[Path, ...] = ()
    eval_files: tuple[Path, ...] = ()
    other_files: tuple[Path, ...] = ()
    hub_id: str | None = None
    hub_config: str | None = None
    hub_split: str = "train"
    licence: str | None = None


def _bundled(id: str, title: str, summary: str) -> DatasetEntry:
    folder = ASSETS / "datasets" / id
    return DatasetEntry(
        id=id,
        title=title,
        summary=summary,
        train_files=(folder / "train.jsonl",),
        eval_files=(folder / "eval.jsonl",),
        licence="Apache-2.0",
    )


BUNDLED = (
    _bundled(
        "sentences-to-json",
        "Sentences to JSON",
        "A sentence about someone becomes an object with name, age, job and city.",
    ),
    _bundled(
        "iso-dates",
        "ISO dates",
        "A date in one of many spellings becomes year-month-day.",
    ),
    _bundled(
        "unit-conversion",
        "Unit conversion",
        "An amount in one unit, such as kilometres, in a smaller one, such as metres.",
    ),
)


def list_datasets() -> list[DatasetEntry]:
    """Every bundled dataset."""
    return list(BUNDLED)


def resolve_dataset(name: str) -> DatasetEntry:
    """What ``name`` stands for: a bundled dataset, else a local file or folder, else a hub id.

    A hub id may be followed by a config, a split or both: ``owner/name:config[split]``.

    Raises:
        SettingsError: it is none of these, or a file of a kind we do not read; with the remedy.
    """
    known = {entry.id: entry for entry in BUNDLED}
    if name in known:
        return known[name]
    path = as_path(name)
    if path is not None:
        return _folder(name, path) if path.is_dir() else _file(name, path)
    if looks_like_path(name) or kind_of(Path(name)) in FILE_TYPES:
        raise SettingsError(f"Dataset '{name}' does not exist; check the path to the file.")
    part = _HUB_PART.fullmatch(name)
    if part and is_hub_id(part["id"]):
        return DatasetEntry(
            id=name,
            title=name,
            summary="From the Hugging Face hub; fetched when the run loads it.",
            hub_id=part["id"],
            hub_config=part["config"],
            hub_split=part["split"] or "train",
        )
    raise SettingsError(
        f"Dataset '{name}' is neither an id ({', '.join(known)}), nor a local file or folder, nor "
        f"a hub id of the form owner/name or owner/name:config[split]; choose one of these."
        f"{nearest(name, list(known))}"
    )


def kind_of(path: Path) -> str:
    """``.csv`` of ``rows.CSV`` and of ``rows.csv.gz``."""
    name = path.name.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    return Path(name).suffix


def _file(name: str, path: Path) -> DatasetEntry:
    types = ", ".join(FILE_TYPES)
    if not path.is_file():
        raise SettingsError(f"Dataset '{name}' is not a file; give one of the kinds {types}.")
    if kind_of(path) not in FILE_TYPES:
        raise SettingsError(
            f"Dataset '{name}' is of a kind that cannot be read; convert it to one of {types}, "
            f"which may be packed as {' or '.join(PACKED)}."
        )
    _refuse_unreadable(name, path)
    return DatasetEntry(
        id=name, title=path.name, summary="A file on this machine.", train_files=(path,)
    )


def _folder(name: str, folder: Path) -> DatasetEntry:
    """The files of a folder and of ``data``, ``train``, ... in it, told apart by their names."""
    if not os.access(folder, os.R_OK | os.X_OK):
        raise _may_not_be_read(name)
    below = [path for path in folder.glob("*/*") if _words(path.parent.name) & _SUBFOLDERS]
    found = [
        path
        for path in sorted((*folder.glob("*"), *below))
        if path.is_file() and kind_of(path) in FILE_TYPES and not _hidden(path, folder)
    ]
    train, held_out, others = _by_name(found, folder)
    if not train:
        only = f" but held-out rows ({held_out[0].name})" if held_out else ""
        raise SettingsError(
            f"Dataset folder '{name}' holds nothing to train on{only}; "
            f"put files of the kinds {', '.join(FILE_TYPES)} there."
        )
    for path in (*train, *held_out):
        _refuse_unreadable(str(path), path)
    return DatasetEntry(
        id=name,
        title=folder.name,
        summary="A folder on this machine.",
        train_files=train,
        eval_files=held_out,
        other_files=others,
    )


class _ByName(NamedTuple):
    train: tuple[Path, ...]
    held_out: tuple[Path, ...]
    others: tuple[Path, ...]


def _by_name(files: list[Path], folder: Path) -> _ByName:
    """Training files are those that say ``train``, or else all that say nothing else.

    Held out are those that say ``validation`` (or ``eval``, ``dev``), or else ``test``.
    """
    words = {path: _words(str(path.relative_to(folder))) for path in files}
    named = [[p for p in files if words[p] & set(names)] for names in _HELD_OUT_NAMES]
    asked = next((group for group in named if group), [])
    not_asked = [path for path in files if not any(path in group for group in named)]
    train = [path for path in not_asked if words[path] & _TRAIN_NAMES] or not_asked
    others = [path for path in files if path not in train and path not in asked]
    return _ByName(tuple(train), tuple(asked), tuple(others))


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z]+", name.lower()))


def _hidden(path: Path, folder: Path) -> bool:
    # What save_pretrained, save_to_disk and a dataset card leave beside the rows is none.
    about = path.name in ("dataset_info.json", "dataset_dict.json", "dataset_infos.json")
    state = path.name in ("state.json", "README.txt", "LICENSE.txt")
    return about or state or any(p.startswith(".") for p in path.relative_to(folder).parts)


def _refuse_unreadable(name: str, path: Path) -> None:
    if not os.access(path, os.R_OK):
        raise _may_not_be_read(name)


def _may_not_be_read(name: str) -> SettingsError:
    return SettingsError(f"Dataset '{name}' may not be read; give yourself permission to read it.")
