"""The run itself: a configuration in, a stream of events out. It knows no store and no page."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Literal, TypeVar

import torch

from playground.config import RunConfig, TrainingSettings
from playground.data.batches import BatchHash, MicroBatch, batches
from playground.events import Eval, Event, Facts, Stage, Status, Step
from playground.precision.recipe import Recipe
from playground.training.adapter import save_adapter, trainable
from playground.training.evaluate import ExactMatch, exact_match, held_out_loss
from playground.training.loss import summed_loss
from playground.training.meters import MIB, WARMUP_STEPS, Memory, StepTimer, stored_bytes
from playground.training.optimise import Optimiser, Update
from playground.training.prepare import Prepared, prepare

Found = TypeVar("Found")

REMEDY = "lower the learning rate or pick a precision with a larger range."


class _Stopped(Exception):
    """Someone asked to stop in the middle of something."""


def train(
    config: RunConfig, *, folder: Path, should_stop: Callable[[], bool] = lambda: False
) -> Iterator[Event]:
    """Fine-tunes a LoRA adapter on a frozen base model in one precision.

    Yields Stage and Facts as things become known, an Eval before, a Step for each optimizer step,
    Evals between as asked, an Eval after, and one Status at the end: finished, stopped, or diverged
    when the loss or the gradients are no longer finite, or never were. The same configuration gives
    the same events twice, times and memory aside.

    Args:
        folder: the run's own; ``folder/adapter`` is complete when the run is finished, else absent.
        should_stop: asked after each step, and while loading, tokenising and evaluating.
    Raises:
        SettingsError: the configuration cannot be run; before any training, in one sentence.
    """

    def check() -> None:
        if should_stop():
            raise _Stopped

    try:
        yield from _train(config, folder, check)
    except _Stopped:
        yield Status(status="stopped")


def _train(config: RunConfig, folder: Path, check: Callable[[], None]) -> Iterator[Event]:
    # Runs of one home share a GPU and thus what the self-tests of its backends came to.
    run = yield from prepare(config, check, folder.parent / "self-tests.json")
    yield from _evaluate(run, 0, "before", check)
    status = yield from _steps(run, check)
    if status.status == "finished":
        last = config.training.max_steps
        loss = yield from _evaluate(run, last, "after", check)
        if not math.isfinite(loss):  # the last update did it, so no step could see it
            error = f"After step {last} the held-out loss became {loss}; {REMEDY}"
            yield Status(status="diverged", error=error)
            return
        yield Stage(name="saving the adapter")
        check()
        folder.mkdir(parents=True, exist_ok=True)
        # A local folder goes by its name: where it lies is nobody's business.
        save_adapter(run.model, folder / "adapter", run.entry.hub_id or Path(run.entry.id).name)
    yield status


def _steps(run: Prepared, check: Callable[[], None]) -> Iterator[Event]:
    """Yields the steps and the evaluations between them; returns the Status they end in."""
    settings = run.config.training
    optimiser = Optimiser(
        list(trainable(run.model).values()),
        settings,
        scales_loss=run.recipe.scales_loss,
        device=run.device,
    )
    timer, digest = StepTimer(run.device), BatchHash()
    peak_mib: float | None = None
    status = Status(status="finished")
    order = batches(
        run.train,
        settings.micro_batch_size,
        settings.grad_accum_steps,
        settings.seed,
        pad_id=run.pad_id,
    )

    def loss_of(batch: MicroBatch) -> torch.Tensor:
        check()
        with run.memory.watch(batch):
            return summed_loss(run.model, batch.to(run.device))

    yield Stage(name="training")
    for number, micro_batches in zip(range(1, settings.max_steps + 1), order, strict=False):
        try:
            with timer():
                update = optimiser.step(micro_batches, loss_of)
            digest.add(micro_batches)
            used = run.memory.read(optimiser.state_tensors())
            peak_mib = used.peak_mib
            yield _step_event(run, number, micro_batches, update, timer.step_ms, used)
            if optimiser.updates == 1 and not update.skipped:
                yield Facts(optimizer_mib=stored_bytes(optimiser.state_tensors()) / MIB)
            if reason := _diverged(update, optimiser, run.recipe):
                status = Status(status="diverged", error=f"At step {number} {reason}")
                break
            check()
            if _evaluation_is_due(number, settings):
                yield from _evaluate(run, number, "during", check)
                yield Stage(name="training")
        except _Stopped:
            status = Status(status="stopped")
            break
    if status.status == "finished" and not optimiser.updates:  # a model that was never trained
        status = Status(status="diverged", error=_all_skipped(optimiser))
    yield Facts(
        batches_sha256=digest.hexdigest(), peak_mib=peak_mib, skipped_updates=optimiser.skipped
    )
    return status


def _evaluation_is_due(number: int, settings: TrainingSettings) -> bool:
    # After the last step comes the evaluation "after" anyway.
    every = settings.eval_every
    return every > 0 and number % every == 0 and number < settings.max_steps


def _step_event(
    run: Prepared,
    number: int,
    batches: list[MicroBatch],
    update: Update,
    step_ms: float,
    used: Memory,
) -> Step:
    tokens = sum(batch.tokens for batch in batches)
    return Step(
        step=number,
        loss=update.loss,
        grad_norm=update.grad_norm,
        learning_rate=update.learning_rate,
        loss_scale=update.loss_scale,
        skipped=update.skipped,
        tokens=tokens,
        padded_tokens=sum(batch.padded_tokens for batch in batches),
        supervised_tokens=sum(batch.supervised_tokens for batch in batches),
        step_ms=step_ms,
        tokens_per_s=tokens / (step_ms / 1000),
        warmup=number <= WARMUP_STEPS[run.device.type],
        memory_mib=used.memory_mib,
        peak_mib=used.peak_mib,
    )


def _diverged(update: Update, optimiser: Optimiser, recipe: Recipe) -> str | None:
    """Why training cannot go on, or None; a step that the loss scaler skipped is no reason."""
    if not math.isfinite(update.loss):
        return f"the loss became {update.loss}; {REMEDY}"
    if update.skipped and not recipe.scales_loss:
        return f"the gradients became {update.grad_norm}; {REMEDY}"
    if optimiser.exhausted:
        return f"no loss scale was small enough for finite gradients; {REMEDY}"
    return None


def _all_skipped(optimiser: Optimiser) -> str:
    skipped = optimiser.skipped
    return (
        f"{skipped} of {skipped} updates were skipped, because the gradients overflowed at every "
        "loss scale that was tried, so nothing was learned; set max_steps higher, so that the loss "
        "scale can fall further, or pick a precision with a larger range."
    )


def _evaluate(
    run: Prepared,
    step: int,
    when: Literal["before", "during", "after"],
    check: Callable[[], None],
) -> Iterator[Event]:
    """Yields its progress, then its Eval; returns the loss. No answers are written during."""
    settings = run.config
    found = yield from _with_progress(
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
        match = yield from _with_progress(
            f"answering {len(asked)} held-out rows",
            exact_match(run.model, run.tokenizer, asked, device=run.device, check=check),
        )
    yield Eval(
        step=step,
        when=when,
        loss=found.loss,
        tokens=found.tokens,
        exact_match=match.share,
        exact_match_rows=match.rows,
    )
    return found.loss


def _with_progress(detail: str, work: Generator[float, None, Found]) -> Iterator[Event]:
    """Passes on the share of ``work`` that is done; returns what it found."""
    yield Stage(name="evaluating", detail=detail, progress=0.0)
    while True:
        try:
            share = next(work)
        except StopIteration as done:
            return done.value
        yield Stage(name="evaluating", detail=detail, progress=share)
