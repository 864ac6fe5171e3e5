"""Comparisons that are over and have adapters and answers, made up in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence

from playground.events import Answer, EvalAnswers, Facts, Status
from playground.store import Group, RunStore
from tests import fakes

ROWS = (("1+1=", "2"), ("<b>2</b>+2=", "4"), ("3+3=", "6"))


def finished_group(
    store: RunStore,
    precisions: str = "fp16,nvfp4",
    title: str = "Sums",
    answers: Sequence[tuple[str, str]] = ROWS,
) -> Group:
    """Each run has an (empty) adapter; every row is wrong before, and all but the last right after.

    The last precision also gets the second row wrong.
    """
    preset = fakes.preset("steady", precisions=precisions)
    owner = fakes.someone_else()
    group = store.create_group("quick", title, preset.configs, owner)
    for run in group.runs:
        assert store.claim_next(owner)
        (store.run_folder(run.id) / "adapter").mkdir(parents=True)
        store.append(run.id, Facts(how="emulated", effective=run.precision, template="own"))
        last = run.id == group.runs[-1].id
        for when in ("before", "after") if answers else ():
            given = tuple(
                Answer(row=i, prompt=q, reference=a, answer=_answer(when, i, a, last, len(answers)))
                for i, (q, a) in enumerate(answers)
            )
            store.append(run.id, EvalAnswers(step=0, when=when, answers=given))
        store.append(run.id, Status(status="finished"))
        store.settle(run.id, "failed", None, owner=owner)
    return store.get_group(group.id)


def _answer(when: str, row: int, reference: str, last: bool, rows: int) -> str:
    if when == "before":
        return "<i>no idea</i>"
    wrong = row == rows - 1 or (last and row == 1)
    return f"{reference}0" if wrong else reference
