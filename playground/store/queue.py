"""Which run may start, who watches it, who asked it to stop: each decision is one transaction.

The states of a run, and what leads from one to the next::

    queued       claim_next  -> running       its turn came
                 request_stop-> stopped, paused
                 settle      -> interrupted   who would have started it is gone
                                failed        its process could not be started
    running      append      -> finished, stopped, paused, failed, diverged   as the run says itself
                 settle      -> stopped, paused   its process had to be ended
                                failed            its process died
                                interrupted       so did who watched it
    stopped, paused, failed, interrupted
                 requeue     -> queued        the same run again, one attempt more
    finished, diverged       for good; so is a run that was refused

A run that is asked to stop or pause is ``running`` until it has ended.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Literal

from playground.config import SettingsError, private
from playground.events import Cause, Outcome
from playground.store.database import Database, touch
from playground.store.rows import Run, to_run

# The same words as the index runs_alive, so that the few live runs are found without a scan.
_ALIVE = "(status IN ('queued', 'running') OR pid IS NOT NULL)"
_ENDED = "('finished', 'stopped', 'paused', 'failed', 'diverged', 'interrupted')"

StopKind = Literal["stop", "pause"]
_ASKED: dict[StopKind, Outcome] = {"stop": "stopped", "pause": "paused"}


class Queue(Database):
    """The store's half that decides. At most one worker process lives in a home folder.

    A queued run belongs to its owner, the process that was asked to start it; nobody else does.
    A run has a ``pid`` as long as its worker process may exist, also after it said how it ended.
    """

    def live(self) -> list[Run]:
        """Queued and running runs, and those whose process isn't known to be gone; oldest first."""
        with self.reading() as db:
            rows = db.execute(f"SELECT * FROM runs WHERE {_ALIVE} ORDER BY queued_at, rowid")
            return [read_run(db, row) for row in rows.fetchall()]

    def claim_next(self, owner: str) -> Run | None:
        """Turns the longest-queued run to ``running`` if it is ``owner``'s and no other run lives.

        Processes ask at the same time; exactly one gets the run.
        """
        with self.writing() as db:
            rows = db.execute(f"SELECT * FROM runs WHERE {_ALIVE} ORDER BY queued_at, rowid")
            alive = rows.fetchall()
            if any(row["status"] == "running" or row["pid"] is not None for row in alive):
                return None
            if not alive or alive[0]["owner"] != owner:
                return None
            run_id = alive[0]["id"]
            now = time.time()
            db.execute(
                "UPDATE runs SET status = 'running', started_at = ?, heartbeat_at = ? WHERE id = ?",
                (now, now, run_id),
            )
            touch(db, run_id)
            return read_run(db, db.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone())

    def set_process(self, run_id: str, pid: int, process_started: float) -> bool:
        """Records the run's worker process; said by launcher and worker, whoever is first.

        Returns:
            False if the run is not running (any more) or has another process: the caller must not
            go on with it.
        """
        with self.writing() as db:
            done = db.execute(
                "UPDATE runs SET pid = ?, process_started = ?"
                " WHERE id = ? AND status = 'running' AND (pid IS NULL OR pid = ?)",
                (pid, process_started, run_id, pid),
            )
            return done.rowcount == 1

    def heartbeat(self, run_id: str) -> None:
        """The worker lives. Not a visible change: the change token stays."""
        with self.writing() as db:
            db.execute("UPDATE runs SET heartbeat_at = ? WHERE id = ?", (time.time(), run_id))

    def settle(
        self,
        run_id: str,
        status: Outcome,
        error: str | None,
        *,
        owner: str,
        cause: Cause | None = None,
    ) -> None:
        """The run's process is gone, or never will be. A run that has not said how it ended gets
        ``status``, ``error`` and ``cause``; nothing if the run is not ``owner``'s (any more)."""
        with self.writing() as db:
            mine = "id = ? AND owner = ?"
            db.execute(
                f"UPDATE runs SET status = ?, error = ?, cause = ?, ended_at = ?"
                f" WHERE {mine} AND status NOT IN {_ENDED}",
                (status, private(error) if error else None, cause, time.time(), run_id, owner),
            )
            db.execute(
                f"UPDATE runs SET pid = NULL, process_started = NULL WHERE {mine}", (run_id, owner)
            )
            touch(db, run_id)

    def adopt(self, run_id: str, *, owner: str, new_owner: str) -> bool:
        """``new_owner`` watches the run from now on. False if somebody else was quicker."""
        with self.writing() as db:
            done = db.execute(
                "UPDATE runs SET owner = ? WHERE id = ? AND owner = ?", (new_owner, run_id, owner)
            )
            return done.rowcount == 1

    def request_stop(self, *run_ids: str, kind: StopKind = "stop") -> None:
        """Queued runs end at once, running ones are asked to; ended ones stay as they are.

        Stop outranks Pause, whichever comes first. One transaction: no run of the list starts while
        another is being stopped.
        """
        now = time.time()
        with self.writing() as db:
            for run_id in run_ids:
                db.execute(
                    "UPDATE runs SET status = ?, stop_requested_at = ?, stop_kind = ?, ended_at = ?"
                    " WHERE id = ? AND status = 'queued'",
                    (_ASKED[kind], now, kind, now, run_id),
                )
                db.execute(
                    "UPDATE runs SET stop_requested_at = coalesce(stop_requested_at, ?),"
                    " stop_kind = iif(stop_kind = 'stop', 'stop', ?)"
                    " WHERE id = ? AND status = 'running'",
                    (now, kind, run_id),
                )
                touch(db, run_id)

    def stop_requested(self, run_id: str) -> bool:
        """One indexed row: cheap enough to ask after each step."""
        return self.stop_kind(run_id) is not None

    def stop_kind(self, run_id: str) -> StopKind | None:
        """What was asked of the run, Stop or Pause, if anything was."""
        row = self._connection().execute("SELECT stop_kind FROM runs WHERE id = ?", (run_id,))
        return row.fetchone()[0]

    def requeue(self, *run_ids: str, owner: str) -> None:
        """Queues ended runs again, behind all that wait. What they said stays.

        Raises:
            SettingsError: one of them cannot be resumed, and says why; then none is.
        """
        now = time.time()
        with self.writing() as db:
            for run_id in run_ids:
                row = db.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
                if row is None:  # deleted meanwhile
                    raise self.unknown(run_id)
                if reason := read_run(db, row).why_not_resumable:
                    raise SettingsError(reason)
                db.execute(
                    "UPDATE runs SET status = 'queued', owner = ?, attempt = attempt + 1,"
                    " queued_at = ?, started_at = NULL, ended_at = NULL, heartbeat_at = NULL,"
                    " error = NULL, cause = NULL, stop_requested_at = NULL, stop_kind = NULL,"
                    " stage_name = NULL, stage_detail = NULL, stage_progress = NULL WHERE id = ?",
                    (owner, now, run_id),
                )
                touch(db, run_id)


def read_run(db: sqlite3.Connection, row: sqlite3.Row) -> Run:
    """A run with its facts, read in the transaction that read ``row``."""
    facts = db.execute("SELECT * FROM facts WHERE run_id = ?", (row["id"],)).fetchone()
    return to_run(row, facts)
