"""A person's own presets: a readable file each, in ``presets/`` of the home folder."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from playground.config import SECTIONS, RunConfig, SettingsError, parse_config
from playground.presets import FOLDER, Preset, defaults, load_preset, own_folder, own_names

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")

_HEAD = "# Saved on {day}. What is not here is as in presets/_defaults.yaml.\n"
_YOURS = {
    "summary": "summary:   # what it is, in two lines: yours to write\n",
    "expect": "expect:    # what one will probably see: yours to write\n",
}


def own_presets(home: Path) -> tuple[list[Preset], dict[str, str]]:
    """Those that can be used, and by name what is wrong with the others, in a sentence each."""
    good: list[Preset] = []
    wrong: dict[str, str] = {}
    for name in own_names(home):
        try:
            preset = load_preset(name, home=home)
        except SettingsError as error:
            wrong[name] = str(error)
            continue
        if preset.own:  # one of ours may have come to have the same name; it goes before
            good.append(preset)
    return good, wrong


def is_own(name: str, home: Path) -> bool:
    """Whether one of the person's own has this name."""
    return name in own_names(home)


def save_preset(
    preset: Preset, name: str, home: Path, title: str = "", *, replace: bool = False
) -> Path:
    """Writes a comparison's settings as a preset of the person's own.

    Args:
        name: what ``compare NAME`` and the file will be called.
        title: what the card says; empty takes the name, or that of the one that is replaced.
        replace: write over one of that name; what its owner wrote about it stays.
    Raises:
        SettingsError: the name cannot be one or is taken, or the file cannot be written.
    """
    path = _own_path(name.strip(), home)
    title, summary, expect = title.strip(), "", ""
    if path.exists() and replace:
        with suppress(SettingsError):  # of one that cannot be read nothing can be kept
            earlier = load_preset(path.stem, home=home)
            title, summary, expect = title or earlier.title, earlier.summary, earlier.expect
    elif path.exists():
        raise SettingsError(
            f"Preset name '{path.stem}' is taken by one of yours; delete that, or choose another."
        )
    _write(path, as_yaml(preset, title or path.stem, summary, expect))
    return path


def delete_preset(name: str, home: Path) -> None:
    """Raises SettingsError if no preset of the person's own has that name."""
    if name not in own_names(home):
        raise SettingsError(f"Preset '{name}' is none of yours; there is nothing to delete.")
    (own_folder(home) / f"{name}.yaml").unlink(missing_ok=True)


def rename_preset(name: str, new: str, home: Path) -> str:
    """Gives one of the person's own another name, and returns it.

    Raises:
        SettingsError: there is none, or the new name cannot be one or is taken.
    """
    if not is_own(name, home):
        raise SettingsError(f"Preset '{name}' is none of yours; there is nothing to rename.")
    path = _own_path(new.strip(), home)
    if path.exists():
        raise SettingsError(f"Preset name '{path.stem}' is taken by one of yours; choose another.")
    old = own_folder(home) / f"{name}.yaml"
    try:
        text = old.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise SettingsError(f"Preset '{name}' cannot be read; mend or delete its file.") from None
    # A title that was never chosen is the name.
    _write(path, text.replace(f"\ntitle: {name}\n", f"\ntitle: {path.stem}\n", 1))
    old.unlink()
    return path.stem


def _write(path: Path, text: str) -> None:
    """In one move: nobody reads half a preset."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise SettingsError(
            f"Preset '{path.stem}' cannot be written: {error.strerror}; "
            f"see that '{path.parent}' is a folder with room."
        ) from None


def as_yaml(preset: Preset, title: str, summary: str = "", expect: str = "") -> str:
    """The file's text: its head, and the settings that differ from the defaults."""
    day = time.strftime("%Y-%m-%d")
    about = {"summary": summary, "expect": expect}
    head = [_HEAD.format(day=day), _line("title", title)]
    head += [_line(key, said) if said else _YOURS[key] for key, said in about.items()]
    parts = ["".join(head)]
    what: dict[str, Any] = {"precisions": list(preset.precisions)}
    if preset.seeds != 1:
        what["seeds"] = preset.seeds
    what |= {"model": preset.config.model, "dataset": preset.config.dataset}
    parts.append("".join(_line(*item) for item in what.items()))
    for section, changed in _changed(preset.config).items():
        lines = "".join(f"  {_line(*item)}" for item in changed.items())
        parts.append(f"{section}:\n{lines}")
    return "\n".join(parts)


def _changed(config: RunConfig) -> dict[str, dict[str, Any]]:
    """By section, the settings that are not as ``_defaults.yaml`` has them."""
    top = {"model": config.model, "dataset": config.dataset, "precision": config.precision}
    usual = parse_config({**defaults(), **top}).model_dump(mode="json")
    own = config.model_dump(mode="json")
    found = {
        section: {k: v for k, v in own[section].items() if v != usual[section][k]}
        for section in SECTIONS
    }
    return {section: changed for section, changed in found.items() if changed}


def _line(key: str, value: Any) -> str:
    written = {"allow_unicode": True, "width": float("inf")}
    if isinstance(value, list):
        return f"{key}: {yaml.safe_dump(value, default_flow_style=True, **written)}"
    return yaml.safe_dump({key: value}, **written)


def _own_path(name: str, home: Path) -> Path:
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"Preset name {_shown(name)} cannot be used; take 1 to 40 small letters, digits and "
            "hyphens, such as my-first."
        )
    if next(FOLDER.rglob(f"{name}.yaml"), None):
        raise SettingsError(
            f"Preset name '{name}' is taken by one that comes with the project; choose another."
        )
    return own_folder(home) / f"{name}.yaml"


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else f"{name[:60]}…")
