"""How well the model does on held-out rows: the loss, and answers that match to the letter."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn

from playground.data.batches import collate
from playground.data.tokenise import IGNORED, Example, stop_ids
from playground.events import Answer
from playground.training.compile import uncompiled
from playground.training.loss import row_losses

GENERATION_BATCH = 64
"""Rows answered at a time: decoding is bound by calls, not by arithmetic, so many at once."""

ANSWER_MARGIN = 4
"""Tokens an answer may run past the longest reference, so that too long is seen to be wrong."""


class HeldOut(NamedTuple):
    """What the held-out rows cost the model, whole and row by row in the dataset's order.

    row_losses: nats, summed over the supervised tokens of each row; row_tokens: how many they are.
    """

    row_losses: tuple[float, ...]
    row_tokens: tuple[int, ...]

    @property
    def tokens(self) -> int:
        return sum(self.row_tokens)

    @property
    def loss(self) -> float:
        """Nats, mean over the supervised tokens of all rows."""
        return math.fsum(self.row_losses) / self.tokens


class ExactMatch(NamedTuple):
    """share: answers equal to the reference, out of ``rows``; None when no row asks anything.

    answers: what was written, in the order of the rows.
    """

    share: float | None
    rows: int
    answers: tuple[Answer, ...] = ()


def held_out_loss(
    model: nn.Module,
    examples: Sequence[Example],
    *,
    batch_size: int,
    pad_id: int,
    device: torch.device,
    check: Callable[[], None] = lambda: None,
) -> Generator[float, None, HeldOut]:
    """Loss of each of ``examples``, in batches that are the same every time.

    Yields the share done after each batch, and returns the losses. Rows are taken in order of
    length: less padding, and the same batches for every precision.

    Args:
        batch_size: rows at a time. The run's own micro-batch: what fits in training fits here.
            NVFP4 scales an activation by its whole batch, so there it shows a little in the loss
            (see ``precision/nvfp4.py``); nowhere else does it.
    """
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].input_ids))
    losses, tokens = [0.0] * len(order), [0] * len(order)
    for start in range(0, len(order), batch_size):
        check()
        rows = order[start : start + batch_size]
        batch = collate([examples[i] for i in rows], pad_id)
        with _inference(model):
            found = row_losses(model, batch.to(device)).tolist()
        counts = (batch.labels[:, 1:] != IGNORED).sum(dim=1).tolist()
        for i, loss, count in zip(rows, found, counts, strict=True):
            losses[i], tokens[i] = loss, count
        yield min(1.0, (start + batch_size) / len(order))
    return HeldOut(tuple(losses), tuple(tokens))


def examples_sha256(examples: Sequence[Example]) -> str:
    """A digest of ids and labels, row by row: equal digests, the same rows in the same order."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(json.dumps([example.input_ids, example.labels]).encode())
    return digest.hexdigest()


def exact_match(
    model: Any,
    tokenizer: Any,
    examples: Sequence[Example],
    *,
    device: torch.device,
    check: Callable[[], None] = lambda: None,
) -> Generator[float, None, ExactMatch]:
    """Share of rows whose greedy answer is the reference, surrounding white space aside.

    Yields the share of rows answered after each batch, and returns the result.
    """
    asked = sorted(
        ((i, example) for i, example in enumerate(examples) if example.answer is not None),
        key=lambda place: len(place[1].prompt_ids),
    )
    given: list[Answer] = []
    for start in range(0, len(asked), GENERATION_BATCH):
        check()
        places, rows = zip(*asked[start : start + GENERATION_BATCH], strict=True)
        with _inference(model):
            answers = _answers(model, tokenizer, rows, device, check)
        given += [
            Answer(row=i, prompt=row.question, reference=row.answer, answer=answer)
            for i, row, answer in zip(places, rows, answers, strict=True)
        ]
        yield min(1.0, (start + GENERATION_BATCH) / len(asked))
    right = sum(answer.right for answer in given)
    in_order = tuple(sorted(given, key=lambda answer: answer.row))
    return ExactMatch(right / len(given) if given else None, len(given), in_order)


def _answers(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Example],
    device: torch.device,
    check: Callable[[], None],
) -> list[str]:
    from transformers import StoppingCriteriaList

    longest = max(len(row.prompt_ids) for row in rows)
    # Padded on the left, so that every row's answer starts where its prompt ends.
    prompts = torch.full((len(rows), longest), tokenizer.pad_token_id, dtype=torch.int64)
    mask = torch.zeros_like(prompts)
    for i, row in enumerate(rows):
        n = len(row.prompt_ids)
        prompts[i, longest - n :] = torch.tensor(row.prompt_ids)
        mask[i, longest - n :] = 1

    def stop_if_asked(input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        check()
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)

    answer_tokens = tokenizer([row.answer for row in rows], add_special_tokens=False)["input_ids"]
    generated = model.generate(
        input_ids=prompts.to(device),
        attention_mask=mask.to(device),
        max_new_tokens=max(map(len, answer_tokens)) + ANSWER_MARGIN,
        do_sample=False,
        num_beams=1,
        use_cache=True,
        # A checkpoint's own sampling settings have no say in a greedy answer.
        temperature=None,
        top_p=None,
        top_k=None,
        repetition_penalty=1.0,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=stop_ids(rows, tokenizer),
        stopping_criteria=StoppingCriteriaList([stop_if_asked]),
    )
    return tokenizer.batch_decode(generated[:, longest:], skip_special_tokens=True)


@contextmanager
def _inference(model: nn.Module):  # type: ignore[no-untyped-def]
    """No gradients, no dropout; afterwards the model trains as before."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad(), uncompiled():
            yield
    finally:
        model.train(was_training)
