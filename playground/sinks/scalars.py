"""An event as named numbers: ``table/column``, the names under which our store keeps them."""

from __future__ import annotations

from typing import NamedTuple

from playground.events import CrossEval, Eval, Event, LayerError, Step


class Scalars(NamedTuple):
    """step: None where the figure belongs to the whole run. values: by name, NaN and inf as is."""

    step: int | None
    values: dict[str, float]


def scalars(event: Event) -> Scalars | None:
    """The numbers of an event, those that were measured; None for an event without any."""
    if isinstance(event, Step):
        return Scalars(event.step, _numbers("steps", event))
    if isinstance(event, Eval):
        # How it is asked for (before, during, after) shows in the step already.
        return Scalars(event.step, _numbers("evals", event))
    if isinstance(event, CrossEval):
        merged = "merged" if event.merged else "apart"
        return Scalars(None, {f"cross_evals/{event.base}/{merged}/loss": event.loss})
    if isinstance(event, LayerError):
        return Scalars(event.step, _numbers(f"layer_errors/{event.layer}/{event.tensor}", event))
    return None


def _numbers(table: str, event: Event) -> dict[str, float]:
    columns = event.model_dump(exclude={"step"})
    return {
        f"{table}/{name}": float(value)
        for name, value in columns.items()
        if isinstance(value, int | float)
    }
