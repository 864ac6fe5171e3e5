"""Earlier comparisons: found by what they are, sorted and paged by the database, and named.

5,000 of them are searched without reading one that is not shown, and a page takes four queries
however many it holds.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from playground.config import PRECISIONS, RunConfig, SettingsError
from playground.events import Outcome
from playground.store.database import touch_group
from playground.store.queue import Queue, read_run
from playground.store.rows import Group, Run, to_run

Column = Literal["started", "title", "model", "state", "difference"]

ATTENTION: tuple[Outcome, ...] = (
    "running",
    "queued",
    "failed",
    "diverged",
    "interrupted",
    "paused",
    "stopped",
    "finished",
)
"""States by how much attention they want: of several runs the first names them all."""

LONGEST_TITLE = 300
LONGEST_NOTE = 10_000


@dataclass(frozen=True)
class Search:
    """Which comparisons, and in which order.

    Attributes:
        words: each is somewhere in the title, the note, the preset, the model, the dataset or the
            id; upper or lower case.
        precision / status: of one of its runs at least; None takes any.
        since / until: Unix seconds of its start, the second exclusive.
        by / descending: the order; where there is nothing to sort by, last either way.
    """

    words: str = ""
    precision: str | None = None
    status: str | None = None
    since: float | None = None
    until: float | None = None
    by: Column = "started"
    descending: bool = True


@dataclass(frozen=True)
class Past:
    """Some comparisons out of ``total`` that were found.

    differences: by group id, as ``verdict`` has it: the final held-out loss of the arm with the
        fewest bits minus the baseline's, nats, mean over the seeds; only where all runs finished.
    """

    groups: list[Group]
    total: int
    differences: dict[str, float]


class Archive(Queue):
    """The store's half that finds and names what has been."""

    def search(self, asked: Search, limit: int = 50, offset: int = 0) -> Past:
        """A page of what was asked for, as of one moment."""
        where, values = _conditions(asked)
        with self.reading() as db:
            # Beside LIKE, which folds the case of ASCII letters alone.
            db.create_function("casefold", 1, _casefold, deterministic=True)
            total = db.execute(f"SELECT count(*) FROM {_FROM} WHERE {where}", values).fetchone()[0]
            order = _ORDERS[asked.by].format(way="DESC" if asked.descending else "ASC")
            late = f"LEFT JOIN ({_DIFFERENCES.format(chosen='1')}) AS d ON d.group_id = g.id"
            joined = f"{_FROM} {late if asked.by == 'difference' else ''}"
            rows = db.execute(
                f"SELECT g.id FROM {joined} WHERE {where} ORDER BY {order}"
                " LIMIT :limit OFFSET :offset",
                {**values, "limit": limit, "offset": offset},
            )
            ids = [row["id"] for row in rows]
            return Past(read_groups(db, ids), total, _differences(db, ids))

    def get_run(self, run_id: str) -> Run:
        """Raises SettingsError if there is no such run."""
        with self.reading() as db:
            row = db.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
            if row is None:
                raise self.unknown(run_id)
            return read_run(db, row)

    def get_group(self, group_id: str) -> Group:
        """The group and its runs as of one moment. Raises SettingsError if there is none."""
        with self.reading() as db:
            found = read_groups(db, [group_id])
        if not found:
            raise self.unknown(group_id)
        return found[0]

    def list_groups(self, limit: int = 50) -> list[Group]:
        """Newest first."""
        with self.reading() as db:
            rows = db.execute(
                "SELECT id FROM groups ORDER BY created_at DESC, rowid DESC LIMIT ?", (limit,)
            )
            return read_groups(db, [row["id"] for row in rows])

    def finished_like(self, preset: str, configs: Sequence[RunConfig]) -> Group | None:
        """The newest finished comparison from this preset with exactly these settings, if any."""
        with self.reading() as db:
            rows = db.execute(
                "SELECT id FROM groups WHERE preset = ? AND NOT EXISTS (SELECT 1 FROM runs"
                " WHERE group_id = groups.id AND status != 'finished')"
                " ORDER BY created_at DESC, rowid DESC LIMIT 10",
                (preset,),
            )
            found = read_groups(db, [row["id"] for row in rows])
        wanted = list(configs)
        return next((g for g in found if [run.config for run in g.runs] == wanted), None)

    def find(self, prefix: str) -> Run | Group:
        """The run or group with this id, or the only one whose id starts so.

        Raises:
            SettingsError: none does, or several do.
        """
        with self.reading() as db:
            ids = [
                row["id"]
                for table in ("groups", "runs")
                for row in db.execute(
                    f"SELECT id FROM {table} WHERE substr(id, 1, ?) = ? ORDER BY id LIMIT 3",
                    (len(prefix), prefix),
                )
            ]
        if prefix in ids:
            ids = [prefix]
        if not ids or not prefix:
            raise self.unknown(prefix)
        if len(ids) > 1:
            which = " or ".join(ids) if len(ids) == 2 else f"{ids[0]}, {ids[1]} or another"
            raise SettingsError(f"Id '{prefix}' could be {which}; give more of it.")
        return self.get_group(ids[0]) if ids[0].startswith("g-") else self.get_run(ids[0])

    def rename(self, group_id: str, title: str) -> None:
        """Gives a comparison another name, kept as it was typed.

        Raises:
            SettingsError: there is none, or the name is empty or beyond all measure.
        """
        title = _text(title.strip())
        if not title or len(title) > LONGEST_TITLE:
            raise SettingsError(
                f"Name is {len(title)} characters long; give it 1 to {LONGEST_TITLE}."
            )
        self._set(group_id, "title", title)

    def annotate(self, group_id: str, note: str) -> None:
        """Keeps what a person wrote about a comparison; empty takes it away.

        Raises:
            SettingsError: there is none, or the note is beyond all measure.
        """
        note = _text(note.strip())
        if len(note) > LONGEST_NOTE:
            raise SettingsError(
                f"Note is {len(note):,} characters long; keep it to {LONGEST_NOTE:,}."
            )
        self._set(group_id, "note", note)

    def _set(self, group_id: str, column: str, value: str) -> None:
        with self.writing() as db:
            done = db.execute(f"UPDATE groups SET {column} = ? WHERE id = ?", (value, group_id))
            if not done.rowcount:
                raise self.unknown(group_id)
            touch_group(db, group_id)


# Model and dataset are the same for all runs of a comparison: its first one tells.
_FROM = "groups AS g JOIN runs AS f ON f.group_id = g.id AND f.position = 0"

_MODEL = "casefold(json_extract(f.config, '$.model'))"
_RANKS = " ".join(f"WHEN '{state}' THEN {rank}" for rank, state in enumerate(ATTENTION))
_STATE = f"(SELECT min(CASE status {_RANKS} END) FROM runs WHERE group_id = g.id)"
_NEWEST = "g.created_at DESC, g.rowid DESC"
_ORDERS: dict[Column, str] = {
    "started": "g.created_at {way}, g.rowid {way}",
    "title": f"casefold(g.title) {{way}}, {_NEWEST}",
    "model": f"{_MODEL} {{way}}, {_NEWEST}",
    "state": f"{_STATE} {{way}}, {_NEWEST}",
    "difference": f"d.difference IS NULL, d.difference {{way}}, {_NEWEST}",
}

_FORMATS = ", ".join(f"('{name}', {info.storage_bits})" for name, info in PRECISIONS.items())

# As verdict() has it: the first arm is the yardstick; of the others that with the fewest bits, the
# first of several, is told, over the seeds that both have. A loss that is NaN is kept as a text,
# which is above every number.
_DIFFERENCES = f"""
WITH formats (precision, bits) AS (VALUES {_FORMATS}),
whole AS (
    SELECT group_id, json_extract(config, '$.precision') AS precision, position, id,
        json_extract(config, '$.training.seed') AS seed
    FROM runs WHERE {{chosen}}
        AND group_id NOT IN (SELECT group_id FROM runs WHERE status != 'finished')
),
arms AS (SELECT group_id, precision, min(position) AS place FROM whole GROUP BY 1, 2),
told AS (
    SELECT group_id, precision, min(bits * 10000 + place)
    FROM arms JOIN formats USING (precision) WHERE place > 0 GROUP BY group_id
),
finals AS (
    SELECT whole.*, loss FROM whole JOIN evals ON run_id = id AND "when" = 'after'
    WHERE loss BETWEEN -1e308 AND 1e308
)
SELECT told.group_id AS group_id, avg(candidate.loss - baseline.loss) AS difference
FROM told
JOIN arms AS yardstick ON yardstick.group_id = told.group_id AND yardstick.place = 0
JOIN finals AS candidate
    ON candidate.group_id = told.group_id AND candidate.precision = told.precision
JOIN finals AS baseline
    ON baseline.group_id = told.group_id AND baseline.precision = yardstick.precision
    AND baseline.seed = candidate.seed
GROUP BY told.group_id
"""


def _conditions(asked: Search) -> tuple[str, dict[str, object]]:
    found: list[str] = ["1"]
    values: dict[str, object] = {}
    said = "' ' || json_extract(f.config, '$.model') || ' ' || json_extract(f.config, '$.dataset')"
    for number, word in enumerate(asked.words.split()):
        found.append(
            "instr(casefold(g.title || ' ' || g.note || ' ' || g.preset || ' ' || g.id || "
            f"{said}), :word{number})"
        )
        values[f"word{number}"] = _text(word).casefold()
    if asked.precision is not None:
        one = "SELECT 1 FROM runs WHERE group_id = g.id AND json_extract(config, '$.precision')"
        found.append(f"EXISTS ({one} = :precision)")
        values["precision"] = asked.precision
    if asked.status is not None:
        found.append("EXISTS (SELECT 1 FROM runs WHERE group_id = g.id AND runs.status = :status)")
        values["status"] = asked.status
    for name, comparison in (("since", ">="), ("until", "<")):
        if (moment := getattr(asked, name)) is not None:
            found.append(f"g.created_at {comparison} :{name}")
            values[name] = moment
    return " AND ".join(found), values


def _differences(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    chosen = "group_id IN (SELECT value FROM json_each(?))"
    rows = db.execute(_DIFFERENCES.format(chosen=chosen), (json.dumps(ids),))
    return {row["group_id"]: row["difference"] for row in rows}


def read_groups(db: sqlite3.Connection, ids: Iterable[str]) -> list[Group]:
    """The groups with these ids, in their order, with all of their runs: three queries."""
    wanted = list(ids)
    asked, chosen = (json.dumps(wanted),), "(SELECT value FROM json_each(?))"
    groups = db.execute(f"SELECT * FROM groups WHERE id IN {chosen}", asked).fetchall()
    runs = db.execute(
        f"SELECT * FROM runs WHERE group_id IN {chosen} ORDER BY group_id, position", asked
    ).fetchall()
    told = db.execute(
        f"SELECT * FROM facts WHERE run_id IN (SELECT id FROM runs WHERE group_id IN {chosen})",
        asked,
    )
    facts = {row["run_id"]: row for row in told}
    by_group: dict[str, list[sqlite3.Row]] = {}
    for run in runs:
        by_group.setdefault(run["group_id"], []).append(run)
    found = {
        row["id"]: Group(
            id=row["id"],
            preset=row["preset"],
            title=row["title"],
            created_at=row["created_at"],
            note=row["note"],
            runs=tuple(to_run(r, facts.get(r["id"])) for r in by_group.get(row["id"], ())),
        )
        for row in groups
    }
    return [found[name] for name in wanted if name in found]


def _text(typed: str) -> str:
    # A terminal may pass half a character, which SQLite cannot keep.
    return typed.encode("utf-8", "replace").decode()


def _casefold(text: str | None) -> str | None:
    return text.casefold() if isinstance(text, str) else None
