"""The run itself: a configuration in, a stream of events out. It knows no store and no page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from playground.config import RunConfig, TrainingSettings
from playground.data.batches import MicroBatch
from playground.events import Event, Facts, Message, Stage, Status, Step
from playground.training.adapter import save_adapter
from playground.training.checkpoint import (
    checkpoint_is_due,
    keep_checkpoint,
    newest_checkpoint,
    remove_checkpoints,
    restore_checkpoint,
)
from playground.training.cross import cross_evaluate
from playground.training.durable import remove_partial
from playground.training.endings import all_skipped, diverged, diverged_after
from playground.training.energy import EnergyMeter
from playground.training.heal import heal, still_settling
from playground.training.held_out import evaluate
from playground.training.longest import try_longest
from playground.training.loss import summed_loss
from playground.training.meters import MIB, WARMUP_STEPS, Memory, StepTimer, stored_bytes
from playground.training.moved import warn_if_silent
from playground.training.optimise import Update
from playground.training.prepare import prepare
from playground.training.probe import probe
from playground.training.state import TrainingState
from playground.training.stopping import Stopped, listen_within_passes


def train(
    config: RunConfig,
    *,
    folder: Path,
    should_stop: Callable[[], bool] = lambda: False,
    resume: bool = False,
) -> Iterator[Event]:
    """Fine-tunes a LoRA adapter on a frozen base model in one precision.

    Yields Stage and Facts as things become known, an Eval before, a Step for each optimizer step,
    Evals between as asked, an Eval after, CrossEvals of the adapter on other bases as asked, and
    one Status at the end: finished, stopped, or diverged when the loss or the gradients are no
    longer finite, or never were. The same configuration gives the same events twice, times and
    memory aside, also if it was stopped or killed and resumed in between.

    An event is to be stored before the next is asked for: what is removed or written then counts on
    it.

    Args:
        folder: the run's own. ``folder/adapter`` is complete when the run is finished or judges its
            adapter on other bases, else absent; ``folder/checkpoints`` is there until it is.
        should_stop: asked within and after each step, and while loading, tokenising and evaluating.
            A run that had begun to train writes a checkpoint before it stops.
        resume: go on after the newest checkpoint in ``folder``, or from step 0 if there is none.
    Raises:
        SettingsError: the configuration cannot be run, or is not the checkpoint's; before any
            training, in one sentence.
        ResumeError: the checkpoint cannot be gone on from.
    """

    def check() -> None:
        if should_stop():
            raise Stopped

    try:
        yield from _train(config, folder, check, resume)
    except Stopped:
        yield Status(status="stopped")


def _train(
    config: RunConfig, folder: Path, check: Callable[[], None], resume: bool
) -> Iterator[Event]:
    checkpoints = folder / "checkpoints"
    remove_partial(folder)
    if not resume:
        remove_checkpoints(checkpoints)
    newest = newest_checkpoint(checkpoints, config)  # refused before anything is loaded
    # Runs of one home share a GPU and thus what the self-tests of its backends came to.
    run = yield from prepare(config, check, folder.parent / "self-tests.json")
    listen_within_passes(run.model, run.device, check)
    yield from try_longest(run, check)
    if newest is None:
        # One that keeps checkpoints has none only if it never came to its first step.
        if resume and not config.training.checkpoint_every:
            text = "There is no checkpoint to go on from, so it starts again from step 0."
            yield Message(level="info", text=text)
        yield from evaluate(run, 0, "before", check)
    state = TrainingState(run)
    if newest is not None:
        yield Stage(name="resuming", detail=newest.name)
        yield from restore_checkpoint(state, newest, check)
        yield Facts(resumed_at_step=state.step + 1)
        yield Message(level="info", text=f"Resumed after step {state.step}.")
    try:
        status = yield from _steps(state, checkpoints, check)
        yield from state.facts()
        if status.status == "finished":
            status = yield from _conclude(state, folder / "adapter", check)
    except Stopped:
        yield from state.facts()
        yield Stage(name="saving a checkpoint", detail=f"step {state.step}")
        yield from keep_checkpoint(state, checkpoints)
        status = Status(status="stopped")
    yield status
    if status.status == "finished":
        remove_checkpoints(checkpoints)


def _conclude(state: TrainingState, adapter: Path, check: Callable[[], None]) -> Iterator[Event]:
    """What comes after the last step; returns the Status the run ends in."""
    run = state.run
    loss = yield from evaluate(run, state.step, "after", check)
    if not math.isfinite(loss):  # the last update did it, so no step could see it
        return diverged_after(state.step, loss)
    yield from warn_if_silent(run.model)
    yield Stage(name="saving the adapter")
    check()
    save_adapter(run.model, adapter, state.base_name, run.tokenizer)
    yield from cross_evaluate(run, check)  # last, because the run's own base is gone after it
    return Status(status="finished")


def _steps(state: TrainingState, checkpoints: Path, check: Callable[[], None]) -> Iterator[Event]:
    """Yields the steps and the evaluations between them; returns the Status they end in."""
    run, optimiser, settings = state.run, state.optimiser, state.run.config.training
    timer, energy = StepTimer(run.device), EnergyMeter(run.device)
    counted = (False, run.recipe.name)

    def loss_of(batch: MicroBatch) -> torch.Tensor:
        check()
        with run.memory.watch(batch):
            return summed_loss(run.model, batch.to(run.device))

    def look_around() -> Iterator[Event]:
        """Between two steps: what is due after the last, whoever made it."""
        if checkpoint_is_due(state.step, settings):
            yield from keep_checkpoint(state, checkpoints)
        check()
        if _evaluation_is_due(state.step, settings):
            yield from evaluate(run, state.step, "during", check)
            yield Stage(name="training")

    yield Facts(energy_source=energy.source)
    yield Stage(name="training")
    yield from look_around()
    for number, micro_batches in state.steps_left():
        yield from heal(run, number, check)
        with energy(), timer():
            update = optimiser.step(micro_batches, loss_of)
        state.completed(number, micro_batches)
        # AdamW makes its moments when it first moves; another base has other weights.
        at_rest = (optimiser.updates > 0, run.recipe.name)
        changed, counted = at_rest != counted, at_rest
        if changed:
            run.memory.recount(optimiser.state_tensors())
        used = run.memory.read()
        yield _step_event(state, micro_batches, update, timer.step_ms, used, energy)
        if changed and optimiser.updates:
            yield Facts(optimizer_mib=stored_bytes(optimiser.state_tensors()) / MIB)
        if ended := diverged(number, update, optimiser):
            return ended
        yield from probe(run, number, micro_batches, update.loss_scale)
        yield from look_around()
    if not optimiser.updates:  # a model that was never trained
        return all_skipped(optimiser)
    return Status(status="finished")


def _evaluation_is_due(number: int, settings: TrainingSettings) -> bool:
    # After the last step comes the evaluation "after" anyway.
    every = settings.eval_every
    return every > 0 and number % every == 0 and 0 < number < settings.max_steps


def _step_event(
    state: TrainingState,
    batches: list[MicroBatch],
    update: Update,
    step_ms: float,
    used: Memory,
    energy: EnergyMeter,
) -> Step:
    """Of the step just completed."""
    run, number = state.run, state.step
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
        warmup=number <= state.resumed_at + WARMUP_STEPS[run.device.type]
        or still_settling(run, number),
        memory_mib=used.memory_mib,
        peak_mib=used.peak_mib,
        reserved_mib=used.reserved_mib,
        power_w=energy.power_w,
        energy_j=energy.energy_j,
    )
