"""No row is both learned and held out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.catalog import DatasetEntry
from playground.config import RunConfig, SettingsError, parse_config
from playground.data.split import hold_out, load_split
from playground.presets import defaults


def config(**data: object) -> RunConfig:
    values = defaults() | {"model": "m", "dataset": "d", "precision": "fp16"}
    values["data"] = values["data"] | data
    return parse_config(values)


def rows(numbers: range | list[int]) -> list[dict]:
    return [{"prompt": str(i), "completion": str(i)} for i in numbers]


def write(path: Path, content: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in content))
    return path


def entry(folder: Path, train: list[dict], evaluation: list[dict] | None = None) -> DatasetEntry:
    return DatasetEntry(
        id="d",
        title="d",
        summary="",
        train_path=write(folder / "train.jsonl", train),
        eval_path=None if evaluation is None else write(folder / "eval.jsonl", evaluation),
    )


def test_files_of_their_own_are_taken_as_they_are(tmp_path: Path) -> None:
    both = entry(tmp_path, rows(range(10)), rows([8, 9, 10, 11, 12]))
    train, evaluation, counts = load_split(both, config(eval_rows=2))
    assert train == rows(range(10))
    assert evaluation == rows([10, 11])
    assert counts == {"read": 15, "duplicates": 2}


def test_evaluation_rows_that_are_all_known_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="Every evaluation row of dataset 'd'"):
        load_split(entry(tmp_path, rows(range(3)), rows([1, 2])), config())


def test_otherwise_rows_are_held_out_by_the_seed(tmp_path: Path) -> None:
    one_file = entry(tmp_path, rows([*range(40), *range(20)]))
    train, evaluation, counts = load_split(one_file, config())
    assert (len(train), len(evaluation)) == (36, 4)
    assert not {str(r) for r in train} & {str(r) for r in evaluation}
    assert counts == {"read": 60, "duplicates": 20}
    assert load_split(one_file, config()) == (train, evaluation, counts)
    assert hold_out(rows(range(40)), 4, 1, "d")[1] != hold_out(rows(range(40)), 4, 2, "d")[1]


def test_the_limit_on_training_rows_leaves_the_held_out_alone(tmp_path: Path) -> None:
    one_file = entry(tmp_path, rows(range(40)))
    limited = load_split(one_file, config(train_rows=5))
    assert len(limited.train) == 5
    assert limited.eval == load_split(one_file, config()).eval


def test_two_rows_are_the_least() -> None:
    train, evaluation = hold_out(rows(range(2)), 128, 0, "d")
    assert (len(train), len(evaluation)) == (1, 1)
    with pytest.raises(SettingsError, match="'d' has 1 different row; at least 2"):
        hold_out(rows([1, 1, 1]), 128, 0, "d")
