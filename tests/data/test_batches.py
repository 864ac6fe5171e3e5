"""The order of rows depends on the seed alone, and padding is never learned."""

from __future__ import annotations

from itertools import islice

import torch

from playground.data.batches import BatchHash, MicroBatch, batches, collate
from playground.data.tokenise import IGNORED, Example


def examples(count: int) -> list[Example]:
    """Row i is i + 2 tokens long, all of them i, the first not learned."""
    return [Example([i] * (i + 2), [IGNORED] + [i] * (i + 1), [i], str(i)) for i in range(count)]


def rows_of(step: list[MicroBatch]) -> list[int]:
    return [int(row[0]) for batch in step for row in batch.input_ids]


def steps(count: int, micro: int, accum: int, take: int, seed: int = 0) -> list[list[MicroBatch]]:
    return list(islice(batches(examples(count), micro, accum, seed, pad_id=99), take))


def test_a_pass_has_every_row_once_and_a_ragged_end() -> None:
    sizes = [len(rows_of(step)) for step in steps(10, 4, 1, 3)]
    assert sizes == [4, 4, 2]
    assert sorted(sum((rows_of(step) for step in steps(10, 4, 1, 3)), [])) == list(range(10))


def test_passes_differ_and_seeds_differ() -> None:
    first, second = rows_of(steps(10, 10, 1, 2)[0]), rows_of(steps(10, 10, 1, 2)[1])
    assert sorted(first) == sorted(second) and first != second
    assert rows_of(steps(10, 10, 1, 1, seed=1)[0]) != first
    assert rows_of(steps(10, 10, 1, 1)[0]) == first


def test_a_step_has_the_same_rows_however_it_is_split() -> None:
    for micro, accum in [(8, 1), (1, 8), (4, 2), (3, 3)]:
        if micro * accum == 8:
            assert rows_of(steps(20, micro, accum, 2)[1]) == rows_of(steps(20, 8, 1, 2)[1])
    assert [len(b.input_ids) for b in steps(20, 3, 3, 1)[0]] == [3, 3, 3]


def test_one_row_is_enough() -> None:
    assert [rows_of(step) for step in steps(1, 4, 2, 3)] == [[0], [0], [0]]


def test_padding_is_on_the_right_masked_and_not_learned() -> None:
    batch = collate([examples(3)[0], examples(3)[2]], pad_id=99)
    assert batch.input_ids.tolist() == [[0, 0, 99, 99], [2, 2, 2, 2]]
    assert batch.attention_mask.tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert batch.labels.tolist() == [[IGNORED, 0, IGNORED, IGNORED], [IGNORED, 2, 2, 2]]
    assert (batch.tokens, batch.padded_tokens, batch.supervised_tokens) == (6, 2, 4)


def test_a_label_in_the_first_column_is_not_counted() -> None:
    batch = collate([Example([5, 6], [5, 6], [], None)], pad_id=0)
    assert batch.supervised_tokens == 1


def digest(*taken: list[MicroBatch]) -> str:
    found = BatchHash()
    for step in taken:
        found.add(step)
    return found.hexdigest()


def test_the_digest_tells_any_difference() -> None:
    a, b = steps(10, 4, 1, 2)
    assert digest(a, b) == digest(*steps(10, 4, 1, 2))
    other = MicroBatch(a[0].input_ids, a[0].attention_mask, torch.full_like(a[0].labels, IGNORED))
    assert len({digest(a, b), digest(b, a), digest(a), digest([other], b)}) == 4
