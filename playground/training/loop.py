"""The run itself: a configuration in, a stream of events out. It knows no store and no page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from playground import hardware
from playground.catalog import resolve_dataset, resolve_model
from playground.config import RunConfig, TrainingSettings
from playground.data.batches import BatchHash, MicroBatch, batches
from playground.data.formats import recognise, samples
from playground.data.split import load_split
from playground.data.tokenise import Example, tokenise
from playground.events import Eval, Event, Facts, Message, Stage, Status, Step
from playground.precision.recipe import Recipe
from playground.precision.registry import PRECISION_RECIPES
from playground.training.adapter import (
    adapted_modules,
    adapter_sha256,
    add_adapter,
    save_adapter,
    trainable,
)
from playground.training.environment import compute_device, environment, pin_numerics
from playground.training.evaluate import ExactMatch, exact_match, held_out_loss
from playground.training.loss import summed_loss
from playground.training.meters import (
    MIB,
    WARMUP_STEPS,
    CountedMemory,
    CudaMemory,
    Memory,
    StepTimer,
    stored_bytes,
    weigh,
)
from playground.training.model import Base, load_base
from playground.training.optimise import Optimiser, Update


class _Stopped(Exception):
    """Someone asked to stop in the middle of something."""


@dataclass
class _Data:
    train: list[Example]
    eval: list[Example]
    rows: dict[str, int]


@dataclass
class _Run:
    """What the stages of a run share."""

    config: RunConfig
    recipe: Recipe
    device: torch.device
    model: nn.Module
    tokenizer: Any
    data: _Data
    check: Callable[[], None]

    @property
    def pad_id(self) -> int:
        return self.tokenizer.pad_token_id


def train(
    config: RunConfig, *, folder: Path, should_stop: Callable[[], bool] = lambda: False
) -> Iterator[Event]:
    """Fine-tunes a LoRA adapter on a frozen base model in one precision.

    Yields Stage and Facts as things become known, an Eval before, a Step for each optimizer step,
    Evals between as asked, an Eval after, and one Status at the end: finished, stopped, or diverged
    when the loss or the gradients are no longer finite. The same configuration gives the same
    events twice, times and memory aside.

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
    recipe = PRECISION_RECIPES[config.precision]
    detected = hardware.detect()
    device, detected = compute_device(detected)
    runs = recipe.how(detected)
    pin_numerics(config.training.seed)
    yield Facts(
        effective=runs.effective,
        how=runs.how,
        how_reason=runs.reason,
        device=detected.to_dict(),
    )
    yield Stage(name="loading the model", detail=config.model)
    memory_source = CudaMemory(device) if device.type == "cuda" else None
    entry = resolve_model(config.model)
    base = load_base(entry, config, recipe, device, check=check)
    yield Stage(name="reading the data", detail=config.dataset)
    data = _read(config, base.tokenizer, check)
    yield Stage(name="adding the adapter")
    model = _with_adapter(config, base, device)
    run = _Run(config, recipe, device, model, base.tokenizer, data, check)
    memory = memory_source or CountedMemory(model)
    yield _facts_at_start(run, base, memory.source)
    yield from _messages(data, config)
    yield from _evaluate(run, 0, "before")
    status = yield from _steps(run, memory)
    if status.status == "finished":
        yield from _evaluate(run, config.training.max_steps, "after")
        yield Stage(name="saving the adapter")
        check()
        folder.mkdir(parents=True, exist_ok=True)
        # A local folder goes by its name: where it lies is nobody's business.
        save_adapter(model, folder / "adapter", entry.hub_id or Path(entry.id).name)
    yield status


def _read(config: RunConfig, tokenizer: Any, check: Callable[[], None]) -> _Data:
    split = load_split(resolve_dataset(config.dataset), config)
    check()
    row_format = recognise(split.train)

    def tokenised(rows: list[dict[str, Any]], what: str) -> Any:
        return tokenise(
            samples(rows, row_format),
            tokenizer,
            max_seq_len=config.data.max_seq_len,
            learn_from=config.data.learn_from,
            what=f"the {what} rows of dataset '{config.dataset}'",
            check=check,
        )

    learned, held_out = tokenised(split.train, "training"), tokenised(split.eval, "held-out")
    rows = {
        **split.counts,
        "train": len(learned.examples),
        "eval": len(held_out.examples),
        "cut": learned.cut + held_out.cut,
        "dropped": learned.dropped + held_out.dropped,
        "kept": len(learned.examples) + len(held_out.examples),
    }
    return _Data(learned.examples, held_out.examples, rows)


def _with_adapter(config: RunConfig, base: Base, device: torch.device) -> nn.Module:
    model = base.model
    if config.training.gradient_checkpointing:
        model.activation_checkpointing_enable(
            activation_checkpointing_kwargs={"use_reentrant": False}
        )
        # With frozen embeddings a checkpointed block would see no input to train through.
        model.enable_input_require_grads()
    return add_adapter(model, config.lora, config.training.seed).to(device).train()


def _messages(data: _Data, config: RunConfig) -> Iterator[Message]:
    total, longest = data.rows["kept"] + data.rows["dropped"], config.data.max_seq_len
    if dropped := data.rows["dropped"]:
        text = f"{dropped} of {total} rows have nothing to learn from within {longest} tokens."
        yield Message(level="warning", text=f"{text} They were left out.")
    if cut := data.rows["cut"]:
        yield Message(level="warning", text=f"{cut} of {total} rows were cut to {longest} tokens.")


def _facts_at_start(run: _Run, base: Base, memory_source: str) -> Facts:
    weights = weigh(run.model)
    return Facts(
        environment=environment(base.model, run.device),
        total_parameters=sum(p.numel() for p in run.model.parameters()),
        trainable_parameters=sum(p.numel() for p in trainable(run.model).values()),
        adapted_modules=adapted_modules(run.model),
        coverage=base.coverage,
        weights_mib=weights.weights_mib,
        converted_weights_mib=weights.converted_weights_mib,
        bits_per_converted_weight=weights.bits_per_converted_weight,
        adapters_mib=weights.adapters_mib,
        memory_source=memory_source,
        adapter_init_sha256=adapter_sha256(run.model),
        rows=run.data.rows,
    )


def _steps(run: _Run, memory: CountedMemory | CudaMemory) -> Iterator[Event]:
    """Yields the steps and the evaluations between them; returns the Status they end in."""
    settings = run.config.training
    optimiser = Optimiser(
        list(trainable(run.model).values()),
        settings,
        scales_loss=run.recipe.scales_loss,
        device=run.device,
    )
    timer, digest = StepTimer(run.device), BatchHash()
    peak_mib = 0.0
    status = Status(status="finished")
    order = batches(
        run.data.train,
        settings.micro_batch_size,
        settings.grad_accum_steps,
        settings.seed,
        pad_id=run.pad_id,
    )

    def loss_of(batch: MicroBatch) -> torch.Tensor:
        with memory.watch(batch):
            return summed_loss(run.model, batch.to(run.device))

    for number, micro_batches in zip(range(1, settings.max_steps + 1), order, strict=False):
        with timer():
            update = optimiser.step(micro_batches, loss_of)
        digest.add(micro_batches)
        used = memory.read(optimiser.state_tensors())
        peak_mib = used.peak_mib
        yield _step_event(run, number, micro_batches, update, timer.step_ms, used)
        if optimiser.updates == 1 and not update.skipped:
            yield Facts(optimizer_mib=stored_bytes(optimiser.state_tensors()) / MIB)
        if reason := _diverged(update, optimiser, run.recipe):
            status = Status(status="diverged", error=f"At step {number} {reason}")
            break
        try:
            run.check()
            if _evaluation_is_due(number, settings):
                yield from _evaluate(run, number, "during")
        except _Stopped:
            status = Status(status="stopped")
            break
    yield Facts(
        batches_sha256=digest.hexdigest(), peak_mib=peak_mib, skipped_updates=optimiser.skipped
    )
    return status


def _evaluation_is_due(number: int, settings: TrainingSettings) -> bool:
    # After the last step comes the evaluation "after" anyway.
    every = settings.eval_every
    return every > 0 and number % every == 0 and number < settings.max_steps


def _step_event(
    run: _Run, number: int, batches: list[MicroBatch], update: Update, step_ms: float, used: Memory
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
    remedy = "lower the learning rate or pick a precision with a larger range."
    if not math.isfinite(update.loss):
        return f"the loss became {update.loss}; {remedy}"
    if update.skipped and not recipe.scales_loss:
        return f"the gradients became {update.grad_norm}; {remedy}"
    if optimiser.exhausted:
        return f"no loss scale was small enough for finite gradients; {remedy}"
    return None


def _evaluate(run: _Run, step: int, when: Literal["before", "during", "after"]) -> Iterator[Event]:
    settings, examples = run.config, run.data.eval
    yield Stage(name="evaluating", detail=f"{len(examples)} held-out rows")
    found = held_out_loss(
        run.model,
        examples,
        batch_size=settings.training.micro_batch_size,
        pad_id=run.pad_id,
        device=run.device,
        check=run.check,
    )
    match = ExactMatch(None, 0)
    asked = examples[: settings.data.exact_match_rows]
    if asked and when != "during":
        yield Stage(name="evaluating", detail=f"answering {len(asked)} held-out rows in full")
        match = exact_match(run.model, run.tokenizer, asked, device=run.device, check=run.check)
    yield Eval(
        step=step,
        when=when,
        loss=found.loss,
        tokens=found.tokens,
        exact_match=match.share,
        exact_match_rows=match.rows,
    )
    if when != "after":
        yield Stage(name="training")
