"""No row is both learned and held out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.catalog import DatasetEntry
from playground.config import RunConfig, SettingsError, parse_config
from playground.data.formats import Reader, Sample, recognise
from playground.data.rows import Row
from playground.data.split import hold_out, load_split
from playground.presets import defaults


def config(**data: object) -> RunConfig:
    values = defaults() | {"model": "m", "dataset": "d", "precision": "fp16"}
    values["data"] = values["data"] | data
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
