"""Events survive JSON to the last bit, NaN included."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from playground.events import (
    FINAL,
    Coverage,
    Eval,
    Facts,
    Message,
    Skipped,
    Stage,
    Status,
    Step,
    from_json,
    to_json,
)
from tests import fakes

EXAMPLES = [
    Stage(name="tokenising", detail="row 5", progress=0.25),
    Stage(name="loading"),
    fakes.step(3),
    fakes.step(4, grad_norm=None, loss_scale=None, memory_mib=None, skipped=True),
    Eval(step=0, when="before", loss=4.5, tokens=900),
    Facts(how="emulated", rows={"read": 3}, device={"name": "x"}),
    Facts(
        coverage=Coverage(
            converted=2,
            skipped=(Skipped(name="lm_head", reason="it is the head"),),
            share_of_linear_weights=0.5,
        )
    ),
    Message(level="warning", text="line one\nline two <script>"),
    Status(status="failed", error="It went wrong."),
]


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda e: e.kind)
def test_an_event_comes_back_from_its_line(event: Stage) -> None:
    line = to_json(event)
    assert "\n" not in line
    assert from_json(line) == event


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf, 0.1 + 0.2, 5e-324])
def test_every_float_comes_back(loss: float) -> None:
    back = from_json(to_json(fakes.step(1, loss)))
    assert isinstance(back, Step)
    assert back.loss == loss or (math.isnan(back.loss) and math.isnan(loss))


def test_missing_is_not_written_and_not_zero() -> None:
    line = to_json(fakes.step(1, memory_mib=None))
    assert "memory_mib" not in line
    back = from_json(line)
    assert isinstance(back, Step) and back.memory_mib is None


@pytest.mark.parametrize("line", ["", "{}", '{"kind":"dance"}', '{"kind":"stage"}', "[1]"])
def test_what_is_no_event_is_refused(line: str) -> None:
    with pytest.raises(ValidationError):
        from_json(line)


def test_unknown_fields_and_outcomes_are_refused() -> None:
    with pytest.raises(ValidationError):
        Stage(name="x", speed=3)
    with pytest.raises(ValidationError):
        Status(status="done")


def test_a_run_ends_in_one_of_six_ways() -> None:
    assert {"finished", "stopped", "paused", "failed", "diverged", "interrupted"} == FINAL
