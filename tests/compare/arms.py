"""Arms of a comparison made by hand, for the tests of curves, fairness and verdict."""

from __future__ import annotations

from typing import Any

from playground.compare import RunRecord
from playground.config import parse_config
from playground.events import CrossEval, Eval, EvalRows, Facts, Step
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
    seed: int = 42,
    cause: str | None = None,
    row_losses: list[float] | None = None,
    row_tokens: list[int] | None = None,
    during: dict[int, float] | None = None,
    cross: list[CrossEval] | None = None,
    **facts: Any,
) -> RunRecord:
    """A run of ``precision`` that ended with held-out loss ``after``.

    Args:
        row_losses: summed losses of the held-out rows, 10 tokens each unless ``row_tokens`` says;
            ``after`` is then their mean.
        during: evaluations on the way, by step.
        seed: fixes the hashes too, as it does in a run.
    """
    eval_rows = None
    if row_losses is not None:
        tokens = tuple(row_tokens or [10] * len(row_losses))
        after = sum(row_losses) / sum(tokens)
        eval_rows = EvalRows(step=9, when="after", losses=tuple(row_losses), tokens=tokens)
    known = {
        "effective": precision,
        "how": "native",
        "batches_sha256": f"{seed:b>64}",
        "adapter_init_sha256": f"{seed:a>64}",
        "eval_sha256": "e" * 64,
        "environment": {"torch": "2.13.0"},
    }
    evals = [Eval(step=0, when="before", loss=before, tokens=10)]
    evals += [Eval(step=s, when="during", loss=v, tokens=10) for s, v in (during or {}).items()]
    if after is not None:
        evals.append(Eval(step=9, when="after", loss=after, tokens=10))
    config = parse_config(
        defaults() | {"model": "tiny", "dataset": "d", "precision": precision} | (settings or {})
    ).with_seed(seed)
    return RunRecord(
        id=precision,
        config=config,
        status=status,
        error=error,
        facts=Facts(**known | facts),
        steps=[step(n) for n in range(1, 10)] if steps is None else steps,
        evals=evals,
        cause=cause,
        eval_rows=eval_rows,
        cross=cross or [],
    )
