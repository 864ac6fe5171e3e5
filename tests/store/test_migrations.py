"""Old homes stay readable: numbered steps, from empty and from the oldest schema."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.store import RunStore
from playground.store.migrations import MIGRATIONS, migrate
from playground.store.rows import EVAL_COLUMNS, FACT_COLUMNS, STEP_COLUMNS
from tests import fakes

ROOT = Path(__file__).parent.parent.parent
OLDEST = Path(__file__).with_name("schema_1.sql").read_text()


def _version(db: sqlite3.Connection) -> int:
    return db.execute("PRAGMA user_version").fetchone()[0]


def _columns(db: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    return [(row[1], row[2]) for row in db.execute(f"PRAGMA table_info({table})")]


def _schema(db: sqlite3.Connection) -> dict[str, list[tuple[str, str]]]:
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name: _columns(db, name) for (name,) in tables}


def _oldest(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript(OLDEST)
    return db


@pytest.fixture
def empty(tmp_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(tmp_path / "empty.db", isolation_level=None)


def test_from_empty_and_from_the_oldest_the_same_schema_comes_out(
    empty: sqlite3.Connection, tmp_path: Path
) -> None:
    oldest = _oldest(tmp_path / "oldest.db")
    migrate(empty)
    migrate(oldest)
    assert _version(empty) == _version(oldest) == len(MIGRATIONS)
    assert _schema(empty) == _schema(oldest)


def test_a_home_with_the_oldest_schema_opens_with_all_that_is_in_it(home: Path) -> None:
    home.mkdir()
    _oldest(home / "playground.db").close()
    store = RunStore(home)
    (group,) = store.list_groups()
    (run,) = group.runs
    assert (group.title, run.status, run.precision) == ("An old one", "finished", "fp16")
    assert run.config == fakes.config(steps=3)
    first, second = store.steps(run.id)
    assert first.loss == 4.0 and math.isnan(second.loss) and second.grad_norm is None
    assert store.evals(run.id)[0].loss == 4.5
    assert store.messages(run.id)[0].text == "Hello."
    assert (run.facts.how, run.facts.rows) == ("emulated", {"read": 100})
    store.append(run.id, fakes.step(3))
    assert len(store.steps(run.id)) == 3


@pytest.mark.parametrize(
    ("table", "fields"), [("steps", STEP_COLUMNS), ("evals", EVAL_COLUMNS), ("facts", FACT_COLUMNS)]
)
def test_each_field_of_an_event_has_its_typed_column(
    empty: sqlite3.Connection, table: str, fields: tuple[str, ...]
) -> None:
    migrate(empty)
    columns = dict(_columns(empty, table))
    assert set(columns) == {"run_id", *fields}
    assert set(columns.values()) <= {"TEXT", "INTEGER", "REAL"}


def test_later_steps_are_applied_once_and_keep_the_rows(tmp_path: Path) -> None:
    db = _oldest(tmp_path / "oldest.db")
    later = (
        *MIGRATIONS,
        "ALTER TABLE runs ADD COLUMN note TEXT;",
        "UPDATE runs SET note = 'kept; and -- whole';",
    )
    for _ in range(2):
        migrate(db, later)
        assert _version(db) == len(later)
        assert db.execute("SELECT note FROM runs").fetchall() == [("kept; and -- whole",)]


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    db = _oldest(tmp_path / "oldest.db")
    migrate(db)
    before = _schema(db)
    broken = (*MIGRATIONS, "ALTER TABLE runs ADD COLUMN note TEXT; INSERT INTO nowhere VALUES (1);")
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(db, broken)
    assert _schema(db) == before
    assert _version(db) == len(MIGRATIONS)
    migrate(db)  # no transaction was left open


def test_a_database_of_a_newer_program_is_refused_untouched(home: Path) -> None:
    RunStore(home).close()
    db = sqlite3.connect(home / "playground.db", isolation_level=None)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(SettingsError, match="has schema 99 .* update the program"):
        RunStore(home)


def test_processes_that_open_an_empty_home_at_once_all_succeed(home: Path) -> None:
    code = "import sys; from playground.store import RunStore; print(RunStore(sys.argv[1]).live())"
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(home)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(5)
    ]
    assert [opener.communicate(timeout=60)[0] for opener in openers] == ["[]\n"] * 5
