"""One evaluation of a run: its progress, then what it found, as events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Literal, TypeVar

from playground.events import Eval, EvalAnswers, EvalRows, Event, Stage
from playground.training.evaluate import ExactMatch, exact_match, held_out_loss
from playground.training.prepare import Prepared

Found = TypeVar("Found")


def evaluate(
    run: Prepared,
    step: int,
    when: Literal["before", "during", "after"],
    check: Callable[[], None],
) -> Iterator[Event]:
    """Yields its progress, then its Eval; returns the loss. No answers are written during."""
    settings = run.config
    # Its passes must not show in the seeds of the steps that follow: nothing of it does.
    with run.model.get_base_model().shared_operand.aside():
        found = yield from with_progress(
            f"loss of {len(run.eval)} held-out rows",
            held_out_loss(
                run.model,
                run.eval,
                batch_size=settings.training.micro_batch_size,
                pad_id=run.pad_id,
                device=run.device,
                check=check,
            ),
        )
        match = ExactMatch(None, 0)
        asked = run.eval[: settings.data.exact_match_rows]
        if asked and when != "during":
            match = yield from with_progress(
                f"answering {len(asked)} held-out rows",
                exact_match(run.model, run.tokenizer, asked, device=run.device, check=check),
            )
    if when != "during":
        yield EvalRows(step=step, when=when, losses=found.row_losses, tokens=found.row_tokens)
        if match.answers:
            yield EvalAnswers(step=step, when=when, answers=match.answers)
    yield Eval(
        step=step,
        when=when,
        loss=found.loss,
        tokens=found.tokens,
        exact_match=match.share,
        exact_match_rows=match.rows,
    )
    return found.loss


def with_progress(detail: str, work: Generator[float, None, Found]) -> Iterator[Event]:
    """Passes on the share of ``work`` that is done; returns what it found."""
    yield Stage(name="evaluating", detail=detail, progress=0.0)
    while True:
        try:
            share = next(work)
        except StopIteration as done:
            return done.value
        yield Stage(name="evaluating", detail=detail, progress=share)
