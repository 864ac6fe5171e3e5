"""What a report tells, read from the store and cleaned: nothing else gets into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.compare import RunRecord
from playground.events import Answer, Message
from playground.report.cleaning import clean
from playground.store import Group, Run, RunStore
from playground.stored import record

WHEN = ("before", "after")
MOST_MESSAGES = 200


@dataclass(frozen=True)
class Content:
    """One comparison as others may read it.

    Attributes:
        records: of the runs, in their order, with every step.
        messages: by run id.
        answers: what the runs wrote for held-out rows, by run id and ``WHEN``; None: not asked for,
            and then no row of the data is in the report.
    """

    group: Group
    records: tuple[RunRecord, ...]
    messages: Mapping[str, Sequence[Message]]
    answers: Mapping[str, Mapping[str, Sequence[Answer]]] | None


def gather(store: RunStore, group: Group, rows: bool = False, named: str | None = None) -> Content:
    """Everything of a comparison that goes into a report.

    Args:
        rows: with the held-out rows and their answers, which are rows of somebody's data.
        named: what people call the dataset, where its path says less.
    """

    def cleaned(value: Any) -> Any:
        return clean(value, store.home)

    def called(run: Run) -> Run:
        config = run.config.model_copy(update={"dataset": named}) if named else run.config
        return replace(run, config=config)

    def told(run: Run) -> RunRecord:
        whole = record(store, run)  # its thousands of steps are numbers alone
        texts = {name: cleaned(getattr(whole, name)) for name in ("error", "facts", "layer_errors")}
        return replace(whole, **texts)

    shown: Group = cleaned(replace(group, runs=tuple(map(called, group.runs))))
    records = tuple(
        replace(told(run), config=named_run.config)
        for run, named_run in zip(group.runs, shown.runs, strict=True)
    )
    answers = {
        run.id: {when: cleaned(store.eval_answers(run.id, when)) for when in WHEN}
        for run in group.runs
    }
    return Content(
        group=shown,
        records=records,
        messages={r.id: cleaned(store.messages(r.id, MOST_MESSAGES)) for r in group.runs},
        answers=answers if rows else None,
    )
