"""Files become rows, or a sentence that says which line is wrong."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest

from playground.config import SettingsError
from playground.data.rows import read_rows

ROWS = [{"prompt": "two\nlines", "completion": "None"}, {"prompt": "ä, 日本", "completion": "NA"}]


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


JSONL = (
    '{"prompt": "two\\nlines", "completion": "None"}\n\n{"prompt": "ä, 日本", "completion": "NA"}\n'
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", JSONL),
        ("a.JSONL", JSONL.replace("\n", "\r\n")),
        ("a.json", "[" + JSONL.strip().replace("\n\n", ",") + "]"),
        ("a.csv", 'prompt,completion\n"two\nlines",None\n"ä, 日本",NA\n'),
        ("a.tsv", 'prompt\tcompletion\n"two\nlines"\tNone\nä, 日本\tNA\n'),
    ],
)
def test_the_same_rows_from_every_kind_of_file(tmp_path: Path, name: str, text: str) -> None:
    assert read_rows(write(tmp_path, name, text)) == ROWS


def test_parquet(tmp_path: Path) -> None:
    datasets.Dataset.from_list(ROWS).to_parquet(tmp_path / "a.parquet")
    assert read_rows(tmp_path / "a.parquet") == ROWS


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    assert read_rows(write(tmp_path, "a.jsonl", JSONL, "utf-8-sig")) == ROWS


def test_text_has_a_row_for_each_paragraph(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "one\nstill one\n\n\n\ntwo\n")
    assert read_rows(path) == [{"text": "one\nstill one"}, {"text": "two"}]


def test_only_the_first_rows(tmp_path: Path) -> None:
    assert read_rows(write(tmp_path, "a.jsonl", JSONL), limit=1) == ROWS[:1]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.jsonl", '{"a": 1}\n\n{"a": \n', "Line 3 of 'a.jsonl' is not JSON"),
        ("a.jsonl", "[1, 2]\n", "Line 1 of 'a.jsonl' is list, not an object"),
        ("a.jsonl", "\n \n", "'a.jsonl' has no rows"),
        ("a.csv", "prompt,completion\n", "'a.csv' has no rows"),
        ("a.csv", "", "'a.csv' could not be read as csv"),
        ("a.json", "{", "'a.json' could not be read as json"),
        ("a.parquet", "no", "'a.parquet' could not be read as parquet"),
        ("a.xml", "<a/>", "'a.xml' is of an unknown kind"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        read_rows(write(tmp_path, name, text))
    assert sentence in str(refused.value)
    assert str(tmp_path) not in str(refused.value)
