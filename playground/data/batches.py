"""The order of the rows and their padding: the same for every precision, and proved so."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from playground.data.tokenise import IGNORED, Example


class MicroBatch(NamedTuple):
    """Rows of one forward pass, padded on the right to the longest of them.

    input_ids, attention_mask, labels: (B, T) int64. Padding is 0 in the mask and never learned.
    """

    input_ids: Tensor
    attention_mask: Tensor
    labels: Tensor

    @property
    def supervised_tokens(self) -> int:
        """Tokens that are predicted and count: a label in the first column has no predecessor."""
        return int((self.labels[:, 1:] != IGNORED).sum())

    @property
    def tokens(self) -> int:
        """Input tokens without the padding."""
        return int(self.attention_mask.sum())

    @property
    def padded_tokens(self) -> int:
        return self.input_ids.numel() - self.tokens

    def to(self, device: torch.device) -> MicroBatch:
        return MicroBatch(*(t.to(device) for t in self))


def batches(
    examples: Sequence[Example],
    micro_batch_size: int,
    grad_accum_steps: int,
    seed: int,
    *,
    pad_id: int,
) -> Iterator[list[MicroBatch]]:
    """Optimizer steps without end: each a list of micro-batches.

    Each pass over the rows has a fresh order that depends on the seed alone. No row comes twice in
    a pass, so its last step may be smaller. The rows of a step are the same however they are split
    into micro-batches: (8, 1) and (1, 8) see the same step.
    """
    order = torch.Generator().manual_seed(seed)
    rows_per_step = micro_batch_size * grad_accum_steps
    while True:
        shuffled = torch.randperm(len(examples), generator=order).tolist()
        for start in range(0, len(shuffled), rows_per_step):
            rows = [examples[i] for i in shuffled[start : start + rows_per_step]]
            yield [
                collate(rows[i : i + micro_batch_size], pad_id)
                for i in range(0, len(rows), micro_batch_size)
            ]


def collate(rows: Sequence[Example], pad_id: int) -> MicroBatch:
    """Pads ``rows`` on the right to the longest of them."""
    longest = max(len(row.input_ids) for row in rows)
    shape = (len(rows), longest)
    input_ids = torch.full(shape, pad_id, dtype=torch.int64)
    attention_mask = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, IGNORED, dtype=torch.int64)
    for i, row in enumerate(rows):
        n = len(row.input_ids)
        input_ids[i, :n] = torch.tensor(row.input_ids)
        attention_mask[i, :n] = 1
        labels[i, :n] = torch.tensor(row.labels)
    return MicroBatch(input_ids, attention_mask, labels)


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
