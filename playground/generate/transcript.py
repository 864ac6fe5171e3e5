"""Who answers a question, and what they have said so far, read from the file the child writes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from playground.store import Group, RunStore

Ended = Literal["by itself", "at its limit", "stopped"]


@dataclass(frozen=True)
class Column:
    """One of those who answer, and its answer so far.

    Attributes:
        tuned: with the run's adapter; otherwise its base alone.
        chat: its rows were written in a chat template, so it can read a conversation.
        of: the comparison's title, where those of two are asked.
        precision: of the base weights, the one the run ended in.
        how: how the run was computed, as it recorded it.
        doing: loading or answering; None while it waits and when it is over.
        tokens: of the answer so far. seconds: from its first token on.
    """

    run_id: str
    tuned: bool
    precision: str
    how: str | None
    chat: bool = False
    of: str = ""
    doing: Literal["loading", "answering"] | None = None
    text: str = ""
    tokens: int = 0
    ended: Ended | None = None
    seconds: float | None = None
    error: str | None = None

    @property
    def over(self) -> bool:
        return self.ended is not None or self.error is not None


def columns_of(store: RunStore, group: Group, beside: Group | None = None) -> list[Column]:
    """The untuned base of the first arm that has an adapter, then one tuned arm a precision.

    Of repetitions the first that finished speaks for all.

    Args:
        beside: a comparison of the same model, whose tuned arms follow.
    """
    tuned = _tuned(store, group)
    base = [replace(column, tuned=False) for column in tuned[:1]]
    if beside is None or not tuned:
        return [*base, *tuned]
    both = ((group, tuned), (beside, _tuned(store, beside)))
    return [*base, *(replace(c, of=g.title) for g, columns in both for c in columns)]


def _tuned(store: RunStore, group: Group) -> list[Column]:
    tuned: dict[str, Column] = {}
    for run in group.runs:
        if run.status == "finished" and (store.run_folder(run.id) / "adapter").is_dir():
            precision = run.facts.healed_to or run.precision
            chat = run.facts.template in ("own", "plain")
            column = Column(run.id, True, precision, run.facts.how, chat)
            tuned.setdefault(run.precision, column)
    return list(tuned.values())


class Transcript:
    """The columns of one question, brought up to date by ``read``."""

    def __init__(self, path: Path, columns: list[Column]) -> None:
        self.path, self.columns, self.done = path, tuple(columns), False
        self._at = 0

    def read(self) -> bool:
        """Takes in what was written since the last time; whether anything was."""
        if not self.path.exists():
            return False
        with self.path.open("rb") as file:
            file.seek(self._at)
            whole, found, _ = file.read().rpartition(b"\n")  # never half a line
        self._at += len(whole) + len(found)
        for line in whole.splitlines():
            self._take(json.loads(line))
        return bool(found)

    def _take(self, said: dict[str, Any]) -> None:
        self.done = self.done or said.pop("done", False)
        if "column" in said:
            at = said.pop("column")
            over = {"doing": None} if said.keys() & {"ended", "error"} else {}
            columns = list(self.columns)
            columns[at] = replace(columns[at], **said, **over)
            self.columns = tuple(columns)
