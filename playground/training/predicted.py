"""What a run will take, told by the run itself as soon as it knows its rows.

The estimate of ``fit.py`` with the largest micro-batch that really comes, not the largest that the
settings allow. It may be wrong, so it ends nothing: a run that is not expected to fit says so and
goes on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import psutil
import torch

from playground.config import RunConfig, private
from playground.data.batches import largest_micro_batch, width
from playground.data.tokenise import IGNORED, Example
from playground.devices import OVERHEAD_MIB, verdict
from playground.events import Event, Facts, Message
from playground.failures import Place, what_would_fit
from playground.hardware import MIB, Device
from playground.training.fit import Estimate, Shape, at_rest, estimate


def largest_shape(config: RunConfig, examples: Sequence[Example], *, on_gpu: bool) -> Shape:
    """Of the micro-batch that the meters will count."""
    sequences = largest_micro_batch(config, examples, in_parts=not on_gpu)
    learned = sum(
        label != IGNORED for rows in sequences for row in rows for label in row.labels[1:]
    )
    return Shape(len(sequences), width(sequences), learned)


def predicted(
    config: RunConfig,
    published: Any,
    examples: Sequence[Example],
    device: Device,
    in_use: float | None,
) -> Iterator[Event]:
    """Yields what the run is expected to take, and a warning where the device has less.

    Args:
        published: the model's configuration, of transformers.
        in_use: MiB of a GPU's memory that others held before this process took any; None where
            that cannot be told.
    """
    on_gpu = device.kind == "cuda"
    try:
        # Nothing here draws from it, but libraries may; the run's dropout must not notice.
        with torch.random.fork_rng([]):
            shape = largest_shape(config, examples, on_gpu=on_gpu)
            where = {"on_gpu": on_gpu, "fp4_native": device.fp4_native}
            found = estimate(config, shape, published=published, **where)
            # A run that heals starts in its own precision; its peak comes in the wider one.
            heals = config.first_healed_step is not None
            weights = at_rest(config, published, **where) if heals else found
    except Exception as error:  # of a library that has never seen this model as fake tensors
        why = private(" ".join(str(error).split()))[:200]
        text = f"The memory of this run could not be predicted ({type(error).__name__}: {why})"
        yield Message(level="warning", text=f"{text}. The run goes on without.")
        return
    # On a GPU the allocator counts the work space of each operation too.
    peak = found.peak_mib + (found.work_mib if on_gpu else 0.0)
    yield Facts(
        predicted_weights_mib=weights.weights_mib,
        predicted_adapters_mib=weights.adapters_mib,
        predicted_optimizer_mib=found.optimizer_mib,
        predicted_gradients_mib=found.gradients_mib,
        predicted_activations_mib=found.activations_mib,
        predicted_peak_mib=peak,
    )
    yield from _too_large(config, found, device, in_use)


def _too_large(
    config: RunConfig, found: Estimate, device: Device, in_use: float | None
) -> Iterator[Message]:
    needed = found.peak_mib + found.work_mib + OVERHEAD_MIB[device.kind]
    room = _room_mib(device, in_use)
    if verdict(needed, room) != "does not fit":
        return
    remedy = what_would_fit(config, Place("training"))
    yield Message(
        level="warning",
        text=f"This run is expected to need {needed / 1024:,.1f} GiB of memory, and {device.name} "
        f"has {room / 1024:,.1f} GiB free. It is tried all the same; should it fail: {remedy}.",
    )


def _room_mib(device: Device, in_use: float | None) -> float | None:
    """Free for this run, what it holds already included; None where a driver does not tell."""
    if device.kind == "cuda":
        return None if device.memory_mib is None else device.memory_mib - (in_use or 0.0)
    own = psutil.Process(os.getpid()).memory_info().rss
    return (psutil.virtual_memory().available + own) / MIB
