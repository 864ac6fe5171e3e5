"""JSON is read however it is laid out, and a mistake in it is placed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.data.rows import read_rows
from tests.data.reading import cells, write


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 10**6])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_is_read_whatever_its_layout(
    tmp_path: Path, chunk: int, indent: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.data.json_rows._CHUNK", chunk)
    values = [
        {"a": 12.5e-3, "b": [None, True, "]},{"]},
        {"c": "ä \\ 😀"},
        {"d": -1234},
    ]
    path = tmp_path / "a.json"
    for ascii_only in (True, False):
        path.write_text(" \n" + json.dumps(values, indent=indent, ensure_ascii=ascii_only) + "\n")
        assert cells(read_rows(path)) == values
    path.write_text("\n".join(json.dumps(value, indent=indent) for value in values))
    assert cells(read_rows(path)) == values


@pytest.mark.parametrize("chunk", [1, 5, 10**6])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[{"a": 1}', "Expecting ',' delimiter or ']' at line 1, column 10"),
        ('[{"a": 1}\n {"a": 2}]', "Expecting ',' delimiter at line 2, column 2"),
        ('[{"a": 1},\n]', "Expecting value at line 2, column 1"),
        ('[{"a": 1}]\n[]', "Extra data at line 2, column 1"),
        ('[\n{"a": "x\ny"}]', "Invalid control character at line 2, column 9"),
        ('[{"a": 1},\n  {"a" 2}]', "Expecting ':' delimiter at line 2, column 8"),
        ('{"a": "b', "Unterminated string starting at line 1, column 7"),
        ('[{"a": 1}, nul]', "Expecting value at line 1, column 12"),
    ],
)
def test_a_mistake_in_json_is_placed(
    tmp_path: Path, chunk: int, text: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.data.json_rows._CHUNK", chunk)
    with pytest.raises(SettingsError) as refused:
        read_rows(write(tmp_path, "a.json", text))
    assert says in str(refused.value)


def test_a_value_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playground.data.json_rows.LARGEST_VALUE", 5000)
    monkeypatch.setattr("playground.data.json_rows._CHUNK", 1000)
    monkeypatch.setattr("playground.data.files.LARGEST_VALUE", 5000)
    for name, text in (("a.json", "[" + '{"a": [' + "1, " * 9000), ("a.jsonl", "x" * 9000)):
        with pytest.raises(SettingsError, match="1 of 'a.json.* is longer than"):
            read_rows(write(tmp_path, name, text))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "is not JSON (Exceeds the limit"),
        ('{"text": "\\ud83d"}', "holds \\ud83d, which is half of a character"),
    ],
)
def test_odd_json_is_refused(tmp_path: Path, name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_rows(write(tmp_path, name, value))
    assert says in str(refused.value)
