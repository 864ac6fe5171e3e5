"""torch.compile for a model's transformer blocks: for every precision alike, or said to be off.

Each block is compiled by itself: they share one graph, so a model of eighty compiles as fast as one
of two, and embeddings, head and loss stay as they are. Lengths are dynamic: a batch of another
length runs the same graph, where padding every batch to a multiple would train on other batches
than a CPU does. A first forward and backward pass, thrown away, pays for compiling before the first
step is timed, and shows whether it works.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from playground.config import TrainingSettings, private
from playground.data.batches import MicroBatch
from playground.training.adapter import trainable
from playground.training.loss import summed_loss

BACKENDS = {"cuda": "inductor"}
"""Device types on which ``compile: auto`` compiles, and by what. On a CPU a run is over sooner."""

ON = "blocks compiled ({backend}, dynamic lengths)"

_AGREES = 0.02
"""Relative: compiling reorders sums, and in 4 bits a value beside a boundary may round away."""


def wants_compiling(settings: TrainingSettings, device: torch.device) -> bool:
    """Whether the settings and the device ask for it."""
    return settings.compile == "auto" and device.type in BACKENDS


def compile_blocks(
    model: Any, settings: TrainingSettings, device: torch.device, batch: MicroBatch
) -> str:
    """Compiles the blocks of ``model`` if the settings and the device say so, and it works.

    Args:
        batch: to try it on; the weights, the gradients and torch's random state do not notice.
    Returns:
        What the run's record says: ``ON``, or "off: " and why, the blocks then being as before.
    """
    if settings.compile == "off":
        return "off: as set"
    if not wants_compiling(settings, device):
        return f"off: not used on a {device.type.upper()}"
    blocks = _blocks(model)
    if not blocks:
        return f"off: {type(model).__name__} has no blocks that are known to be alike"
    backend = BACKENDS[device.type]
    try:
        expected = _first_pass(model, batch.to(device))
        for block in blocks:
            block.compile(backend=backend, dynamic=True)
        loss = _first_pass(model, batch.to(device))
    except Exception as error:  # whatever a compiler may raise: the run can do without it
        error = getattr(error, "inner_exception", error)  # as torch wraps what a backend raised
        why = next(iter(str(error).strip().splitlines()), "no reason given").rstrip(".")
        why = private(f"{type(error).__name__}: {why}")
    else:
        both_bad = math.isnan(loss) and math.isnan(expected)  # which the run will say by itself
        if both_bad or math.isclose(loss, expected, rel_tol=_AGREES, abs_tol=1e-3):
            return ON.format(backend=backend)
        why = f"the compiled model's first loss is {loss:.6g} instead of {expected:.6g}"
    for block in blocks:
        block._compiled_call_impl = None  # what nn.Module.compile sets, and nothing public unsets
    torch.compiler.reset()
    return f"off: {why}"


@contextmanager
def uncompiled() -> Iterator[None]:
    """Within it compiled blocks run as they were written: for passes of other shapes and kinds.

    Writing answers token by token, looking into layers: each would be compiled anew, and count
    towards the limit beyond which torch quietly stops compiling.
    """
    with torch.compiler.set_stance("force_eager"):
        yield


def _blocks(model: nn.Module) -> list[nn.Module]:
    """The transformer blocks; in transformers they are what can be checkpointed."""
    from transformers.modeling_layers import GradientCheckpointingLayer

    return [m for m in model.modules() if isinstance(m, GradientCheckpointingLayer)]


def _first_pass(model: Any, batch: MicroBatch) -> float:
    """The loss a supervised token, with its backward pass, as a step would do it."""
    devices = [batch.input_ids.device] if batch.input_ids.is_cuda else []
    try:
        with torch.random.fork_rng(devices):
            loss = summed_loss(model, batch) / batch.supervised_tokens
            loss.backward()
    finally:  # a pass that fails half-way has left some
        for parameter in trainable(model).values():
            parameter.grad = None
    return float(loss.detach())
