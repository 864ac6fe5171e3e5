"""One SQLite file in WAL mode: readers never wait for the writer, nor the writer for readers."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playground.commands import command
from playground.config import SettingsError, expand
from playground.store.migrations import migrate

StoreError = sqlite3.OperationalError
"""The database cannot be read or written now: no room on the disk, no right to it."""

_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_BUSY_S = 30  # a writer waits this long for another process's (short) transaction


class Database:
    """Opens ``home/playground.db``, one connection for each thread.

    Args:
        home: folder of everything that is kept; made if it is missing.
    Raises:
        SettingsError: the folder or the database cannot be used; the message says why.
    """

    def __init__(self, home: Path) -> None:
        self.home = expand(home)
        self._local = threading.local()
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            migrate(self._connection())
            with self.writing() as db:  # a home that can only be read would fail in mid-run
                db.execute("UPDATE clock SET revision = revision")
        except OSError as error:
            raise SettingsError(
                f"Home folder '{self.home}' cannot be used: {error.strerror}; choose another one."
            ) from None
        except sqlite3.DatabaseError as error:
            raise SettingsError(
                f"The run database in '{self.home}' cannot be opened: {error}; "
                "move playground.db away, or choose another home folder."
            ) from None

    def unknown(self, name: str) -> SettingsError:
        """The sentence about an id of a run or a comparison that is not there."""
        known = command("list", home=self.home)
        return SettingsError(f"Id '{name}' is unknown; `{known}` shows those there are.")

    def run_folder(self, run_id: str) -> Path:
        """Where the run's files are; the caller makes it. Raises ValueError for an unsafe id."""
        if not _SAFE_ID.fullmatch(run_id):
            raise ValueError(f"run id {run_id!r} is no id of this store")
        return self.home / "runs" / run_id

    def _connection(self) -> sqlite3.Connection:
        db = getattr(self._local, "db", None)
        if db is None:
            db = sqlite3.connect(self.home / "playground.db", timeout=_BUSY_S, isolation_level=None)
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA foreign_keys = ON")
            # Safe against a killed process; only a power cut may lose the last moments.
            db.execute("PRAGMA synchronous = NORMAL")
            if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                db.execute("PRAGMA journal_mode = WAL")
            self._local.db = db
        return db

    def close(self) -> None:
        """Closes this thread's connection; the next use opens it again."""
        db = getattr(self._local, "db", None)
        if db is not None:
            db.close()
            self._local.db = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """All queries inside see the same moment, whatever is written meanwhile."""
        db = self._connection()
        db.execute("BEGIN")
        try:
            yield db
        finally:
            if db.in_transaction:
                db.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of it becomes visible at once, or none of it; one writer at a time."""
        db = self._connection()
        # IMMEDIATE takes the write lock now: what is read inside is still true when we write.
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # SQLite itself gives up where the disk is full
                db.execute("ROLLBACK")
            raise


def touch(db: sqlite3.Connection, run_id: str) -> None:
    """Marks the run's group as changed: its change token is new from this transaction on."""
    row = db.execute("SELECT group_id FROM runs WHERE id = ?", (run_id,)).fetchone()
    touch_group(db, row["group_id"] if row else None)


def touch_group(db: sqlite3.Connection, group_id: str | None) -> None:
    """As ``touch``, by the group; None for one that is gone."""
    db.execute("UPDATE clock SET revision = revision + 1")
    db.execute(
        "UPDATE groups SET revision = (SELECT revision FROM clock) WHERE id = ?", (group_id,)
    )
