"""The run itself: a configuration in, a stream of events out. It knows no store and no page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from playground.config import RunConfig, TrainingSettings
from playground.data.batches import BatchHash, MicroBatch, batches
from playground.events import Event, Facts, Stage, Status, Step
from playground.training.adapter import save_adapter, trainable
from playground.training.cross import cross_evaluate
from playground.training.endings import REMEDY, all_skipped, diverged
from playground.training.energy import EnergyMeter
from playground.training.heal import heal, scales_loss, still_settling
from playground.training.held_out import evaluate
from playground.training.loss import summed_loss
from playground.training.meters import MIB, WARMUP_STEPS, Memory, StepTimer, stored_bytes
from playground.training.optimise import Optimiser, Update
from playground.training.prepare import Prepared, prepare
from playground.training.probe import probe


class _Stopped(Exception):
    """Someone asked to stop in the middle of something."""


def train(
    config: RunConfig, *, folder: Path, should_stop: Callable[[], bool] = lambda: False
) -> Iterator[Event]:
    """Fine-tunes a LoRA adapter on a frozen base model in one precision.

    Yields Stage and Facts as things become known, an Eval before, a Step for each optimizer step,
    Evals between as asked, an Eval after, CrossEvals of the adapter on other bases as asked, and
    one Status at the end: finished, stopped, or diverged when the loss or the gradients are no
    longer finite, or never were. The same configuration gives the same events twice, times and
    memory aside.

    Args:
        folder: the run's own; ``folder/adapter`` is complete when the run is finished or judges its
            adapter on other bases, else absent.
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
    yield from evaluate(run, 0, "before", check)
    status = yield from _steps(run, check)
    if status.status == "finished":
        last = config.training.max_steps
        loss = yield from evaluate(run, last, "after", check)
        if not math.isfinite(loss):  # the last update did it, so no step could see it
            error = f"After step {last} the held-out loss became {loss}; {REMEDY}"
            yield Status(status="diverged", error=error)
            return
        yield Stage(name="saving the adapter")
        check()
        folder.mkdir(parents=True, exist_ok=True)
        # A local folder goes by its name: where it lies is nobody's business.
        save_adapter(run.model, folder / "adapter", run.entry.hub_id or Path(run.entry.id).name)
        yield from cross_evaluate(run, check)  # last, because the run's own base is gone after it
    yield status


def _steps(run: Prepared, check: Callable[[], None]) -> Iterator[Event]:
    """Yields the steps and the evaluations between them; returns the Status they end in."""
    settings = run.config.training
    optimiser = Optimiser(
        list(trainable(run.model).values()),
        settings,
        scales_loss=scales_loss(run.config),
        device=run.device,
    )
    timer, energy, digest = StepTimer(run.device), EnergyMeter(run.device), BatchHash()
    counted = (False, run.recipe.name)
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
            yield from heal(run, number, check)
            with energy(), timer():
                update = optimiser.step(micro_batches, loss_of)
            digest.add(micro_batches)
            # AdamW makes its moments when it first moves; another base has other weights.
            at_rest = (optimiser.updates > 0, run.recipe.name)
            changed, counted = at_rest != counted, at_rest
            if changed:
                run.memory.recount(optimiser.state_tensors())
            used = run.memory.read()
            yield _step_event(run, number, micro_batches, update, timer.step_ms, used, energy)
            if changed and optimiser.updates:
                yield Facts(optimizer_mib=stored_bytes(optimiser.state_tensors()) / MIB)
            if reason := diverged(update, optimiser):
                status = Status(status="diverged", error=f"At step {number} {reason}")
                break
            yield from probe(run, number, micro_batches, update.loss_scale)
            check()
            if _evaluation_is_due(number, settings):
                yield from evaluate(run, number, "during", check)
                yield Stage(name="training")
        except _Stopped:
            status = Status(status="stopped")
            break
    if status.status == "finished" and not optimiser.updates:  # a model that was never trained
        status = Status(status="diverged", error=all_skipped(optimiser))
    yield Facts(
        batches_sha256=digest.hexdigest(),
        skipped_updates=optimiser.skipped,
        energy_source=energy.source,
    )
    yield run.memory.facts()
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
    energy: EnergyMeter,
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
        warmup=number <= WARMUP_STEPS[run.device.type] or still_settling(run, number),
        memory_mib=used.memory_mib,
        peak_mib=used.peak_mib,
        reserved_mib=used.reserved_mib,
        power_w=energy.power_w,
        energy_j=energy.energy_j,
    )
