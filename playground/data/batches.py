"""The order of the rows and their padding: the same for every precision, and proved so."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor

from playground.config import RunConfig
from playground.data.tokenise import IGNORED, Example

_OPEN_GROUPS = 16
_WORTH_A_PASS = 64
"""Tokens of padding that cost more than another pass, which decodes packed weights once more."""


_STEPS_LOOKED_AT = 2000
"""Of a run; so many have had the longest rows together, more or less, and take a second at most."""

Sequences = Sequence[Sequence[Example]]
"""Of one micro-batch; each is one row, or with packing several."""


class MicroBatch(NamedTuple):
    """Sequences of one forward pass, padded on the right to the longest of them.

    A sequence is one row, or with packing several laid end to end.

    input_ids, attention_mask, labels: (B, T) int64. Padding is 0 in the mask and never learned.
    position_ids: (B, T) int64, from 0 again at each row of a packed sequence; None if not packed.
    learned: (2, n) int64, as ``supervised`` returns it; None finds it when asked.
    """

    input_ids: Tensor
    attention_mask: Tensor
    labels: Tensor
    position_ids: Tensor | None = None
    learned: Tensor | None = None

    def supervised(self) -> Tensor:
        """(2, n) int64: the positions that predict, in the flattened batch, and what they should.

        Row by row in order. A label in the first column has no predecessor.
        """
        if self.learned is not None:
            return self.learned
        rows, columns = (self.labels[:, 1:] != IGNORED).nonzero(as_tuple=True)
        flat = rows * self.labels.shape[1] + columns
        return torch.stack([flat, self.labels[rows, columns + 1]])

    @property
    def supervised_tokens(self) -> int:
        """Tokens that are predicted and count."""
        return self.supervised().shape[1]

    @property
    def tokens(self) -> int:
        """Input tokens without the padding."""
        return int(self.attention_mask.sum())

    @property
    def padded_tokens(self) -> int:
        return self.input_ids.numel() - self.tokens

    def to(self, device: torch.device) -> MicroBatch:
        # From pinned memory the copy goes on while the device still works on the batch before.
        return self._each(lambda tensor: tensor.to(device, non_blocking=True))

    def pinned(self) -> MicroBatch:
        """The same in memory that a GPU can read by itself."""
        return self._each(lambda tensor: tensor.pin_memory())

    def _each(self, change: Callable[[Tensor], Tensor]) -> MicroBatch:
        return MicroBatch(*(part if part is None else change(part) for part in self))


def steps_of(
    config: RunConfig, examples: Sequence[Example], pad_id: int, *, in_parts: bool = False
) -> Generator[list[MicroBatch], None, None]:
    """``batches`` as a run's configuration says."""
    for step in rows_of_steps(config, examples, in_parts=in_parts):
        yield [lay_out(part, pad_id, config.data.packing) for part in step]


def rows_of_steps(
    config: RunConfig, examples: Sequence[Example], *, in_parts: bool = False
) -> Iterator[list[Sequences]]:
    """What ``steps_of`` lays out: the sequences of each micro-batch of each step, without end."""
    yield from _planned(
        examples,
        config.training.micro_batch_size,
        config.training.grad_accum_steps,
        config.training.seed,
        packed_length=config.data.max_seq_len if config.data.packing else None,
        in_parts=in_parts,
    )


def largest_micro_batch(
    config: RunConfig, examples: Sequence[Example], *, in_parts: bool = False
) -> Sequences:
    """The first of the micro-batches with the most tokens, padding included."""
    steps = rows_of_steps(config, examples, in_parts=in_parts)
    looked_at = islice(steps, min(config.training.max_steps, _STEPS_LOOKED_AT))
    return max((part for step in looked_at for part in step), key=lambda p: len(p) * width(p))


def width(sequences: Sequences) -> int:
    """Tokens of the longest sequence, to which the others are padded."""
    return max(map(_tokens, sequences))


def batches(
    examples: Sequence[Example],
    micro_batch_size: int,
    grad_accum_steps: int,
    seed: int,
    *,
    pad_id: int,
    packed_length: int | None = None,
    in_parts: bool = False,
) -> Iterator[list[MicroBatch]]:
    """Optimizer steps without end: each a list of micro-batches.

    Each pass over the rows has a fresh order that depends on the seed alone. No row comes twice in
    a pass, so its last step may be smaller. The rows of a step are the same however they are split
    into micro-batches: (8, 1) and (1, 8) see the same step.

    Args:
        micro_batch_size: sequences in one forward pass: rows, or packed sequences.
        packed_length: lay rows end to end up to so many tokens; None keeps each by itself.
        in_parts: run a micro-batch of uneven rows in several, where that saves enough padding.
    """
    packed = packed_length is not None
    planned = _planned(examples, micro_batch_size, grad_accum_steps, seed, packed_length, in_parts)
    for step in planned:
        yield [lay_out(part, pad_id, packed) for part in step]


def _planned(
    examples: Sequence[Example],
    micro_batch_size: int,
    grad_accum_steps: int,
    seed: int,
    packed_length: int | None,
    in_parts: bool,
) -> Iterator[list[Sequences]]:
    order = torch.Generator().manual_seed(seed)
    per_step = micro_batch_size * grad_accum_steps
    while True:
        shuffled = torch.randperm(len(examples), generator=order).tolist()
        rows = [examples[i] for i in shuffled]
        sequences = [[row] for row in rows] if packed_length is None else pack(rows, packed_length)
        for start in range(0, len(sequences), per_step):
            step = sequences[start : start + per_step]
            micro = [step[i : i + micro_batch_size] for i in range(0, len(step), micro_batch_size)]
            if in_parts:
                micro = [part for rows in micro for part in parts(rows)]
            yield micro


def parts(sequences: Sequences) -> list[Sequences]:
    """Sequences of like length together, while another part saves ``_WORTH_A_PASS`` of padding.

    A step weighs every token alike, in whichever part it is, so this shows in nothing but time and
    memory (and NVFP4's activations, which are scaled by what is in a pass).
    """
    ordered = sorted(sequences, key=_tokens)
    longest = _tokens(ordered[-1])
    saved = [cut * (longest - _tokens(ordered[cut - 1])) for cut in range(1, len(ordered))]
    if not saved or max(saved) < _WORTH_A_PASS:
        return [list(sequences)]
    cut = saved.index(max(saved)) + 1
    return parts(ordered[:cut]) + parts(ordered[cut:])


def _tokens(rows: Sequence[Example]) -> int:
    return sum(len(row.input_ids) for row in rows)


def pack(rows: Sequence[Example], length: int) -> list[list[Example]]:
    """Each row once, in groups of at most ``length`` tokens: the first open group with room.

    Only the last few groups are open, so the order stays close to the given one.
    """
    groups: list[list[Example]] = []
    room: list[int] = []
    for row in rows:
        size = len(row.input_ids)
        for i in range(max(0, len(groups) - _OPEN_GROUPS), len(groups)):
            if size <= room[i]:
                groups[i].append(row)
                room[i] -= size
                break
        else:
            groups.append([row])
            room.append(length - size)
    return groups


def collate(rows: Sequence[Example], pad_id: int) -> MicroBatch:
    """Pads ``rows`` on the right to the longest of them."""
    return lay_out([[row] for row in rows], pad_id, packed=False)


def lay_out(sequences: Sequences, pad_id: int, packed: bool) -> MicroBatch:
    """The rows of each sequence end to end, padded on the right to the longest sequence."""
    longest = max(map(_tokens, sequences))
    input_ids, labels, position_ids, lengths = array("q"), array("q"), array("q"), []
    # Laid out flat and made a tensor once: a tensor for every row would take several times as long.
    for rows in sequences:
        for row in rows:
            input_ids.fromlist(row.input_ids)
            # A row's first token follows nothing, least of all the row before.
            labels.append(IGNORED)
            labels.fromlist(row.labels[1:])
        lengths.append(sum(len(row.input_ids) for row in rows))
        left = longest - lengths[-1]
        input_ids.extend(array("q", [pad_id]) * left)
        labels.extend(array("q", [IGNORED]) * left)
        if packed:
            for size in (*(len(row.input_ids) for row in rows), left):
                position_ids.extend(range(size))

    def tensor(flat: array[int]) -> Tensor:
        return torch.frombuffer(flat, dtype=torch.int64).view(len(sequences), longest)

    batch = MicroBatch(
        input_ids=tensor(input_ids),
        attention_mask=(torch.arange(longest) < torch.tensor(lengths)[:, None]).long(),
        labels=tensor(labels),
        position_ids=tensor(position_ids) if packed else None,
    )
    return batch._replace(learned=batch.supervised())


class BatchHash:
    """A digest of every batch a run was trained on, in order: equal digests, equal data."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, step: list[MicroBatch]) -> None:
        for batch in step:
            self._digest.update(repr(tuple(batch.input_ids.shape)).encode())
            self._digest.update(batch.input_ids.numpy().tobytes())
            self._digest.update(batch.labels.numpy().tobytes())

    def hexdigest(self) -> str:
        return self._digest.hexdigest()
