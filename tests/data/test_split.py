"""No row is both learned and held out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.catalog import DatasetEntry, resolve_dataset
from playground.config import RunConfig, SettingsError, parse_config
from playground.data import split
from playground.data.formats import Reader, Sample, recognise
from playground.data.rows import Row
from playground.data.split import hold_out, load_split
from playground.presets import defaults


def config(training: dict | None = None, **data: object) -> RunConfig:
    values = defaults() | {"model": "m", "dataset": "d", "precision": "fp16"}
    values["data"] = values["data"] | data
    values["training"] = values["training"] | (training or {})
    return parse_config(values)


def rows(numbers: range | list[int]) -> list[dict]:
    return [{"prompt": str(i), "completion": str(i)} for i in numbers]


def understood(numbers: range | list[int]) -> list[Sample]:
    read = [Row(cells, f"Line {i}") for i, cells in enumerate(rows(numbers), start=1)]
    reader = Reader(recognise(read[0]))
    return [sample for row in read if (sample := reader.sample(row))]


def questions(found: list[Sample]) -> list[int]:
    return [int(sample.messages[0]["content"]) for sample in found]


def write(path: Path, content: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in content))
    return path


def entry(folder: Path, train: list[dict], evaluation: list[dict] | None = None) -> DatasetEntry:
    return DatasetEntry(
        id="d",
        title="d",
        summary="",
        train_files=(write(folder / "train.jsonl", train),),
        eval_files=() if evaluation is None else (write(folder / "eval.jsonl", evaluation),),
    )


def test_files_of_their_own_are_taken_as_they_are(tmp_path: Path) -> None:
    both = entry(tmp_path, rows(range(10)), rows([8, 9, 10, 11, 12]))
    train, evaluation, counts, *_ = load_split(both, config(eval_rows=2))
    assert questions(train) == list(range(10))
    assert questions(evaluation) == [10, 11]
    assert counts == {"read": 14, "duplicates": 2, "no_answer": 0}  # no more than was asked for


def test_evaluation_rows_that_are_all_known_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="Every evaluation row of dataset 'd'"):
        load_split(entry(tmp_path, rows(range(3)), rows([1, 2])), config())


def test_otherwise_rows_are_held_out_by_the_seed(tmp_path: Path) -> None:
    one_file = entry(tmp_path, rows([*range(40), *range(20)]))
    train, evaluation, counts, *_ = load_split(one_file, config())
    assert (len(train), len(evaluation)) == (36, 4)
    assert not set(questions(train)) & set(questions(evaluation))
    assert counts == {"read": 60, "duplicates": 20, "no_answer": 0}
    assert load_split(one_file, config())[:3] == (train, evaluation, counts)
    first, second = (hold_out(understood(range(40)), 4, seed, "d")[1] for seed in (1, 2))
    assert first != second


def test_the_limit_on_training_rows_leaves_the_held_out_alone(tmp_path: Path) -> None:
    one_file = entry(tmp_path, rows(range(40)))
    limited = load_split(one_file, config(train_rows=5))
    assert len(limited.train) == 5
    assert limited.eval == load_split(one_file, config()).eval


def test_two_rows_are_the_least() -> None:
    train, evaluation = hold_out(understood(range(2)), 128, 0, "d")
    assert (len(train), len(evaluation)) == (1, 1)
    with pytest.raises(SettingsError, match="'d' has 1 different row; at least 2"):
        hold_out(understood([1, 1, 1]), 128, 0, "d")


def test_rows_that_say_the_same_are_the_same_whatever_else_they_hold(tmp_path: Path) -> None:
    numbered = [row | {"id": i} for i, row in enumerate(rows([*range(10)] * 2))]
    train, evaluation, counts, *_ = load_split(entry(tmp_path, numbered), config())
    assert counts["duplicates"] == 10
    assert not set(questions(train)) & set(questions(evaluation))


def test_a_row_is_named_by_its_line_wherever_the_split_puts_it(tmp_path: Path) -> None:
    found = load_split(entry(tmp_path, rows([3, *range(30)])), config())
    for sample in [*found.train, *found.eval]:
        number = int(sample.messages[0]["content"])
        line = 1 if number == 3 else number + 2  # the first of two copies is the one that stays
        assert sample.place == f"Line {line} of 'train.jsonl'"


def test_the_format_is_that_of_the_first_row_of_the_file(tmp_path: Path) -> None:
    """Whichever row the seed makes the first training row."""
    mixed = [
        {"text": "a"},
        *({"prompt": str(i), "completion": "b", "text": str(i)} for i in range(9)),
    ]
    found = load_split(entry(tmp_path, mixed), config())
    assert all(sample.text and not sample.messages for sample in found.train + found.eval)


def test_rows_without_an_answer_are_counted_and_not_split(tmp_path: Path) -> None:
    empty = {"prompt": "x", "completion": None}
    train, evaluation, counts, *_ = load_split(
        entry(tmp_path, [empty, *rows(range(9)), empty], [empty, *rows([20])]), config()
    )
    assert (len(train), questions(evaluation)) == (9, [20])
    assert counts == {"read": 13, "duplicates": 0, "no_answer": 3}
    with pytest.raises(SettingsError, match="None of 2 rows of dataset 'd' .*completion"):
        load_split(entry(tmp_path, [empty, empty]), config())


def test_replies_that_only_call_a_tool_are_said_to_be_that(tmp_path: Path) -> None:
    def talk(i: int, **reply: object) -> dict:
        turns = [{"role": "user", "content": str(i)}, {"role": "assistant", **reply}]
        return {"messages": turns}

    call = talk(0, content=None, tool_calls=[{"function": {"name": "f", "arguments": "{}"}}])
    said = [talk(i, content="b") for i in range(9)]
    found = load_split(entry(tmp_path, [*said, call, talk(1, content="")]), config())
    assert found.counts["no_answer"] == 2
    assert sum("In 1 of the rows read a reply only calls a tool" in n for n in found.notes) == 1
    with pytest.raises(SettingsError, match="in 2 of them a reply only calls a tool; give rows in"):
        load_split(entry(tmp_path, [call, call]), config())


# --- from 0 rows to more than are needed ------------------------------------------------------


@pytest.mark.parametrize("rows_there", [2, 5, 9, 25])
def test_of_few_rows_at_least_one_is_held_out(tmp_path: Path, rows_there: int) -> None:
    train, evaluation, counts, *_ = load_split(entry(tmp_path, rows(range(rows_there))), config())
    assert len(evaluation) == max(1, rows_there // 10)
    assert len(train) + len(evaluation) == counts["read"] == rows_there


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.jsonl", "", "'a.jsonl' has no rows"),
        ("a.jsonl", "\n\r\n \n", "'a.jsonl' has no rows"),
        ("a.json", "[]", "'a.json' has no rows"),
        ("a.csv", "prompt,completion\n", "'a.csv' has no rows"),
        ("a.txt", "\n \n", "'a.txt' has no rows"),
        ("a.csv", "text\na\n", "has 1 different row; at least 2 are needed"),
        ("a.csv", "text\na\na\na\n", "has 1 different row; at least 2 are needed"),
        ("a.csv", 'text\n""\n" "\n', "None of 2 rows .*Line 2 of 'a.csv' is the first.*text"),
    ],
)
def test_too_few_rows_are_refused(tmp_path: Path, name: str, content: str, says: str) -> None:
    (tmp_path / name).write_text(content)
    one_file = DatasetEntry(id="d", title="d", summary="", train_files=(tmp_path / name,))
    with pytest.raises(SettingsError, match=says):
        load_split(one_file, config())


def test_a_mapping_reaches_the_rows(tmp_path: Path) -> None:
    frage = [{"Frage": str(i), "Antwort": str(i), "id": i} for i in range(4)]
    one_file = entry(tmp_path, frage)
    found = load_split(one_file, config(columns="prompt=Frage, answer=Antwort"))
    assert sorted(questions(found.train + found.eval)) == [0, 1, 2, 3]
    assert found.notes == ("Columns that are not used: id.",)
    with pytest.raises(SettingsError, match="columns Frage, Antwort, id are not .*setting columns"):
        load_split(one_file, config())


def test_what_became_of_the_rows_adds_up(tmp_path: Path) -> None:
    odd = [*rows(range(50)), *rows(range(10)), {"prompt": "x", "completion": ""}]
    odd += [{"prompt": "y", "completion": "None"}]
    found = load_split(entry(tmp_path, odd), config(train_rows=20))
    counts = found.counts
    assert counts == {"read": 62, "duplicates": 10, "no_answer": 1, "unused": 26, "null_words": 1}
    left_out = counts["duplicates"] + counts["no_answer"] + counts["unused"]
    assert counts["read"] - left_out == len(found.train) + len(found.eval)
    assert "In 1 of the rows read a cell says None, NA, NaN or null" in found.notes[0]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large dataset is one of more than 64 rows."""
    monkeypatch.setattr(split, "HEAD_ROWS", 64)
    monkeypatch.setattr(split, "KEPT_ROWS", 16)


def large(folder: Path, count: int) -> DatasetEntry:
    """So many rows, and then a line that cannot be read."""
    one_file = entry(folder, rows(range(count)))
    with one_file.train_files[0].open("a") as file:
        file.write("no row\n")
    return one_file


def test_a_large_dataset_is_read_as_far_as_the_run_needs(tmp_path: Path, small: None) -> None:
    found = load_split(large(tmp_path, 65), config({"max_steps": 3}, eval_rows=5))
    assert found.counts["read"] == 64
    assert len(found.eval) == 5
    assert len(found.train) == 16  # of which 3 steps of 4 rows are drawn
    assert found.notes == (
        "Only the first 64 rows were read, which is all that this run needs; "
        "shuffle the rows if they are sorted.",
    )
    with pytest.raises(SettingsError, match="Line 66 .*not JSON"):
        load_split(large(tmp_path, 65), config({"max_steps": 30}, eval_rows=5))


def test_longer_runs_divide_the_same_rows_alike(tmp_path: Path, small: None) -> None:
    one_file = large(tmp_path, 300)
    first, second = (
        load_split(one_file, config({"max_steps": steps}, eval_rows=6)) for steps in (1, 10)
    )
    assert first.eval == second.eval
    longer = load_split(one_file, config({"max_steps": 20}, eval_rows=6))
    assert longer.counts["read"] == 128
    assert len(longer.train) == 100  # 80 that the steps draw, and a quarter to spare


def test_the_seed_draws_the_rows_that_are_kept(tmp_path: Path, small: None) -> None:
    one_file = large(tmp_path, 65)
    first, again, other = (
        load_split(one_file, config({"max_steps": 3, "seed": seed}, eval_rows=5))
        for seed in (1, 1, 2)
    )
    assert first.train == again.train != other.train
    assert first.eval == other.eval
    assert questions(first.train) == sorted(questions(first.train))
    assert not set(questions(first.train)) & set(questions(first.eval))


def test_copies_are_apart_from_what_is_held_out_in_a_large_dataset_too(
    tmp_path: Path, small: None
) -> None:
    one_file = entry(tmp_path, rows([i % 40 for i in range(1000)]))
    found = load_split(one_file, config({"max_steps": 3}, eval_rows=5))
    assert found.counts["read"] == 64 and found.counts["duplicates"] == 24
    assert not set(questions(found.train)) & set(questions(found.eval))


def test_long_rows_are_not_read_beyond_what_is_needed(
    tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split, "HEAD_SIZE", 1000)
    found = load_split(large(tmp_path, 60), config({"max_steps": 3}, eval_rows=2))
    assert found.counts["read"] == 28  # 1000 characters, at 35 or 37 in a row
    needed = load_split(large(tmp_path, 60), config({"max_steps": 8}, eval_rows=2))
    assert needed.counts["read"] == 42


def test_the_first_so_many_training_rows_bound_what_is_read(tmp_path: Path, small: None) -> None:
    settings = {"train_rows": 10, "eval_rows": 5}
    found = load_split(large(tmp_path, 65), config({"max_steps": 10_000}, **settings))
    assert (found.counts["read"], len(found.train), len(found.eval)) == (64, 10, 5)


def test_packed_sequences_hold_several_rows(tmp_path: Path, small: None) -> None:
    settings = {"packing": True, "max_seq_len": 64, "eval_rows": 5}
    found = load_split(large(tmp_path, 300), config({"max_steps": 10}, **settings))
    assert found.counts["read"] == 256  # 40 sequences of at most 4 rows of 16 tokens, and to spare


def test_held_out_files_are_read_until_there_are_enough(tmp_path: Path, small: None) -> None:
    both = entry(tmp_path, rows(range(10)), rows(range(5, 200)))
    with both.eval_files[0].open("a") as file:
        file.write("no row\n")
    found = load_split(both, config(eval_rows=3))
    assert questions(found.eval) == [10, 11, 12]
    assert found.counts == {"read": 18, "duplicates": 5, "no_answer": 0}


def test_reading_can_be_given_up(tmp_path: Path) -> None:
    calls = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_split(entry(tmp_path, rows(range(2000))), config(), check)


def test_files_of_a_folder_are_one_dataset(tmp_path: Path) -> None:
    write(tmp_path / "train-1.jsonl", rows(range(5)))
    write(tmp_path / "train-2.jsonl", rows(range(5, 9)))
    write(tmp_path / "validation.jsonl", rows([20]))
    write(tmp_path / "test.jsonl", rows([30]))
    found = load_split(resolve_dataset(str(tmp_path)), config())
    assert (questions(found.train), questions(found.eval)) == ([*range(9)], [20])
    assert found.notes == (
        "Not read, since others are named for training or holding out: test.jsonl.",
    )
