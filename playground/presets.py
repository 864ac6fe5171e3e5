"""Presets: ``presets/<name>.yaml`` over ``presets/_defaults.yaml`` -> a checked RunConfig.

The form of the page and ``--set`` of the terminal say the same: a setting and a text for a value.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args, get_origin

import yaml

from playground.config import (
    PRECISIONS,
    SECTIONS,
    RunConfig,
    SettingsError,
    check_precision,
    expand,
    field_of,
    nearest,
    parse_config,
    setting_path,
)

FOLDER = Path(__file__).parent.parent / "presets"
_WORDS = ("title", "summary", "expect", "takes", "machine", "precisions", "seeds")
_MOST_SEEDS = 100
_KEYS = (*_WORDS, "model", "dataset", *SECTIONS)
_LONGEST_TITLE = 80
_LARGEST = 100_000  # bytes; a preset is a page of text


@dataclass(frozen=True)
class Preset:
    """A comparison that can be started.

    Attributes:
        name: id of a preset in ``presets/``, or the file's stem.
        title / summary / expect: what it is, in a line, with the settings that were changed since;
            in two; and what one will probably see.
        takes: how long, and on what, in a few words; empty where nobody has measured it.
        machine: what it is meant for; a "gpu" one would take days on a CPU.
        own: a person's own, from the home folder.
        precisions: in the order in which they run.
        config: the run in the first of them.
        seeds: how often each precision is repeated, with ``seed``, ``seed + 1``, ...
    """

    name: str
    title: str
    summary: str
    expect: str
    precisions: tuple[str, ...]
    config: RunConfig
    seeds: int = 1
    takes: str = ""
    machine: Literal["any", "gpu"] = "any"
    own: bool = False

    @property
    def configs(self) -> list[RunConfig]:
        """One for each seed and precision, seed by seed: within a seed nothing else differs."""
        first = self.config.training.seed
        return [
            self.config.with_precision(name).with_seed(first + repetition)
            for repetition in range(self.seeds)
            for name in self.precisions
        ]


def list_presets() -> list[Preset]:
    """Every preset of ours, ``quick`` first."""
    names = sorted(_names(), key=lambda name: (name != "quick", name))
    return [load_preset(name) for name in names]


def load_preset(
    name_or_path: str, overrides: Mapping[str, str] | None = None, home: Path | None = None
) -> Preset:
    """A preset by name or file, with settings changed as if typed.

    Its title says what was changed, for people to tell one comparison from another.

    Args:
        overrides: ``{"max_steps": "40", "training.seed": "7", "precisions": "fp16,nvfp4"}``;
            an empty text or ``null`` leaves out what may be left out.
        home: the home folder, whose ``presets/`` holds a person's own; ours come first.
    Raises:
        SettingsError: anything is unknown, missing or out of range.
    """
    path = _path(name_or_path, home)
    values = _merged(defaults(), _read(path), path)
    words = {key: values.pop(key, None) for key in _WORDS}
    preset_seeds = _seeds(words["seeds"])
    changed, typed, names = copy.deepcopy(values), {}, words["precisions"]
    for key, text in (overrides or {}).items():
        if key in ("precisions", "precision"):
            names = _listed(text)
        elif key == "seeds":
            words["seeds"] = text
        else:
            *section, leaf = setting_path(key)
            (changed[section[0]] if section else changed)[leaf] = _plain(key, text)
            typed[setting_path(key)] = text
    precisions = _precisions(names)
    config = parse_config({**changed, "precision": precisions[0]})
    differences = _differences(values, typed, config)
    if list(precisions) != words["precisions"]:
        differences.insert(0, ", ".join(PRECISIONS[name].label for name in precisions))
    seeds = _seeds(words["seeds"])
    if seeds != preset_seeds:
        differences.insert(0, f"{seeds} seeds")
    return Preset(
        name=path.stem,
        title=_title(str(words["title"] or path.stem), differences),
        summary=str(words["summary"] or "").strip(),
        expect=str(words["expect"] or "").strip(),
        precisions=precisions,
        config=config,
        seeds=seeds,
        takes=str(words["takes"] or "").strip(),
        machine=_machine(words["machine"]),
        own=home is not None and path.parent == own_folder(home),
    )


def defaults() -> dict[str, Any]:
    """``presets/_defaults.yaml`` as nested texts, as written: each setting's default, once."""
    return _read(FOLDER / "_defaults.yaml")


def own_folder(home: Path) -> Path:
    """Where a person's own presets are, a file each."""
    return expand(home) / "presets"


def own_names(home: Path | None) -> list[str]:
    """Names of a person's own presets, whether or not they can be read."""
    found = own_folder(home).glob("[!._]*.yaml") if home is not None else ()
    return sorted(path.stem for path in found)


def _names() -> list[str]:
    # _defaults.yaml and catalog.yaml lie beside the presets.
    others = ("_defaults", "catalog")
    return [path.stem for path in FOLDER.rglob("*.yaml") if path.stem not in others]


def _path(name_or_path: str, home: Path | None) -> Path:
    names, own = _names(), own_names(home)
    if name_or_path in names:
        return next(path for path in FOLDER.rglob("*.yaml") if path.stem == name_or_path)
    if home is not None and name_or_path in own:
        return own_folder(home) / f"{name_or_path}.yaml"
    if "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        path = expand(name_or_path)
        if not path.is_file():
            raise SettingsError(f"Preset file '{name_or_path}' does not exist; check the path.")
        return path
    raise SettingsError(
        f"Preset '{name_or_path}' is unknown; choose from {', '.join(sorted({*names, *own}))},"
        f" or give the path of a .yaml file.{nearest(name_or_path, [*names, *own])}"
    )


def _read(path: Path) -> dict[str, Any]:
    there = path.stat()
    if there.st_size > _LARGEST:
        raise SettingsError(f"Preset '{path}' is over {_LARGEST:,} bytes; a preset is short text.")
    # The page asks again with every step that it draws, and reading YAML takes milliseconds.
    return copy.deepcopy(_parsed(path, there.st_ino, there.st_mtime_ns, there.st_size))


@lru_cache(64)
def _parsed(path: Path, *as_of: int) -> dict[str, Any]:
    """A file of presets as of its inode, time and size."""
    try:
        values = _nulls(yaml.load(path.read_text(encoding="utf-8-sig"), Loader=_TextLoader))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"Preset '{path}' cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise SettingsError(f"Preset '{path}' has a mistake{where}: {problem}.") from None
    except RecursionError:
        raise SettingsError(f"Preset '{path}' is nested too deeply; a preset is flat.") from None
    if not isinstance(values, dict):
        raise SettingsError(f"Preset '{path}' holds no settings; write them as 'name: value'.")
    return values


class _TextLoader(yaml.BaseLoader):
    """Leaves every value as the text it is, for the settings themselves to read, as from ``--set``.

    YAML would make a date of 2024-01-01, 3600 of 1:00:00, and nothing that it finds odd of 2e-4. A
    key that is written twice is refused; YAML would silently take the second.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a name stands before each colon, not a list", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"'{key.value}' is written twice; keep one", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _nulls(value: Any) -> Any:
    """Text that YAML reads as "no value" becomes None, at any depth."""
    if isinstance(value, dict):
        return {key: _nulls(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_nulls(inner) for inner in value]
    return None if value in ("", "null", "~") else value


def _merged(base: dict[str, Any], preset: dict[str, Any], path: Path) -> dict[str, Any]:
    """The preset's values over the defaults, section by section."""
    merged = {key: dict(value) if key in SECTIONS else value for key, value in base.items()}
    for key, value in preset.items():
        if key in SECTIONS:
            if not isinstance(value, dict):
                raise SettingsError(
                    f"'{key}' in preset '{path.name}' is {value!r}; write settings under it."
                )
            merged[key].update(value)
        elif key in _KEYS:
            merged[key] = value
        else:
            _refuse_key(str(key), path)
    return merged


def _refuse_key(key: str, path: Path) -> NoReturn:
    home = next((name for name, part in SECTIONS.items() if key in part.model_fields), None)
    if home:
        raise SettingsError(f"'{key}' in preset '{path.name}' belongs under '{home}:'; move it.")
    raise SettingsError(
        f"'{key}' in preset '{path.name}' is unknown; remove it.{nearest(key, list(_KEYS))}"
    )


def _plain(key: str, text: str) -> Any:
    """A typed text as the plain value that parse_config checks; it reads numbers from text."""
    text = text.strip()
    field = field_of(key)
    if text in ("", "null") and type(None) in getattr(field.annotation, "__args__", ()):
        return None
    return _listed(text) if _takes_names(field) and text not in _words(field) else text


def _listed(text: str) -> list[str]:
    """``a, b``; also in brackets, as a preset writes it and the messages show it."""
    if text.strip().startswith("[") and text.strip().endswith("]"):
        text = text.strip()[1:-1]
    return [part.strip() for part in text.split(",") if part.strip()]


def _takes_names(field: Any) -> bool:
    return any(get_origin(kind) is tuple for kind in get_args(field.annotation))


def _words(field: Any) -> tuple[str, ...]:
    """``all-linear``, ``none``: what a setting that takes names takes instead."""
    kinds = get_args(field.annotation)
    return tuple(w for kind in kinds if get_origin(kind) is Literal for w in get_args(kind))


def _differences(
    preset: dict[str, Any], typed: Mapping[tuple[str, ...], str], config: RunConfig
) -> list[str]:
    """``max_steps=8``, as typed, for each setting that is not what the preset has anyway."""
    try:
        own = parse_config({**preset, "precision": config.precision})
    except SettingsError:  # a preset that is complete only with what was typed
        own = None
    return [
        f"{path[-1]}={_shown(path[-1], text)}"
        for path, text in typed.items()
        if own is None or attrgetter(".".join(path))(own) != attrgetter(".".join(path))(config)
    ]


def _shown(key: str, text: str) -> str:
    text = " ".join(text.split()) or "null"
    is_file = text.startswith(("/", ".", "~")) or os.path.exists(text)
    return Path(text).name if key in ("model", "dataset") and is_file else text


def _title(title: str, differences: list[str]) -> str:
    """A comparison is recognised in a list by what is its own; the preset's title alone is not."""
    if not differences:
        return title
    title = f"{title}: {', '.join(differences)}"
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"


def _machine(value: Any) -> Literal["any", "gpu"]:
    if value not in (None, "any", "gpu"):
        raise SettingsError(f"'machine' is {value!r}; write any or gpu.")
    return value or "any"


def _seeds(value: Any) -> int:
    text = "1" if value is None else str(value).strip()
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_SEEDS:
        raise SettingsError(
            f"'seeds' is {value!r}; give how often each precision is repeated, 1 to {_MOST_SEEDS}."
        )
    return int(text)


def _precisions(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise SettingsError(
            f"'precisions' is {names!r}; give at least one, such as [fp16, nvfp4] in a preset"
            " or precisions=fp16,nvfp4."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise SettingsError(f"Precision '{twice}' is given twice; a comparison needs it once.")
    return tuple(check_precision(name) for name in names)
