"""The command in a report, read as a shell reads it, makes the configurations that it tells of."""

from __future__ import annotations

import re
import shlex
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from playground import __main__ as terminal
from playground.catalog.names import public_name
from playground.data.uploads import keep
from playground.presets import Preset, load_preset
from playground.store import Group, RunStore
from playground.ui.report import as_text

OWN = """
title: My preset
precisions: [nvfp4, fp32]
model: tiny
dataset: iso-dates
training: {max_steps: 12}
data: {train_rows: 64, eval_rows: 8}
"""
ROWS = '{"prompt": "a", "completion": "b"}\n' * 3

CASES: dict[str, tuple[str, dict[str, str], str | None]] = {
    "a preset": ("quick", {}, None),
    "one precision": ("quick", {"precisions": "nvfp4"}, None),
    "seeds and another order": ("quick", {"precisions": "nvfp4,fp32", "seeds": "3"}, None),
    "settings of every kind": (
        "smollm2",
        {
            "learning_rate": "2e-4",
            "target_modules": "q_proj,v_proj",
            "target_loss": "0.5",
            "train_rows": "null",
            "gradient_checkpointing": "true",
            "columns": "prompt=Frage, answer=Ant wort",
            "keep_layers": "layers.0.mlp.up",
        },
        None,
    ),
    "a title for a shell": ("quick", {}, '--it\'s $HOME `x` "y"; rm *\n2'),
    "a file of one's own": ("quick", {"dataset": "{folder}/My deals' $HOME.jsonl"}, None),
    "an upload": ("quick", {"dataset": "{upload}"}, None),
    "a preset of one's own": ("own", {"max_steps": "20"}, None),
    "a preset that is gone": ("quick", {"max_steps": "7"}, "Imported"),
}


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    store = RunStore(tmp_path / "home")
    (store.home / "presets").mkdir()
    (store.home / "presets" / "own.yaml").write_text(OWN)
    return store


def command_of(store: RunStore, group: Group) -> list[str]:
    made = as_text(store, group, "html")
    (said,) = re.findall(r'<pre class="printed">(.*?)</pre>', made, re.DOTALL)
    assert str(store.home) not in unescape(said)
    return shlex.split(unescape(said))


@pytest.mark.parametrize("case", CASES)
def test_the_command_makes_the_same_runs(
    case: str, store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, settings, title = CASES[case]
    theirs, ours = tmp_path / "their folder", tmp_path / "ours"
    theirs.mkdir(), ours.mkdir()
    (tmp_path / "received").write_text(ROWS)
    upload = keep(store.home, tmp_path / "received", "My rows.jsonl", lambda file: None)
    places = {"folder": str(theirs), "upload": str(upload.path)}
    asked = {key: value.format(**places) for key, value in settings.items()}
    preset = load_preset(name, asked, store.home)
    group = store.create_group(
        "gone" if "gone" in case else name, title or preset.title, preset.configs, "1:1.0"
    )
    words = command_of(store, group)
    for brought in ("My deals' $HOME.jsonl", "My rows.jsonl"):
        (ours / brought).write_text(ROWS)
    monkeypatch.chdir(ours)
    made: list[tuple[Preset, Any]] = []
    monkeypatch.setattr(
        terminal, "_carry_out", lambda loaded, name, *_: made.append((loaded, name))
    )
    done = CliRunner().invoke(terminal.cli, words[words.index("playground") + 1 :])
    assert done.exit_code == 0, done.output
    ((loaded, named),) = made
    known = {str(upload.path): upload.name}

    def public(config: Any) -> Any:
        dataset = known.get(config.dataset, public_name(config.dataset))
        return config.model_copy(update={"dataset": dataset})

    assert loaded.configs == [public(config) for config in preset.configs]
    assert (named or loaded.title) == group.title
