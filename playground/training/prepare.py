"""From a configuration to everything a run needs: rows as tokens, the model, the adapter."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from playground import hardware
from playground.catalog import ModelEntry, resolve_dataset, resolve_model
from playground.config import RunConfig, SettingsError
from playground.data.batches import MicroBatch, steps_of
from playground.data.few import few_held_out
from playground.data.formats import Sample
from playground.data.prefetch import prefetched
from playground.data.split import load_split
from playground.data.tokenise import Example, Tokenised, said_of_marks, tokenise
from playground.download import fetched
from playground.events import Event, Facts, Message, Stage, Template
from playground.precision.recipe import Recipe
from playground.precision.registry import recipe_of
from playground.training.adapter import adapted_modules, adapter_sha256, trainable, with_adapter
from playground.training.compile import compile_blocks, wants_compiling
from playground.training.environment import (
    busy_device,
    compute_device,
    environment,
    pin_numerics,
)
from playground.training.evaluate import examples_sha256
from playground.training.loss import choose_loss_kernel
from playground.training.meters import CountedMemory, CudaMemory, weigh
from playground.training.model import Base, checked_shapes, loading
from playground.training.packing import refuse_leaks
from playground.training.parsed import beside
from playground.training.predicted import predicted
from playground.training.pretrained import load_configuration, load_tokenizer, some


@dataclass
class Prepared:
    """What the steps and the evaluations of a run share.

    recipe: of the base that is under the adapter now; ``rebase`` changes both.
    healed_at: the step before which healing put another base under the adapter, in this process.
    """

    config: RunConfig
    entry: ModelEntry
    recipe: Recipe
    detected: hardware.Device
    self_tests: Path | None
    device: torch.device
    model: Any
    tokenizer: Any
    train: list[Example]
    eval: list[Example]
    memory: CountedMemory | CudaMemory
    healed_at: int | None = None

    @property
    def pad_id(self) -> int:
        return self.tokenizer.pad_token_id

    def batches(self) -> Generator[list[MicroBatch], None, None]:
        """The optimizer steps of this run, without end; close it when done.

        On a GPU they are made and pinned in the background. On a CPU that would take from the
        step's own threads what it saves: laying out a batch is a thousandth of a step there. What
        costs there is arithmetic on padding, so uneven rows run in parts.
        """
        if self.device.type == "cpu":
            return steps_of(self.config, self.train, self.pad_id, in_parts=True)
        steps = steps_of(self.config, self.train, self.pad_id)
        return prefetched(steps, lambda step: [batch.pinned() for batch in step])


def prepare(
    config: RunConfig, check: Callable[[], None], self_tests: Path | None = None
) -> Iterator[Event]:
    """Yields stages and facts as they become known; returns the Prepared run.

    What is quick to refuse comes first: names, then rows, then the model. What the run is expected
    to take is told before its weights are read, for that may be where memory runs out.

    Args:
        check: called within each stage; raises to give up.
        self_tests: file that keeps what the backends' self-tests came to, for the next run.
    Raises:
        SettingsError: the configuration cannot be run.
    """
    entry, source = resolve_model(config.model), resolve_dataset(config.dataset)
    recipe = recipe_of(config)
    pin_numerics(config.training.seed)
    in_use = hardware.memory_in_use_mib()  # before this process takes any of it
    device, detected = compute_device(hardware.detect())
    yield Facts(device=detected.to_dict())
    if busy := busy_device(detected, in_use):
        yield Message(level="warning", text=busy)
    yield Stage(name="reading the data", detail=config.dataset)
    check()
    split = load_split(source, config, check)
    for sentence in split.notes:
        yield Message(level="info", text=sentence)

    entry = yield from fetched(entry, check)
    yield Stage(name="tokenising", detail=f"{len(split.train) + len(split.eval)} rows")
    published, tokenizer = _read_early(entry, config, self_tests)
    check()
    learned = _tokenised(split.train, "training", tokenizer, config, check)
    asked = _tokenised(split.eval, "held-out", tokenizer, config, check)
    for sentence in said_of_marks(learned, asked):
        yield Message(level="info", text=sentence)
    written_in = _template(learned, split.train, tokenizer)
    yield Facts(eval_sha256=examples_sha256(asked.examples), template=written_in)
    rows = _counts(learned, asked, split.counts)
    if plain := learned.plain_template:
        tokenizer.chat_template = plain  # so that it is saved with the adapter
        text = "This model has no chat template, so conversations were written in a plain one"
        yield Message(level="warning", text=f"{text}: User: ... Assistant: ...")

    yield from predicted(config, published, learned.examples, detected, in_use)
    yield Stage(name="loading the model", detail=config.model)
    on_gpu = CudaMemory(device) if device.type == "cuda" else None  # before the first tensor
    work = loading(
        entry,
        config,
        recipe,
        device,
        check=check,
        self_tests=self_tests,
        published=published,
        tokenizer=tokenizer,
    )
    base = yield from _with_progress(config.model, work)
    peak_mib = on_gpu.read().peak_mib if on_gpu else base.loading_peak_mib
    yield Facts(loading_peak_mib=peak_mib)
    runs = recipe.how(detected)
    yield Facts(effective=runs.effective, how=runs.how, how_reason=runs.reason)
    for sentence in base.tried:
        yield Message(level="info", text=f"Self-test: {sentence}")
    if base.unused:
        text = f"{some(base.unused)} in the model's files have no place in its architecture"
        yield Message(level="warning", text=f"{text}. They were left out.")
    _refuse_beyond_table(entry, base.model, learned.examples + asked.examples)

    yield Stage(name="adding the adapter")
    model = with_adapter(config, base.model, device)
    memory = on_gpu or CountedMemory(model)
    tried = _choose_kernels(model, config, learned.examples, base, device, check, entry.revision)
    yield from tried
    yield _facts(model, base, memory.source, rows)
    yield from _warnings(rows, config.data.max_seq_len)
    return Prepared(
        config,
        entry,
        recipe,
        detected,
        self_tests,
        device,
        model,
        base.tokenizer,
        learned.examples,
        asked.examples,
        memory,
    )


def _read_early(entry: ModelEntry, config: RunConfig, self_tests: Path | None) -> tuple[Any, Any]:
    """The model's configuration, if it has what the settings name, and its tokenizer."""
    keep, longest = beside(self_tests), config.data.max_seq_len
    published = load_configuration(entry, longest, keep)
    with torch.random.fork_rng([]):  # a run draws the same, whatever is looked at before
        checked_shapes(entry, config, published, torch.float32)
    return published, load_tokenizer(entry, longest, keep, published=published)


def _with_progress(model: str, work: Generator[float, None, Base]) -> Generator[Event, None, Base]:
    """Passes on the share of ``work`` that is done, by whole hundredths; returns what it loaded."""
    told = 0.0
    while True:
        try:
            share = next(work)
        except StopIteration as done:
            return done.value
        if share >= told + 0.01:
            told = share
            yield Stage(name="loading the model", detail=model, progress=share)


def _tokenised(
    rows: list[Sample], which: str, tokenizer: Any, config: RunConfig, check: Callable[[], None]
) -> Tokenised:
    return tokenise(
        rows,
        tokenizer,
        max_seq_len=config.data.max_seq_len,
        learn_from=config.data.learn_from,
        too_long=config.data.too_long,
        what=f"the {which} rows of dataset '{config.dataset}'",
        check=check,
    )


def _template(learned: Tokenised, rows: list[Sample], tokenizer: Any) -> Template:
    if learned.plain_template:
        return "plain"
    return "own" if tokenizer.chat_template and any(row.messages for row in rows) else "none"


def _refuse_beyond_table(entry: ModelEntry, model: Any, examples: list[Example]) -> None:
    known = model.get_input_embeddings().num_embeddings
    highest = max(max(example.input_ids) for example in examples)
    if highest >= known:
        raise SettingsError(
            f"The tokenizer of model '{entry.id}' writes token {highest}, and its embedding table "
            f"knows {known} (0 to {known - 1}); the two do not belong together, so save the model "
            "again with its own tokenizer, or pick another."
        )


def _counts(learned: Tokenised, held_out: Tokenised, read: dict[str, int]) -> dict[str, int]:
    too_long = learned.too_long + held_out.too_long
    return {
        **read,
        "train": len(learned.examples),
        "eval": len(held_out.examples),
        "cut": learned.cut + held_out.cut,
        **({"too_long": too_long} if too_long else {}),
        "dropped": read["no_answer"] + learned.dropped + held_out.dropped + too_long,
        "kept": len(learned.examples) + len(held_out.examples),
    }


def _choose_kernels(
    model: Any,
    config: RunConfig,
    examples: list[Example],
    base: Base,
    device: torch.device,
    check: Callable[[], None],
    revision: str | None,
) -> Iterator[Event]:
    """Which loss kernel and whether compiled, tried on this model; yields the run's environment."""
    choose_loss_kernel(model)
    check()
    if config.data.packing:
        refuse_leaks(model, examples, base.tokenizer.pad_token_id, device)
    if wants_compiling(config.training, device):
        yield Stage(name="compiling")
    first_step = next(steps_of(config, examples, base.tokenizer.pad_token_id))
    compiled = compile_blocks(model, config.training, device, first_step[0])
    if compiled.startswith("off") and wants_compiling(config.training, device):
        text = f"torch.compile is {compiled}. The run goes on without."
        yield Message(level="warning", text=text)
    yield Facts(environment=environment(model, config, device, compiled, revision))


def _facts(model: Any, base: Base, memory_source: str, rows: dict[str, int]) -> Facts:
    weights = weigh(model)
    return Facts(
        total_parameters=weights.parameters,
        trainable_parameters=sum(p.numel() for p in trainable(model).values()),
        adapted_modules=adapted_modules(model),
        coverage=base.coverage,
        weights_mib=weights.weights_mib,
        converted_weights_mib=weights.converted_weights_mib,
        bits_per_converted_weight=weights.bits_per_converted_weight,
        adapters_mib=weights.adapters_mib,
        memory_source=memory_source,
        adapter_init_sha256=adapter_sha256(model),
        rows=rows,
    )


def _warnings(rows: dict[str, int], longest: int) -> Iterator[Message]:
    if unanswered := rows["no_answer"]:
        text = f"{unanswered} of {rows['read']} rows read have no answer."
        yield Message(level="warning", text=f"{text} They were left out.")
    too_long = rows.get("too_long", 0)
    dropped = rows["dropped"] - unanswered - too_long
    total = rows["kept"] + dropped + too_long
    if too_long:
        text = f"{too_long} of {total} rows are longer than {longest} tokens. They were left out."
        yield Message(level="warning", text=text)
    if dropped:
        text = f"{dropped} of {total} rows have nothing to learn from within {longest} tokens."
        yield Message(level="warning", text=f"{text} They were left out.")
    if cut := rows["cut"]:
        yield Message(level="warning", text=f"{cut} of {total} rows were cut to {longest} tokens.")
    if few := few_held_out(rows["eval"]):
        yield Message(level="info", text=few)
