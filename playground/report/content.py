"""What a report tells, read from the store and cleaned: nothing else gets into one.

The thousands of steps are not in it. They are numbers alone, and each format reads them as it
writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from playground.compare import RunRecord
from playground.config import RunConfig
from playground.events import Answer, Message
from playground.report.cleaning import Cleaner
from playground.store import Group, Run, RunStore
from playground.stored import record

WHEN = ("before", "after")
MOST_MESSAGES = 200

Answers = Mapping[str, Mapping[str, Sequence[Answer]]]
Named = Callable[[str], str]


@dataclass(frozen=True)
class Content:
    """One comparison as others may read it.

    Attributes:
        messages: by run id.
        answers: what the runs wrote for held-out rows, by run id and ``WHEN``; None: not asked for,
            and then no row of the data is in the report.
        brought: names of files and folders that who made it has, and who reads it has not.
    """

    group: Group
    messages: Mapping[str, Sequence[Message]]
    answers: Answers | None
    brought: tuple[str, ...] = ()

    def records(self, store: RunStore) -> list[RunRecord]:
        """Of the runs, in their order, with the figures of every step."""
        return [record(store, run) for run in self.group.runs]


def gather(
    store: RunStore, group: Group, rows: bool = False, named: Named = lambda name: name
) -> Content:
    """Everything of a comparison that goes into a report.

    Args:
        rows: with the held-out rows and their answers, which are rows of somebody's data.
        named: a model or a dataset, which may be a path, as others may read it.
    """
    answers = {r.id: {when: store.eval_answers(r.id, when) for when in WHEN} for r in group.runs}
    sources = dict.fromkeys(name for r in group.runs for name in (r.config.model, r.config.dataset))
    cleaner = Cleaner(
        folders=[store.home, *(Path(name).parent for name in sources)],
        kept=set(_kept(group, named)),
        withheld=() if rows else _rows(answers),
    )

    def of_run(run: Run) -> Run:
        return replace(
            run,
            config=_config(run.config, cleaner, named),
            error=run.error and cleaner.sentence(run.error),
            stage=cleaner(run.stage),
            facts=cleaner(run.facts),
        )

    def said(run: Run) -> list[Message]:
        found = store.messages(run.id, MOST_MESSAGES)
        return [m.model_copy(update={"text": cleaner.sentence(m.text)}) for m in found]

    runs = tuple(map(of_run, group.runs))
    words = {name: cleaner(getattr(group, name)) for name in ("title", "note", "preset")}
    return Content(
        group=replace(group, runs=runs, **words),
        messages={run.id: said(run) for run in group.runs},
        answers=cleaner(answers) if rows else None,
        brought=tuple(cleaner(named(name)) for name in sources if named(name) != name),
    )


def _config(config: RunConfig, cleaner: Cleaner, named: Named) -> RunConfig:
    names = {"model": named(config.model), "dataset": named(config.dataset)}
    return cleaner(config.model_copy(update=names))


def _kept(group: Group, named: Named) -> Iterator[str]:
    """What has to be told, should a variable of the environment happen to say the same."""
    for run in group.runs:
        yield from (name for name in (run.config.model, run.config.dataset) if named(name) == name)
        yield from map(str, (run.facts.environment or {}).values())
        yield from map(str, (run.facts.device or {}).values())


def _rows(answers: Answers) -> Iterator[str]:
    for told in (answer for given in answers.values() for one in given.values() for answer in one):
        yield from (told.prompt, told.reference, told.answer)
