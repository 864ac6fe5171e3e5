"""A prepared run to try things on, without the loop around it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel

from playground.config import RunConfig
from playground.events import Eval, Event, Facts
from playground.precision.convert import convert
from playground.precision.registry import PRECISION_RECIPES
from playground.training.adapter import trainable
from playground.training.evaluate import held_out_loss
from playground.training.loss import choose_loss_kernel
from playground.training.prepare import Prepared, prepare
from playground.training.pretrained import load_checkpoint

IDS = torch.tensor([[5, 6, 7, 8, 9]])


def ready(config: RunConfig) -> Prepared:
    """What ``prepare`` returns once it has said everything."""
    return returned(prepare(config, lambda: None))


def returned(work: Iterator[Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value


@torch.no_grad()
def train_a_little(run: Prepared, seed: int = 1) -> None:
    """Gives B values, as training would, so that the adapter says something."""
    draw = torch.Generator().manual_seed(seed)
    for name, parameter in trainable(run.model).items():
        if "lora_B" in name:
            parameter.normal_(std=0.05, generator=draw)


@torch.no_grad()
def logits(model: Any) -> torch.Tensor:
    return model.eval()(IDS).logits


def only(kind: type, events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def facts(events: list[Event]) -> dict[str, Any]:
    """All facts of a run together, as the store keeps them."""
    known: dict[str, Any] = {}
    for event in only(Facts, events):
        known |= event.model_dump(exclude_none=True)
    return known


def held_out(events: list[Event], when: str) -> float:
    """The held-out loss that a run told."""
    (found,) = [event.loss for event in only(Eval, events) if event.when == when]
    return found


def judged(config: RunConfig, adapter: Path, merged: bool = False) -> float:
    """The held-out loss of a saved adapter on a base in ``config.precision``, by way of peft."""
    run = ready(config)
    base, _, _ = load_checkpoint(run.entry, config.data.max_seq_len, torch.float32)
    if merged:
        base = PeftModel.from_pretrained(base, adapter).merge_and_unload()
    convert(base, PRECISION_RECIPES[config.precision], torch.device("cpu"))
    model = base if merged else PeftModel.from_pretrained(base, adapter)
    choose_loss_kernel(model)
    found = held_out_loss(
        model,
        run.eval,
        batch_size=config.training.micro_batch_size,
        pad_id=run.pad_id,
        device=torch.device("cpu"),
    )
    return returned(found).loss
