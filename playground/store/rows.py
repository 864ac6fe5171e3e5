"""What the store hands out: groups and runs, and how events become rows and rows events."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter

from playground.config import PRECISIONS, RunConfig, parse_config
from playground.events import (
    FINAL,
    Cause,
    CrossEval,
    Eval,
    Facts,
    LayerError,
    Outcome,
    Stage,
    Step,
    StepFigures,
)

STEP_COLUMNS = tuple(name for name in Step.model_fields if name != "kind")
EVAL_COLUMNS = tuple(name for name in Eval.model_fields if name != "kind")
CROSS_COLUMNS = tuple(name for name in CrossEval.model_fields if name != "kind")
ERROR_COLUMNS = tuple(name for name in LayerError.model_fields if name != "kind")
FACT_COLUMNS = tuple(name for name in Facts.model_fields if name != "kind")
_STEPS = TypeAdapter(list[Step])
_EVALS = TypeAdapter(list[Eval])
_JSON_FACTS = ("device", "environment", "coverage", "rows")


@dataclass(frozen=True)
class Run:
    """One run as the store knows it. Times are Unix seconds.

    Attributes:
        position: place in its group, from 0.
        stage: what it did last, also after it ended.
        owner: the process that starts and watches it ("pid:start time").
        pid / process_started: the worker process, while one may exist; None before and after.
        stop_requested_at: when Stop or Pause was pressed, or None; stop_kind: which.
        cause: what kind of end it was, when it did not go well.
        attempt: 1, and one more by each resuming.
    """

    id: str
    group_id: str
    position: int
    config: RunConfig
    status: Outcome
    stage: Stage | None
    error: str | None
    facts: Facts
    created_at: float
    started_at: float | None
    ended_at: float | None
    heartbeat_at: float | None
    stop_requested_at: float | None
    stop_kind: Literal["stop", "pause"] | None
    cause: Cause | None
    attempt: int
    owner: str
    pid: int | None
    process_started: float | None

    @property
    def precision(self) -> str:
        return self.config.precision

    @property
    def stop_requested(self) -> bool:
        return self.stop_requested_at is not None

    @property
    def over(self) -> bool:
        return self.status in FINAL

    @property
    def leaving(self) -> bool:
        """It has said how it ended, and its process may still hold memory."""
        return self.over and self.pid is not None

    @property
    def why_not_resumable(self) -> str | None:
        """One sentence when the run cannot be resumed as it stands now, else None."""
        named = f"Run {self.id} ({PRECISIONS[self.precision].label})"
        if self.status == "finished":
            return f"{named} is finished; there is nothing left to resume."
        if self.status == "diverged":
            return (
                f"{named} diverged and would again; start it anew with a lower learning rate, or "
                "in a precision with a larger range."
            )
        if not self.over:
            return f"{named} is {self.status} already; it needs no resuming."
        if self.cause == "refused":
            return (
                f"{named} was refused for its settings and would be again; start it anew with "
                "others."
            )
        if self.leaving:
            return f"The process of run {self.id} is still leaving; resume it in a moment."
        return None


@dataclass(frozen=True)
class Group:
    """A comparison: runs that differ in precision only, in the order in which they run.

    note: what a person wrote about it; empty at first.
    """

    id: str
    preset: str
    title: str
    created_at: float
    note: str
    runs: tuple[Run, ...]

    @property
    def run_ids(self) -> list[str]:
        return [run.id for run in self.runs]

    @property
    def over(self) -> bool:
        return all(run.over for run in self.runs)

    @property
    def stopping(self) -> bool:
        """Every run has ended or is asked to."""
        return all(run.over or run.stop_requested for run in self.runs)


def to_column(value: Any) -> Any:
    """A value as SQLite keeps it. NaN becomes the text 'nan', which a REAL column leaves alone."""
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if isinstance(value, dict):
        return json.dumps(value)
    return value


def to_steps(rows: Iterable[sqlite3.Row]) -> list[Step]:
    """Rows of ``STEP_COLUMNS``, in that order, all at once: charts ask for thousands a second."""
    # By place: a row looks up each name it is asked for from the first on.
    return _STEPS.validate_python([dict(zip(STEP_COLUMNS, row, strict=True)) for row in rows])


def to_figures(rows: Iterable[tuple]) -> list[StepFigures]:
    """Rows of ``StepFigures``' columns, in that order."""
    found = map(StepFigures._make, rows)
    return [f if f.loss.__class__ is float else f._replace(loss=float(f.loss)) for f in found]


def to_plain_step(row: tuple) -> dict[str, Any]:
    """A row of ``STEP_COLUMNS`` as ``Step`` has it, unchecked: for who writes thousands."""
    found = dict(zip(STEP_COLUMNS, row, strict=True))
    found["skipped"], found["warmup"] = bool(found["skipped"]), bool(found["warmup"])
    if "nan" in row:
        found.update({name: math.nan for name, value in found.items() if value == "nan"})
    return found


def to_evals(rows: Iterable[sqlite3.Row]) -> list[Eval]:
    """Rows of ``EVAL_COLUMNS``, in that order."""
    return _EVALS.validate_python([dict(zip(EVAL_COLUMNS, row, strict=True)) for row in rows])


def to_cross_eval(row: sqlite3.Row) -> CrossEval:
    return CrossEval.model_validate({name: row[name] for name in CROSS_COLUMNS})


def to_layer_error(row: sqlite3.Row) -> LayerError:
    return LayerError.model_validate({name: row[name] for name in ERROR_COLUMNS})


def to_facts(row: sqlite3.Row | None) -> Facts:
    if row is None:
        return Facts()
    known = {name: row[name] for name in FACT_COLUMNS if row[name] is not None}
    return Facts.model_validate(
        {name: json.loads(v) if name in _JSON_FACTS else v for name, v in known.items()}
    )


def to_run(row: sqlite3.Row, facts: sqlite3.Row | None) -> Run:
    stage = None
    if row["stage_name"] is not None:
        stage = Stage(
            name=row["stage_name"], detail=row["stage_detail"], progress=row["stage_progress"]
        )
    plain = {
        name: row[name]
        for name in Run.__dataclass_fields__
        if name not in ("config", "stage", "facts")
    }
    return Run(
        **plain, config=parse_config(json.loads(row["config"])), stage=stage, facts=to_facts(facts)
    )
