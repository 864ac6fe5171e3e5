"""Arms of a comparison made by hand, for the tests of curves, fairness and verdict."""

from __future__ import annotations

from typing import Any

from playground.compare import RunRecord
from playground.config import parse_config
from playground.events import Eval, Facts, Step
from playground.presets import defaults

EMULATED = {"how": "emulated"}
NATIVE = {"how": "native"}


def step(number: int, loss: float = 1.0, **changes: Any) -> Step:
    """Step ``number`` with 100 tokens in 200 ms, unless told otherwise."""
    values = {
        "step": number,
        "loss": loss,
        "learning_rate": 1e-3,
        "tokens": 100,
        "padded_tokens": 4,
        "supervised_tokens": 40,
        "step_ms": 200.0,
        "tokens_per_s": 500.0,
        "memory_mib": 64.0,
        "warmup": number == 1,
    }
    return Step(**values | changes)


def arm(
    precision: str,
    *,
    after: float | None = 0.5,
    before: float = 2.0,
    status: str = "finished",
    error: str | None = None,
    steps: list[Step] | None = None,
    settings: dict[str, Any] | None = None,
    **facts: Any,
) -> RunRecord:
    """A run of ``precision`` that ended with held-out loss ``after``."""
    known = {
        "effective": precision,
        "how": "native",
        "batches_sha256": "b" * 64,
        "adapter_init_sha256": "a" * 64,
        "environment": {"torch": "2.13.0"},
    }
    evals = [Eval(step=0, when="before", loss=before, tokens=10)]
    if after is not None:
        evals.append(Eval(step=9, when="after", loss=after, tokens=10))
    config = parse_config(
        defaults() | {"model": "tiny", "dataset": "d", "precision": precision} | (settings or {})
    )
    return RunRecord(
        id=precision,
        config=config,
        status=status,
        error=error,
        facts=Facts(**known | facts),
        steps=[step(n) for n in range(1, 10)] if steps is None else steps,
        evals=evals,
    )
