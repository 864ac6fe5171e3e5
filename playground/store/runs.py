"""RunStore: what runs are asked to do, what they said, and how they ended."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterator
from itertools import accumulate, repeat
from typing import Any

from playground.config import RunConfig, private
from playground.events import (
    FINAL,
    Answer,
    CrossEval,
    Eval,
    EvalAnswers,
    EvalRows,
    Event,
    Facts,
    LayerError,
    Message,
    Stage,
    Status,
    Step,
    StepFigures,
)
from playground.store.database import touch
from playground.store.past import read_groups
from playground.store.removal import Removal
from playground.store.rows import (
    CROSS_COLUMNS,
    ERROR_COLUMNS,
    EVAL_COLUMNS,
    FACT_COLUMNS,
    STEP_COLUMNS,
    Group,
    to_column,
    to_cross_eval,
    to_evals,
    to_figures,
    to_layer_error,
    to_plain_step,
    to_steps,
)
from playground.store.thinning import eval_power, thinned

MAX_STEP = 2**63 - 1  # SQLite's largest integer: no step is beyond it
_TABLES: dict[type, tuple[str, tuple[str, ...]]] = {
    Step: ("steps", STEP_COLUMNS),
    Eval: ("evals", EVAL_COLUMNS),
    CrossEval: ("cross_evals", CROSS_COLUMNS),
    LayerError: ("layer_errors", ERROR_COLUMNS),
}
"""Events that are a row of their own, a later one with the same key in place of the earlier."""


class RunStore(Removal):
    """Every run under one home folder; safe to use from several threads and processes at once.

    A method that writes commits one transaction: a reader sees all of it or none.
    """

    def create_group(self, preset: str, title: str, configs: list[RunConfig], owner: str) -> Group:
        """Queues one run for each config, in order, all at once.

        Ids are generated and safe as file names; ``title`` is kept as it was typed.
        """
        stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        group_id, now = f"g-{stamp}", time.time()
        title = title.encode("utf-8", "replace").decode()  # a terminal may pass half a character
        with self.writing() as db:
            db.execute("UPDATE clock SET revision = revision + 1")
            db.execute(
                "INSERT INTO groups (id, preset, title, created_at, revision)"
                " VALUES (?, ?, ?, ?, (SELECT revision FROM clock))",
                (group_id, preset, title, now),
            )
            for position, config in enumerate(configs):
                db.execute(
                    "INSERT INTO runs (id, group_id, position, config, status, created_at,"
                    " queued_at, owner) VALUES (?, ?, ?, ?, 'queued', ?, ?, ?)",
                    (
                        f"r-{stamp}-{position + 1}-{config.precision}",
                        group_id,
                        position,
                        config.model_dump_json(),
                        now,
                        now,
                        owner,
                    ),
                )
            return read_groups(db, [group_id])[0]

    def append(self, run_id: str, *events: Event) -> None:
        """Stores what a run said. An ended run never changes state again; late words are kept."""
        with self.writing() as db:
            for event in events:
                _store(db, run_id, event)
            touch(db, run_id)

    def steps(
        self,
        run_id: str,
        after_step: int = 0,
        max_points: int | None = None,
        *,
        up_to_step: int = MAX_STEP,
        stretches: int = 0,
    ) -> list[Step]:
        """Steps in order, thinned to at most ``max_points`` over the whole run.

        Thinning keeps steps that a power of two divides: as a run grows, points drop out, but those
        that stay are the same and no new ones appear among them. The first and the newest step are
        always there; steps to mark (NaN, inf, skipped updates) are thinned apart and last.
        ``after_step`` and ``up_to_step`` return only that part of the same selection.

        Args:
            stretches: with the lowest and the highest loss, speed and memory in each of so many
                parts of a run that is thinned; these come on top of ``max_points``, and move as it
                grows. For who cannot ask again for the steps in between.
        Raises:
            ValueError: ``max_points`` is below 8.
        """
        if max_points is not None and max_points < 8:
            raise ValueError(f"max_points is {max_points}; it must be at least 8")
        with self.reading() as db:
            if max_points is not None:
                return thinned(db, run_id, after_step, up_to_step, max_points, stretches)
            rows = db.execute(
                f"SELECT {', '.join(STEP_COLUMNS)} FROM steps"
                " WHERE run_id = ? AND step > ? AND step <= ? ORDER BY step",
                (run_id, after_step, up_to_step),
            )
            return to_steps(rows)

    def step_figures(self, run_id: str) -> list[StepFigures]:
        """Every step's numbers that figures are made of, in order: those alone are read."""
        columns = ", ".join(StepFigures._fields)
        query = f"SELECT {columns} FROM steps WHERE run_id = ? ORDER BY step"
        return to_figures(self._tuples(query, run_id))

    def step_pages(self, run_id: str, at_once: int = 500) -> Iterator[list[dict[str, Any]]]:
        """Every step as plain values by the names of ``Step``, in order, to be written somewhere.

        ``at_once`` are read: memory is bounded, and no reader keeps the database from tidying up.
        """
        query = (
            f"SELECT {', '.join(STEP_COLUMNS)} FROM steps WHERE run_id = ? AND step > ?"
            " ORDER BY step LIMIT ?"
        )
        last = -1
        while page := list(map(to_plain_step, self._tuples(query, run_id, last, at_once))):
            yield page
            last = page[-1]["step"]

    def _tuples(self, query: str, *values: Any) -> sqlite3.Cursor:
        """Rows without names, which take their time where there are many."""
        cursor = self._connection().cursor()
        cursor.row_factory = None
        return cursor.execute(query, values)

    def totals(self, run_id: str, max_points: int) -> list[tuple[int, int, float, float | None]]:
        """(step, tokens, seconds, joules): what was taken up to and with each of ``max_points``.

        These are those that a power of two divides, as in ``steps``, and the newest. Seconds and
        joules are those of the steps alone: evaluations and saving are left out. Joules are None
        where no step's energy was measured; a step shorter than the meter's tick has its share in
        the next one.
        """
        with self.reading() as db:
            newest = "SELECT coalesce(max(step), 0) FROM steps WHERE run_id = ?"
            last = db.execute(newest, (run_id,)).fetchone()[0]
            stride = 1
            while last > stride * (max_points - 1):
                stride *= 2
            rows = db.execute(
                "SELECT max(step), sum(tokens), sum(step_ms), sum(energy_j) FROM steps"
                " WHERE run_id = ? GROUP BY (step - 1) / ? ORDER BY 1",
                (run_id, stride),
            ).fetchall()
        steps, tokens, times_ms, energies = zip(*rows, strict=True) if rows else ((), (), (), ())
        seconds = (ms / 1000 for ms in accumulate(times_ms))
        measured = any(energy is not None for energy in energies)
        joules = accumulate(e or 0.0 for e in energies) if measured else repeat(None, len(steps))
        return list(zip(steps, accumulate(tokens), seconds, joules, strict=True))

    def last_step(self, run_id: str) -> Step | None:
        """The newest step, or None before the first."""
        with self.reading() as db:
            rows = db.execute(
                f"SELECT {', '.join(STEP_COLUMNS)} FROM steps WHERE run_id = ?"
                " ORDER BY step DESC LIMIT 1",
                (run_id,),
            )
            return next(iter(to_steps(rows)), None)

    def evals(self, run_id: str, max_points: int | None = None) -> list[Eval]:
        """Evaluations in the order of their steps, "before" first and "after" last.

        Those "during" are thinned to at most ``max_points``, by the rule for steps.
        """
        order = "CASE \"when\" WHEN 'before' THEN 0 WHEN 'during' THEN 1 ELSE 2 END"
        columns = '", "'.join(EVAL_COLUMNS)
        with self.reading() as db:
            power = 1 if max_points is None else eval_power(db, run_id, max_points)
            rows = db.execute(
                f'SELECT "{columns}" FROM evals WHERE run_id = ?'
                f" AND (\"when\" != 'during' OR step % ? = 0) ORDER BY step, {order}",
                (run_id, power),
            )
            return to_evals(rows)

    def eval_rows(self, run_id: str, when: str = "after") -> EvalRows | None:
        """The last evaluation ``when``, row by row; None if it was not taken so."""
        with self.reading() as db:
            rows = db.execute(
                'SELECT step, loss, tokens FROM eval_rows WHERE run_id = ? AND "when" = ?'
                " AND step = (SELECT max(step) FROM eval_rows"
                '              WHERE run_id = ? AND "when" = ?) ORDER BY row',
                (run_id, when, run_id, when),
            ).fetchall()
        if not rows:
            return None
        return EvalRows(
            step=rows[0]["step"],
            when=when,
            losses=tuple(row["loss"] for row in rows),
            tokens=tuple(row["tokens"] for row in rows),
        )

    def eval_answers(self, run_id: str, when: str = "after") -> list[Answer]:
        """What the model wrote for held-out rows ``when``, in their order; empty if not asked."""
        with self.reading() as db:
            rows = db.execute(
                "SELECT row, prompt, reference, answer FROM eval_answers"
                ' WHERE run_id = ? AND "when" = ? ORDER BY row',
                (run_id, when),
            )
            return [Answer.model_validate(dict(row)) for row in rows.fetchall()]

    def cross_evals(self, run_id: str) -> list[CrossEval]:
        """The finished adapter on other bases, merged ones last."""
        with self.reading() as db:
            rows = db.execute(
                "SELECT * FROM cross_evals WHERE run_id = ? ORDER BY merged, base", (run_id,)
            )
            return [to_cross_eval(row) for row in rows.fetchall()]

    def layer_errors(self, run_id: str, newest: bool = False) -> list[LayerError]:
        """What the looks at rounding errors found, in the order of the steps, or the last alone."""
        last = "AND step = (SELECT max(step) FROM layer_errors WHERE run_id = :run)"
        with self.reading() as db:
            rows = db.execute(
                f"SELECT * FROM layer_errors WHERE run_id = :run {last if newest else ''}"
                " ORDER BY step, layer, tensor",
                {"run": run_id},
            )
            return [to_layer_error(row) for row in rows.fetchall()]

    def messages(self, run_id: str, limit: int = 100) -> list[Message]:
        """The newest ``limit`` messages, oldest of them first."""
        with self.reading() as db:
            rows = db.execute(
                "SELECT level, text FROM messages WHERE run_id = ? ORDER BY id DESC LIMIT ?",
                (run_id, limit),
            )
            return [Message(level=r["level"], text=r["text"]) for r in reversed(rows.fetchall())]

    def change_token(self, group_id: str | None = None) -> int:
        """A number that differs once anything visible of the group (None: of any) has changed.

        One row by its key: cheap enough for every page to ask each second. 0: no such group.
        """
        db = self._connection()
        if group_id is None:
            return db.execute("SELECT revision FROM clock").fetchone()[0]
        row = db.execute("SELECT revision FROM groups WHERE id = ?", (group_id,)).fetchone()
        return row[0] if row else 0


def _store(db: sqlite3.Connection, run_id: str, event: Event) -> None:
    if type(event) in _TABLES:
        table, columns = _TABLES[type(event)]
        quoted = '", "'.join(columns)  # "when" is a word of SQL's own
        db.execute(
            f'INSERT OR REPLACE INTO {table} (run_id, "{quoted}") VALUES (?{", ?" * len(columns)})',
            (run_id, *(to_column(getattr(event, column)) for column in columns)),
        )
    elif isinstance(event, EvalRows):
        rows = enumerate(zip(event.losses, event.tokens, strict=True))
        db.executemany(
            "INSERT OR REPLACE INTO eval_rows VALUES (?, ?, ?, ?, ?, ?)",
            [(run_id, event.step, event.when, i, to_column(loss), n) for i, (loss, n) in rows],
        )
    elif isinstance(event, EvalAnswers):
        db.executemany(
            "INSERT OR REPLACE INTO eval_answers VALUES (?, ?, ?, ?, ?, ?)",
            [(run_id, event.when, *_text(a)) for a in event.answers],
        )
    elif isinstance(event, Message):
        # A run that is resumed prepares itself again and would say it all again.
        said = (run_id, event.level, private(event.text))
        db.execute(
            "INSERT INTO messages (at, run_id, level, text) SELECT ?, ?, ?, ? WHERE NOT EXISTS"
            " (SELECT 1 FROM messages WHERE run_id = ? AND level = ? AND text = ?)",
            (time.time(), *said, *said),
        )
    elif isinstance(event, Stage):
        db.execute(
            "UPDATE runs SET stage_name = ?, stage_detail = ?, stage_progress = ? WHERE id = ?",
            (event.name, private(event.detail), to_column(event.progress), run_id),
        )
    elif isinstance(event, Facts):
        known = {c: v for c in FACT_COLUMNS if (v := getattr(event, c)) is not None}
        db.execute("INSERT OR IGNORE INTO facts (run_id) VALUES (?)", (run_id,))
        for column, value in known.items():
            kept = to_column(value)
            said = private(kept) if isinstance(kept, str) else kept
            db.execute(f"UPDATE facts SET {column} = ? WHERE run_id = ?", (said, run_id))
    elif isinstance(event, Status):
        db.execute(
            "UPDATE runs SET status = ?, error = ?, cause = ?, ended_at = ? WHERE id = ?"
            f" AND status NOT IN ({', '.join('?' * len(FINAL))})",
            (
                event.status,
                private(event.error) if event.error else None,
                event.cause,
                time.time() if event.status in FINAL else None,
                run_id,
                *sorted(FINAL),
            ),
        )


def _text(found: Answer) -> tuple[int, str, str, str]:
    # A lone surrogate, which JSON rows can hold, is nothing that SQLite can keep.
    words = (found.prompt, found.reference, found.answer)
    return (found.row, *(word.encode("utf-8", "replace").decode() for word in words))
