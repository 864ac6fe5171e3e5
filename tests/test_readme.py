"""What the README names must exist: paths, make targets, presets, terminal commands, settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from playground.config import PRECISIONS, SECTIONS, setting_path
from playground.presets import list_presets

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def _file_map() -> list[str]:
    block = README.split("## File map")[1].split("```")[1]
    paths, folder = [], ""
    for line in block.strip().splitlines():
        name = line.split()[0]
        if line.startswith(" "):
            paths.append(folder + name)
        else:
            folder = name if name.endswith("/") else ""
            paths.append(name)
    return paths


@pytest.mark.parametrize("path", _file_map())
def test_the_file_map_is_true(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("path", re.findall(r"`([\w.]+/[\w./]+)`", README))
def test_named_paths_exist(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`?\bmake ([a-z-]+)", README))))
def test_named_make_targets_exist(target: str) -> None:
    assert target in TARGETS


def test_pictures_exist() -> None:
    for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).exists()


def test_terminal_commands_exist() -> None:
    from playground.__main__ import cli

    names = {c.name or c.callback.__name__ for c in cli.registered_commands}
    used = set(re.findall(r"-m playground (\w+)", README))
    assert used and used <= names


def test_presets_are_the_ones_there_are() -> None:
    line = README.split("- **Presets**:")[1].split("\n\n")[0]
    for preset in list_presets():
        assert f"`{preset.name}`" in line


def test_the_settings_it_explains_are_the_ones_there_are() -> None:
    table = README.split("| setting | what it is for |")[1].split("\n\n")[0]
    named = {name for cell in re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
             for name in re.findall(r"`(\w+)`", cell)}  # fmt: skip
    for name in named - {"seeds"}:
        assert setting_path(name)
    assert set(SECTIONS["quantization"].model_fields) <= named
    assert set(SECTIONS["measure"].model_fields) <= named


def test_the_precision_table_has_every_precision_with_its_bits() -> None:
    table = README.split("## Which precision runs how")[1].split("\n\n")[1]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| ([\d.]+) \|", table, re.MULTILINE))
    assert {name: float(bits) for name, bits in rows.items()} == {
        name: info.storage_bits for name, info in PRECISIONS.items()
    }
