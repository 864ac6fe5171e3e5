"""Earlier comparisons in a terminal: found, renamed, noted, deleted after asking."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from playground import __main__ as terminal
from playground.config import SettingsError
from playground.events import Status
from playground.store import Group, RunStore
from tests import fakes


@pytest.fixture
def group(store: RunStore) -> Group:
    """An ended comparison, and another that waits for a process that lives."""
    group = store.create_group("quick", "first one", fakes.preset("steady").configs, "1:1.0")
    for run in group.runs:
        store.append(run.id, Status(status="finished"))
        (store.run_folder(run.id) / "adapter").mkdir(parents=True)
    (store.run_folder(group.run_ids[0]) / "adapter" / "weights").write_bytes(b"x" * 2_500_000)
    return group


def said(home: Path, *words: object, answer: str = "") -> Result:
    return CliRunner().invoke(
        terminal.cli, [*map(str, words), "--home", str(home)], input=answer, catch_exceptions=False
    )


def test_a_list_is_filtered(home: Path, store: RunStore, group: Group, tmp_path: Path) -> None:
    other = store.create_group("smollm2", "second one", [fakes.config(precision="mxfp4")], "1:1.0")
    file = tmp_path / "out.json"

    def found(*asked: str) -> list[str]:
        assert said(home, "list", *asked, "--json", file).exit_code == 0
        return [entry["id"] for entry in json.loads(file.read_text())]

    assert found() == [other.id, group.id]
    assert found("--filter", "FIRST steady") == [group.id]
    assert found("--precision", "mxfp4") == [other.id]
    assert found("--filter", "third") == []
    assert "No comparison is like that." in said(home, "list", "--filter", "third").stdout


def test_a_name_and_a_note_are_kept(home: Path, store: RunStore, group: Group) -> None:
    assert said(home, "rename", group.id, "[b]new[/b]").stdout.strip() == f"{group.id}: [b]new[/b]"
    said(home, "note", group.run_ids[0], "what I saw")
    found = store.get_group(group.id)
    assert (found.title, found.note) == ("[b]new[/b]", "what I saw")
    assert "no note" in said(home, "note", group.id, "").stdout


def test_delete_asks_and_says_what_goes(home: Path, store: RunStore, group: Group) -> None:
    declined = said(home, "delete", group.id, answer="n\n")
    assert declined.exit_code == 1
    assert "first one" in declined.stdout
    assert "runs: 2; adapters: 2; on disk: 2.5 MB" in declined.stdout
    assert store.get_group(group.id).title == "first one"
    assert said(home, "delete", group.id, answer="y\n").exit_code == 0
    assert store.list_groups() == []


def test_delete_need_not_ask(home: Path, store: RunStore, group: Group) -> None:
    assert "Deleted." in said(home, "delete", group.id, "--yes").stdout
    assert store.list_groups() == []


def test_a_wrong_id_is_one_sentence(home: Path, group: Group) -> None:
    for command in (("rename", "g-none", "x"), ("note", "g-none", "x"), ("delete", "g-none")):
        with pytest.raises(SettingsError, match="Id 'g-none' is unknown"):
            said(home, *command)
