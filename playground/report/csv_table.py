"""A report as one tidy table: a line for each run, step, evaluation and, if asked for, answer."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from playground.events import Answer, Eval, Step
from playground.report.content import Content
from playground.store import Group, Run, RunStore

_RUN = (
    *("comparison", "title", "model", "dataset", "run", "precision", "effective", "how", "seed"),
    *("status", "error"),
)
_ANSWER = tuple(Answer.model_fields)
_FORMULA = re.compile(r"[\t\r\n]|[\s\"'‘’“”`]*[=+\-@＝＋－＠−]")
"""What spreadsheets take for the start of one, also behind a quote that they may take away."""


_STEP, _EVAL = (tuple(n for n in event.model_fields if n != "kind") for event in (Step, Eval))


def csv_parts(store: RunStore, content: Content) -> Iterator[str]:
    """Comma-separated, UTF-8, a heading first; what was not measured is empty.

    In parts of many lines. ``kind`` says what a line is: run, step, eval or answer. Text that a
    spreadsheet would take for a formula has an apostrophe before it; numbers are as they are, and
    one that is not finite reads ``nan`` or ``inf``.
    """
    measured = ("kind", *_STEP, *(name for name in _EVAL if name not in _STEP))
    columns = (*_RUN, *measured, *(_ANSWER if content.answers is not None else ()))
    yield _written([columns])
    for run in content.group.runs:
        about = _run(content.group, run)
        first = list(map(_cell, about.values()))
        blank = [""] * (len(columns) - len(_RUN) - 1 - len(_STEP))

        def line(more: dict[str, Any], about: dict[str, Any] = about) -> list[Any]:
            return [_cell((about | more).get(name, "")) for name in columns]

        yield _written([line({"kind": "run", "error": run.error})])
        for page in store.step_pages(run.id):
            yield _written([*first, "step", *map(_cell, step.values()), *blank] for step in page)
        yield _written(map(line, map(dict, store.evals(run.id))))
        yield _written(map(line, _answers(content, run.id)))


def _run(group: Group, run: Run) -> dict[str, Any]:
    """The values of ``_RUN``, in its order; the error stands in the line of the run itself."""
    return {
        "comparison": group.id,
        "title": group.title,
        "model": run.config.model,
        "dataset": run.config.dataset,
        "run": run.id,
        "precision": run.precision,
        "effective": run.facts.effective,
        "how": run.facts.how,
        "seed": run.config.training.seed,
        "status": run.status,
        "error": "",
    }


def _answers(content: Content, run_id: str) -> Iterator[dict[str, Any]]:
    for when, given in (content.answers or {}).get(run_id, {}).items():
        for answer in given:
            yield {"kind": "answer", "when": when} | dict(answer)


def _written(lines: Iterable[Iterable[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if value.__class__ is bool:
        return "true" if value else "false"
    return text_cell(value) if isinstance(value, str) else value


def text_cell(text: str) -> str:
    """Text that stays text in a spreadsheet, whatever it begins with."""
    return f"'{text}" if _FORMULA.match(text) else text
