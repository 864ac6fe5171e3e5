"""The largest batch of a run goes first, so that what does not fit shows in seconds, not in hours.

On a GPU only. There a step takes milliseconds, and memory that runs out ends the run wherever the
longest row happens to come. On a CPU the trial would cost as much as a step, seconds of a short
run, and tell little: memory is paged, no allocator refuses it, and uneven rows run in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median

import torch

from playground.data.batches import Sequences, largest_micro_batch, lay_out, width
from playground.events import Event, Message, Stage
from playground.failures import LONGEST, is_out_of_memory
from playground.training.adapter import trainable
from playground.training.loss import summed_loss
from playground.training.prepare import Prepared
from playground.training.random_state import RandomState

TRIED_ON = ("cuda",)


def try_longest(run: Prepared, check: Callable[[], None]) -> Iterator[Event]:
    """Sends the largest micro-batch forward and back, and leaves everything as it was.

    No update, no gradient and no random number of it is left, and its memory counts towards no
    peak. If it does not fit, a message says which row is how long, and the error goes on.
    """
    if run.device.type not in TRIED_ON:
        return
    sequences = largest_micro_batch(run.config, run.train)
    size = f"{len(sequences)} x {width(sequences):,} tokens"
    yield Stage(name=LONGEST, detail=size)
    check()
    try:
        _there_and_back(run, sequences)
    except BaseException as error:
        if is_out_of_memory(error):
            yield Message(level="error", text=_does_not_fit(run, sequences, size))
        raise


def _there_and_back(run: Prepared, sequences: Sequences) -> None:
    before = RandomState.of(run)
    batch = lay_out(sequences, run.pad_id, run.config.data.packing).to(run.device)
    try:
        with run.memory.aside():
            # Asked for by name, so that no parameter keeps a gradient.
            parameters = list(trainable(run.model).values())
            torch.autograd.grad(summed_loss(run.model, batch), parameters, allow_unused=True)
    finally:
        before.restore(run)


def _does_not_fit(run: Prepared, sequences: Sequences, size: str) -> str:
    rows = [row for sequence in sequences for row in sequence]
    longest = max(rows, key=lambda row: len(row.input_ids))
    middle = median(len(row.input_ids) for row in run.train)
    return (
        f"The longest batch of the run, {size}, does not fit. Its longest row is {longest.place} "
        f"with {len(longest.input_ids):,} tokens; rows have {middle:,g} in the middle."
    )
