"""A prepared run to try things on, without the loop around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from playground.config import RunConfig
from playground.training.adapter import trainable
from playground.training.prepare import Prepared, prepare

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
