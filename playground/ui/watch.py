"""Which comparison a page shows, and whether anything on it is new; each page asks now and then.

``look`` returns None when nothing has changed: the page then redraws nothing. No widgets here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from playground.compare import RunRecord
from playground.config import SettingsError
from playground.events import Message, Step
from playground.store import Group, Run, RunStore
from playground.ui import charts, text


@dataclass(frozen=True)
class Seen:
    """As of when a page shows what. ``group_id`` None: nothing yet."""

    group_id: str | None = None
    token: int = -1
    queue: tuple[tuple[str, str], ...] = ()

    @property
    def stamp(self) -> str:
        """The same for the same moment of the same comparison, whoever looks."""
        return hashlib.sha1(repr(self).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Arm:
    """One run as the page shows it."""

    run: Run
    record: RunRecord  # its steps thinned to what a chart can use
    messages: list[Message]
    printed: str  # the end of what its process printed

    @property
    def last_step(self) -> Step | None:
        return self.record.steps[-1] if self.record.steps else None


@dataclass(frozen=True)
class Scene:
    """Everything the Compare page shows of one comparison, as of one moment."""

    seen: Seen
    group: Group | None
    arms: list[Arm]
    records: list[RunRecord]  # every step once the comparison is over, else as the charts have them
    queue: tuple[Group, ...] = ()  # what runs and what waits, in the order in which it runs
    problem: str | None = None

    @property
    def live(self) -> bool:
        return self.group is not None and not self.group.over

    @property
    def repeated(self) -> bool:
        """Each precision has several runs, one a seed."""
        return len(self.arms) > len({a.run.precision for a in self.arms})

    @property
    def asked(self) -> set[str]:
        """What was asked of runs that have not ended: ``stop``, ``pause``."""
        return {a.run.stop_kind for a in self.arms if not a.run.over and a.run.stop_kind}

    @property
    def ending(self) -> bool:
        return bool(self.asked)

    @property
    def resumable(self) -> bool:
        return not self.asked and any(a.run.why_not_resumable is None for a in self.arms)


def first_choice(store: RunStore) -> str | None:
    """What a page shows that was asked for nothing: what runs now, else the newest, else None."""
    live = store.live()
    if live:
        return next((r for r in live if r.status == "running"), live[0]).group_id
    newest = store.list_groups(limit=1)
    return newest[0].id if newest else None


def newest(store: RunStore, group_id: str | None) -> Seen:
    """What a page would have seen if it looked now: a few small queries."""
    wanted = group_id or first_choice(store)
    queue = _queue(store)
    return Seen(wanted, store.change_token(wanted), queue)


def look(
    store: RunStore,
    group_id: str | None,
    seen: Seen,
    log_tail: Callable[[str], str] = lambda run_id: "",
) -> Scene | None:
    """The scene, or None if the page already shows it.

    Args:
        group_id: the comparison this page is about; None takes the first choice.
        seen: what the page showed last; ``Seen()`` always gets a scene.
        log_tail: the end of what a run's process printed, by run id.
    """
    now = newest(store, group_id)
    wanted, queue = now.group_id, now.queue
    if now == seen:
        return None
    if wanted is None:
        return Scene(now, None, [], [])
    # The token was read before the data: what changes in between is new again at the next look.
    try:
        group = store.get_group(wanted)
    except SettingsError:
        was_there = seen.group_id == wanted and seen.token > 0
        said = text.DELETED_GROUP if was_there else text.UNKNOWN_GROUP
        return Scene(now, None, [], [], problem=said.format(group=wanted))
    arms = [_arm(store, run, log_tail) for run in group.runs]
    records = _whole(store, arms) if group.over else [a.record for a in arms]
    return Scene(now, group, arms, records, tuple(store.get_group(name) for name, _ in queue))


def _queue(store: RunStore) -> tuple[tuple[str, str], ...]:
    """Each group that is not over, by id, oldest first, and whether it runs already."""
    states: dict[str, str] = {}
    for run in store.live():
        if not run.over and states.get(run.group_id) != "running":
            states[run.group_id] = run.status
    return tuple(states.items())


def _arm(store: RunStore, run: Run, log_tail: Callable[[str], str]) -> Arm:
    return Arm(
        run=run,
        record=RunRecord.of(
            run,
            store.steps(run.id, max_points=charts.MAX_POINTS),
            store.evals(run.id, max_points=charts.MAX_POINTS),
            eval_rows=store.eval_rows(run.id) if run.over else None,
            cross=store.cross_evals(run.id) if run.over else (),
            layer_errors=store.layer_errors(run.id, newest=True),
        ),
        messages=store.messages(run.id, limit=60),
        printed="" if run.started_at is None else log_tail(run.id),
    )


def _whole(store: RunStore, arms: list[Arm]) -> list[RunRecord]:
    """Records of every step and evaluation: figures of an ended comparison are exact."""
    return [
        replace(a.record, steps=store.step_figures(a.run.id), evals=store.evals(a.run.id))
        if a.last_step and a.last_step.step > len(a.record.steps)
        else a.record
        for a in arms
    ]
