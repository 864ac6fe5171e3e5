"""A comparison as it runs, in a terminal: a live table, or plain lines where none is there."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from statistics import fmean, median, stdev
from typing import Protocol

from rich.box import SIMPLE
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from playground.config import PRECISIONS
from playground.events import Eval, Step
from playground.store import Group, Run, RunStore

_LOOK_S = 0.2
_RECENT = 10  # steps behind the time left
_COLOURS = {
    "finished": "green",
    "failed": "red",
    "diverged": "red",
    "interrupted": "yellow",
    "paused": "yellow",
}


class View(Protocol):
    """What follow() draws on."""

    def __enter__(self) -> View: ...
    def __exit__(self, *_: object) -> None: ...
    def show(self, group: Group) -> None: ...


def view(store: RunStore, console: Console) -> View:
    """A live table on a terminal, else one line for each thing that happens."""
    return _LiveView(store, console) if console.is_terminal else _PlainView(store, console)


def follow(store: RunStore, group_id: str, drawn: View, leaves: Callable[[], bool]) -> Group:
    """Draws until every run has ended and its process is gone, or until ``leaves`` says so.

    Asks the store "anything new?" and redraws only then; ``leaves`` is asked every time.
    """
    token = None
    with drawn:
        while True:
            leave = leaves()
            now = store.change_token(group_id)
            if now != token:
                token, group = now, store.get_group(group_id)
                drawn.show(group)
                if group.over and not any(run.pid for run in group.runs):
                    return group
            if leave:
                return group
            time.sleep(_LOOK_S)


def waiting_for(store: RunStore, group_id: str) -> str | None:
    """One sentence about the run that must end before this group's first, or None."""
    other = next((run for run in store.live() if run.group_id != group_id), None)
    if other is None:
        return None
    title = store.get_group(other.group_id).title
    return (
        f"Another run is live: '{title}' in {_label(other)} ({other.id}). "
        "This comparison waits in the queue and starts when its turn comes."
    )


def number(value: float | None, digits: int = 4) -> str:
    """A figure for a person; what is missing is a dash, and NaN stays NaN."""
    if value is None:
        return "–"
    return f"{value:,.{digits}f}" if math.isfinite(value) else str(value)


def mean_and_spread(values: Sequence[float]) -> str:
    """``0.0100 ± 0.0012``, the standard deviation of the sample; without it for a single value."""
    if not values:
        return number(None)
    spread = f" ± {number(stdev(values))}" if len(values) > 1 else ""
    return number(fmean(values)) + spread


def by_precision(group: Group) -> dict[str, list[Run]]:
    """The runs of each precision, one a seed, in the order of the group."""
    names = dict.fromkeys(run.precision for run in group.runs)
    return {name: [run for run in group.runs if run.precision == name] for name in names}


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


class _LiveView:
    def __init__(self, store: RunStore, console: Console) -> None:
        self._store = store
        self._wide = console.width >= 110
        self._live = Live(console=console, refresh_per_second=4, transient=False)
        self._said: set[tuple[str, int]] = set()

    def __enter__(self) -> View:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, group: Group) -> None:
        table = Table(title=Text(group.title), title_justify="left", box=SIMPLE)
        for heading in ("precision", "state", *(["progress"] if self._wide else [])):
            table.add_column(heading, no_wrap=True)
        for heading in ("step", "loss", "held-out loss", "tokens/s", "left"):
            table.add_column(heading, justify="right")
        seeds = _several_seeds(group)
        for runs in by_precision(group).values():
            if seeds:
                table.add_row(*self._summary(runs))
            for run in runs:
                self._say_messages(run, seeds)
                # With repetitions, what waits or went well is in the summary of its precision.
                if not seeds or run.status not in ("queued", "finished"):
                    table.add_row(
                        *self._row(run, f"  seed {run.config.training.seed}" if seeds else None)
                    )
        self._live.update(table, refresh=True)

    def _summary(self, runs: list[Run]) -> list[str | Text | ProgressBar]:
        """One precision of several seeds: how many are done, and what they came to."""
        finished = [run for run in runs if run.status == "finished"]
        finals = [e.loss for run in finished for e in self._store.evals(run.id)[-1:]]
        bar = (
            [ProgressBar(total=len(runs), completed=len(finished), width=24)] if self._wide else []
        )
        return [
            _label(runs[0]),
            Text(f"{len(finished)} of {len(runs)} done"),
            *bar,
            "",
            "",
            mean_and_spread(finals),
            "",
            "",
        ]

    def _row(self, run: Run, name: str | None = None) -> list[str | Text | ProgressBar]:
        step, steps = self._store.last_step(run.id), run.config.training.max_steps
        done = step.step if step else 0
        left = _seconds_left(self._store, run, done)
        evals = self._store.evals(run.id)
        bar = [ProgressBar(total=steps, completed=done, width=24)] if self._wide else []
        return [
            name or _label(run),
            Text(_state(run), style=_COLOURS.get(run.status, "")),
            *bar,
            f"{done}/{steps}",
            number(step.loss if step else None),
            number(evals[-1].loss if evals else None),
            _speed(run, step),
            "–" if left is None else clock(left),
        ]

    def _say_messages(self, run: Run, seeds: bool) -> None:
        for position, message in enumerate(self._store.messages(run.id)):
            if (run.id, position) not in self._said:
                self._said.add((run.id, position))
                self._live.console.print(f"{_name(run, seeds)}: {escape(message.text)}")


class _PlainView:
    """For logs: a line when a run starts, changes its stage, every tenth of the steps, and ends."""

    def __init__(self, store: RunStore, console: Console) -> None:
        self._store = store
        self._console = console
        self._said: set[tuple[object, ...]] = set()
        self._seeds = False

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, group: Group) -> None:
        self._seeds = _several_seeds(group)
        for run in group.runs:
            if run.status != "queued" and run.stage:
                self._once(run, "stage", run.stage.name, text=run.stage.name)
            evals = self._store.evals(run.id)
            self._evals(run, [e for e in evals if e.when == "before"])
            self._step(run)
            self._evals(run, evals)
            for position, message in enumerate(self._store.messages(run.id)):
                self._once(run, "message", position, text=f"{message.level}: {message.text}")
            if run.over:
                ending = f"{run.status}: {run.error}" if run.error else run.status
                self._once(run, "status", text=ending)

    def _evals(self, run: Run, evals: list[Eval]) -> None:
        for evaluation in evals:
            what = (evaluation.when, evaluation.step)
            self._once(run, "eval", *what, text=_held_out(evaluation))

    def _step(self, run: Run) -> None:
        step, steps = self._store.last_step(run.id), run.config.training.max_steps
        if step:
            tenth = step.step * 10 // steps
            line = f"step {step.step}/{steps}, loss {number(step.loss)}"
            self._once(run, "step", tenth, text=f"{line}, {_speed(run, step, ' tokens/s')}")

    def _once(self, run: Run, *what: object, text: str) -> None:
        if (run.id, *what) not in self._said:
            self._said.add((run.id, *what))
            line = f"{_name(run, self._seeds)}: {text}"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _label(run: Run) -> str:
    return PRECISIONS[run.precision].label


def _several_seeds(group: Group) -> bool:
    return len({run.config.training.seed for run in group.runs}) > 1


def _name(run: Run, with_seed: bool) -> str:
    return f"{_label(run)}, seed {run.config.training.seed}" if with_seed else _label(run)


def _state(run: Run) -> str:
    if run.over or run.status == "queued":
        return run.status
    if run.stop_requested:
        return "pausing" if run.stop_kind == "pause" else "stopping"
    if run.stage is None:
        return "starting"
    share = "" if run.stage.progress is None else f" {run.stage.progress:.0%}"
    return f"{run.stage.name}{share}"


def _speed(run: Run, step: Step | None, unit: str = "") -> str:
    # A figure without how it ran would read as a claim about the precision.
    how = f", {run.facts.how}" if run.facts.how else ""
    return number(step.tokens_per_s, 0) + unit + how if step else "–"


def _held_out(evaluation: Eval) -> str:
    exact = evaluation.exact_match
    answers = "" if exact is None else f", {exact:.0%} answered exactly"
    return f"held-out loss {evaluation.when} training {number(evaluation.loss)}{answers}"


def _seconds_left(store: RunStore, run: Run, done: int) -> float | None:
    recent = store.steps(run.id, after_step=max(0, done - _RECENT))
    if run.over or not recent:
        return None
    return (run.config.training.max_steps - done) * median(s.step_ms for s in recent) / 1000
