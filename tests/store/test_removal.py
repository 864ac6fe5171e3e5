"""A deleted comparison is gone from every table and from the disk, or not deleted at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.events import (
    Answer,
    CrossEval,
    Eval,
    EvalAnswers,
    EvalRows,
    LayerError,
    Message,
    Status,
)
from playground.store import Belongings, Group, RunStore, removal
from tests import fakes


@pytest.fixture
def group(store: RunStore) -> Group:
    """An ended comparison that has something in every table, and files; another beside it."""
    return _ended(store, "the one")


def _ended(store: RunStore, title: str) -> Group:
    group = store.create_group("quick", title, fakes.preset("steady").configs, "1:1.0")
    for run in group.runs:
        answer = Answer(row=0, prompt="p", reference="r", answer="a")
        error = {"layer": "l", "tensor": "weight", "relative_error": 0.1, "zeroed_share": 0.0}
        store.append(
            run.id,
            fakes.step(1),
            Eval(step=1, when="after", loss=0.5, tokens=9),
            EvalRows(step=1, when="after", losses=(0.5,), tokens=(9,)),
            EvalAnswers(step=1, when="after", answers=(answer,)),
            CrossEval(base="fp16", merged=False, loss=0.5, tokens=9),
            LayerError(step=1, **error),
            fakes.facts(run.config),
            Message(level="info", text="said"),
            Status(status="finished"),
        )
        adapter = store.run_folder(run.id) / "adapter"
        adapter.mkdir(parents=True)
        (adapter / "adapter_model.safetensors").write_bytes(b"x" * 1000)
    board = store.home / "tensorboard" / group.id
    board.mkdir(parents=True)
    (board / "events").write_bytes(b"x" * 20)
    (store.home / "trackio").mkdir(exist_ok=True)
    for end in ("db", "db-wal"):
        (store.home / "trackio" / f"{group.id}.{end}").write_bytes(b"x" * 2)
    return store.get_group(group.id)


def _rows(store: RunStore) -> dict[str, int]:
    db = store._connection()
    names = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}


KINDS = ("runs", "tensorboard", "trackio")


def _folders(home: Path) -> set[str]:
    return {path.name for kind in KINDS for path in (home / kind).iterdir()}


def test_what_would_go_is_told(store: RunStore, group: Group) -> None:
    assert store.belongings(group.id) == Belongings(runs=2, adapters=2, size=2024)


def test_all_of_it_goes_and_nothing_else(store: RunStore, group: Group) -> None:
    before, folders = _rows(store), _folders(store.home)
    other = _ended(store, "another")
    store.delete(other.id)
    assert _rows(store) == before
    assert _folders(store.home) == folders
    store.delete(group.id)
    left = {name: count for name, count in _rows(store).items() if count}
    assert left == {"clock": 1}
    assert _folders(store.home) == set()


def test_every_table_that_hangs_on_a_run_is_emptied(store: RunStore) -> None:
    db = store._connection()
    names = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    hangs = {n for n in names if db.execute(f"PRAGMA foreign_key_list({n})").fetchall()}
    assert hangs - {"runs"} == set(removal._OF_RUNS)


def test_readers_are_told_that_it_is_gone(store: RunStore, group: Group) -> None:
    before = store.change_token()
    store.delete(group.id)
    assert store.change_token() > before
    assert store.change_token(group.id) == 0
    for gone in (group.id, group.run_ids[0]):
        with pytest.raises(SettingsError, match="is unknown"):
            store.find(gone)
    with pytest.raises(SettingsError, match="is unknown"):
        store.requeue(group.run_ids[0], owner="1:1.0")
    with pytest.raises(SettingsError, match="is unknown"):
        store.delete(group.id)


def test_a_live_one_is_refused_with_the_remedy(store: RunStore, group: Group) -> None:
    live = store.create_group("quick", "alive", fakes.preset("steady").configs, "1:1.0")
    for ask in (store.belongings, store.delete):
        with pytest.raises(SettingsError, match="'alive' is still running or waiting; stop it"):
            ask(live.id)
    run = store.claim_next("1:1.0")
    store.set_process(run.id, 77, 1.0)
    store.append(run.id, Status(status="finished"))
    store.request_stop(*live.run_ids)
    with pytest.raises(SettingsError, match="is still leaving; delete it in a moment"):
        store.delete(live.id)
    store.settle(run.id, "failed", None, owner="1:1.0")
    store.delete(live.id)


def test_dying_before_the_files_went_leaves_no_half(
    store: RunStore, group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunStore, "finish_removals", lambda self: None)  # killed right then
    store.delete(group.id)
    assert len(_folders(store.home)) == 5
    assert store.list_groups() == []
    monkeypatch.undo()
    stray = store.home / "runs" / "r-of-a-database-moved-away"
    stray.mkdir()
    opened = RunStore(store.home)
    assert _folders(store.home) == {stray.name}
    assert _rows(opened)["removals"] == 0


def test_dying_in_the_middle_of_the_rows_leaves_all(
    store: RunStore, group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _rows(store)
    monkeypatch.setattr(removal, "_OF_RUNS", ("steps", "evals", "no_such_table"))
    with pytest.raises(sqlite3.OperationalError):
        store.delete(group.id)
    assert _rows(store) == before
    assert len(_folders(store.home)) == 5
    assert store.get_group(group.id) == group


def test_a_link_in_its_folder_is_not_followed(
    store: RunStore, group: Group, tmp_path: Path
) -> None:
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "file").write_text("mine")
    (store.run_folder(group.run_ids[0]) / "link").symlink_to(outside)
    store.delete(group.id)
    assert (outside / "file").read_text() == "mine"
