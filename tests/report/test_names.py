"""A comparison's name is told as it was typed, and is never a path, markup, a formula or a word of
a shell.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
from html import escape
from pathlib import Path

import pytest

from playground.own_presets import save_preset
from playground.presets import load_preset
from playground.store import RunStore
from playground.ui import form
from playground.ui.report import FORMATS, as_text, file_name
from tests.report.scripted import scripted

NAMES = [
    "../../x",
    "a/b",
    "n" * 300,
    "🦙 emoji 東京",
    "$(touch x)",
    '\'; touch x; `touch x` "$HOME" \\ | & > x',
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_told_as_typed_and_is_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    store = RunStore(tmp_path / "home")
    group = scripted(store, title=name, max_steps="1", precisions="fp16")

    made = {kind: as_text(store, group, kind) for kind in FORMATS}
    assert escape(name) in made["html"]
    assert json.loads(made["json"])["title"] == name
    rows = csv.DictReader(io.StringIO(made["csv"], newline=""))
    assert {row["title"].removeprefix("'") for row in rows} == {name.removeprefix("'")}
    for kind in FORMATS:
        assert file_name(group, kind) == f"fp4-report-{group.id}.{kind}"

    # What the page gives to copy is pasted into a shell.
    said = f"set -- {form.command(group, store.home)}; printf '%s\\0' \"$@\""
    words = subprocess.run(["sh", "-c", said], capture_output=True, check=True).stdout.decode()
    assert name in words.split("\0")

    save_preset(load_preset("quick"), "mine", store.home, title=name)
    assert load_preset("mine", home=store.home).title == name
    assert list(work.iterdir()) == [] and not (tmp_path / "x").exists()
    assert sorted(path.name for path in (store.home / "runs").iterdir()) == [*group.run_ids]
