"""What a run would refuse is refused before there is one, in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from playground.catalog import list_datasets, resolve_dataset
from playground.config import SettingsError
from playground.data import check
from playground.data.check import check_rows
from playground.presets import load_preset

GOOD = {
    "a.jsonl": '{"prompt": "a", "completion": "b"}\n{"prompt": "c", "completion": "d"}\n',
    "b.JSON": '[{"Question": "a", "Answer": "b"}, {"Question": "c", "Answer": "d"}]',
    "c.csv": "\ufefftext\na\nb\n",
    "d.tsv": "instruction\toutput\na\tb\nc\td\n",
    "e.txt": "one\n\ntwo\n",
}


def looked_at(path: Path) -> None:
    config = load_preset("quick", {"dataset": str(path)}).config
    check_rows(resolve_dataset(config.dataset), config)


@pytest.mark.parametrize("name", GOOD)
def test_what_can_be_learned_from_passes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(GOOD[name], encoding="utf-8")
    looked_at(tmp_path / name)


@pytest.mark.parametrize("entry", list_datasets(), ids=lambda entry: entry.id)
def test_what_is_bundled_passes(entry) -> None:
    check_rows(entry, load_preset("quick", {"dataset": entry.id}).config)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        *((name, b"", "has no rows|is not JSON") for name in GOOD),
        ("a.csv", b"text\n", "has no rows"),
        ("a.csv", b"foo,bar\n1,2\n3,4\n", "columns foo, bar are not a known format; rename them"),
        ("a.json", b'{"data": 1}', "columns data are not"),
        ("a.json", b'[{"data": 1}, {"data": 2}]', "columns data are not .* completion \\+ prompt"),
        ("a.jsonl", b'{"text": "a"}\n', "at least 2 are needed"),
        ("a.jsonl", b'{"text": "a"}\n{"text": [1]}\n', "Line 2 of 'a.jsonl'"),
        ("a.txt", "größer\n\nals".encode("latin-1"), "Line 1 of 'a.txt' is not UTF-8"),
    ],
)
def test_what_cannot_is_refused(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SettingsError, match=says):
        looked_at(tmp_path / name)


def test_a_larger_file_is_left_to_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"foo": 1}\n{"foo": 2}\n')
    monkeypatch.setattr(check, "LARGEST", path.stat().st_size)
    with pytest.raises(SettingsError, match="foo"):
        looked_at(path)
    monkeypatch.setattr(check, "LARGEST", path.stat().st_size - 1)
    looked_at(path)


def test_parquet_and_the_hub_are_left_to_their_run(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"no parquet")
    looked_at(tmp_path / "rows.parquet")
    config = load_preset("quick", {"dataset": "someone/rows"}).config
    check_rows(resolve_dataset("someone/rows"), config)
