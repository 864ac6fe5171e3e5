"""The order of rows depends on the seed alone, and padding is never learned."""

from __future__ import annotations

from itertools import islice

import torch

from playground.data.batches import BatchHash, MicroBatch, batches, collate, lay_out, pack, parts
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


# --- packing: row i of ``examples`` is i + 2 tokens long ---


def packed_steps(count: int, micro: int, accum: int, take: int) -> list[list[MicroBatch]]:
    given = batches(examples(count), micro, accum, 0, pad_id=99, packed_length=16)
    return list(islice(given, take))


def packed_rows(step: list[MicroBatch]) -> list[int]:
    """The rows in order, from where positions start again."""
    found = []
    for batch in step:
        starts = (batch.position_ids == 0) & (batch.attention_mask == 1)
        found += batch.input_ids[starts].tolist()
    return found


def test_a_packed_pass_has_every_row_once_within_the_length() -> None:
    groups = pack(examples(10), 16)
    assert sorted(row.input_ids[0] for group in groups for row in group) == list(range(10))
    sizes = [sum(len(row.input_ids) for row in group) for group in groups]
    assert max(sizes) <= 16
    assert len(groups) == 6  # 65 tokens would fill 4.1 sequences; no two of the last five fit
    steps_of_a_pass = packed_steps(10, 2, 1, 3)
    assert sorted(sum(map(packed_rows, steps_of_a_pass), [])) == list(range(10))


def test_packing_follows_the_seed_and_no_other_split_shows() -> None:
    assert packed_rows(packed_steps(10, 4, 1, 1)[0]) == packed_rows(packed_steps(10, 1, 4, 1)[0])
    a, b = packed_steps(10, 2, 2, 4), packed_steps(10, 2, 2, 4)
    assert digest(*a) == digest(*b)
    assert packed_rows(a[0]) != packed_rows(a[2])  # another pass, another order


def test_rows_end_to_end_keep_their_positions_and_all_of_their_labels() -> None:
    rows = examples(4)
    rows[1].labels[0] = rows[1].input_ids[0]  # as where everything is learned: nothing predicts it
    batch = lay_out([[rows[0], rows[1], rows[3]], [rows[2]]], pad_id=99, packed=True)
    assert batch.input_ids.tolist()[0] == [0, 0, 1, 1, 1, 3, 3, 3, 3, 3]
    assert batch.position_ids.tolist()[0] == [0, 1, 0, 1, 2, 0, 1, 2, 3, 4]
    assert batch.position_ids.tolist()[1][:4] == [0, 1, 2, 3]
    flat, targets = batch.supervised().tolist()
    assert targets == [0, 1, 1, 3, 3, 3, 3, 2, 2, 2]
    assert flat == [0, 2, 3, 5, 6, 7, 8, 10, 11, 12]
    alone = [collate([row], 99) for row in (rows[0], rows[1], rows[3], rows[2])]
    assert batch.supervised_tokens == sum(a.supervised_tokens for a in alone)
    assert (batch.tokens, batch.padded_tokens) == (sum(a.tokens for a in alone), 6)


def test_padding_after_packed_rows_is_a_row_of_its_own() -> None:
    batch = lay_out([[examples(1)[0]], [examples(3)[2]]], pad_id=99, packed=True)
    assert batch.position_ids.tolist() == [[0, 1, 0, 1], [0, 1, 2, 3]]


def test_a_row_as_long_as_the_limit_and_a_row_beyond_it_stand_alone() -> None:
    groups = pack(examples(5), 5)
    assert [[len(row.input_ids) for row in group] for group in groups] == [[2, 3], [4], [5], [6]]


def test_only_the_last_groups_are_open() -> None:
    """A long dataset is packed in one pass over it, and rows stay near their place."""
    long, short = Example([7] * 10, [7] * 10, [], None), Example([8], [8], [], None)
    groups = pack([long] * 40 + [short] * 200, 16)
    assert [len(group) for group in groups[:24]] == [1] * 24
    assert all(len(group) == 7 for group in groups[24:40])


# --- uneven rows in parts ---


def lengths(*found: int) -> list[list[Example]]:
    return [[Example([n] * n, [n] * n, [], None)] for n in found]


def sizes(groups: list[list[list[Example]]]) -> list[list[int]]:
    return [[len(row.input_ids) for (row,) in group] for group in groups]


def test_rows_of_like_length_run_together_where_that_saves_enough() -> None:
    assert sizes(parts(lengths(300, 80, 290, 90))) == [[80, 90], [290, 300]]
    assert sizes(parts(lengths(10, 200, 400))) == [[10], [200], [400]]


def test_a_batch_that_saves_too_little_stays_as_it_is() -> None:
    assert sizes(parts(lengths(90, 75, 88, 80))) == [[90, 75, 88, 80]]
    assert sizes(parts(lengths(63, 126))) == [[63, 126]]
    assert sizes(parts(lengths(500))) == [[500]]


def test_a_step_in_parts_has_the_same_rows() -> None:
    rows = [Example([i] * (20 * i + 2), [i] * (20 * i + 2), [], None) for i in range(12)]
    whole = next(batches(rows, 6, 2, 0, pad_id=99))
    split = next(batches(rows, 6, 2, 0, pad_id=99, in_parts=True))
    assert sorted(rows_of(whole)) == sorted(rows_of(split)) == list(range(12))
    assert len(split) > len(whole) == 2
    for of in ("tokens", "supervised_tokens"):
        assert sum(getattr(b, of) for b in whole) == sum(getattr(b, of) for b in split)
    assert sum(b.padded_tokens for b in split) < sum(b.padded_tokens for b in whole) / 2
