"""A report as one tidy table: a line for each run, step, evaluation and, if asked for, answer."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from typing import Any

from playground.compare import RunRecord
from playground.events import Answer, Eval, Step
from playground.report.content import Content

_RUN = (
    *("comparison", "title", "model", "dataset", "run", "precision", "effective", "how", "seed"),
    *("status", "error"),
)
_ANSWER = tuple(Answer.model_fields)
_FORMULA = "=+-@\t\r\n＝＋－＠"


def csv_text(content: Content) -> str:
    """Comma-separated, UTF-8, a heading first; what was not measured is empty.

    ``kind`` says what a line is: run, step, eval or answer. Text that a spreadsheet would take for
    a formula has an apostrophe before it; numbers are as they are, and one that is not finite reads
    ``nan`` or ``inf``.
    """
    measured = [*Step.model_fields, *(n for n in Eval.model_fields if n not in Step.model_fields)]
    columns = [*_RUN, *measured, *(_ANSWER if content.answers is not None else ())]
    out = io.StringIO()
    table = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    table.writeheader()
    for record in content.records:
        for line in _lines(content, record):
            table.writerow({name: _cell(value) for name, value in line.items()})
    return out.getvalue()


def _lines(content: Content, record: RunRecord) -> Iterator[dict[str, Any]]:
    run = {
        "comparison": content.group.id,
        "title": content.group.title,
        "model": record.config.model,
        "dataset": record.config.dataset,
        "run": record.id,
        "precision": record.config.precision,
        "effective": record.facts.effective,
        "how": record.facts.how,
        "seed": record.seed,
        "status": record.status,
    }
    yield run | {"kind": "run", "error": record.error}
    for event in (*record.steps, *record.evals):
        yield run | dict(event)
    if content.answers is not None:
        for when, given in content.answers[record.id].items():
            for answer in given:
                yield run | {"kind": "answer", "when": when} | dict(answer)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return text_cell(str(value))
    return text_cell(value) if isinstance(value, str) else value


def text_cell(text: str) -> str:
    """Text that stays text in a spreadsheet, whatever it begins with."""
    first = text[:1] if text[:1] in _FORMULA else text.lstrip()[:1]
    return f"'{text}" if first and first in _FORMULA else text
