"""What a run would refuse is refused before there is one, in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from playground.catalog import list_datasets, resolve_dataset
from playground.config import SettingsError
from playground.data.check import check_rows
from playground.data.split import HEAD_ROWS
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


def test_a_large_file_is_looked_at_in_its_first_rows(tmp_path: Path) -> None:
    """Whatever the number of steps; the run itself reads on."""
    path = tmp_path / "rows.jsonl"
    lines = (f'{{"text": "row {i}"}}' for i in range(HEAD_ROWS + 1))
    path.write_text("\n".join(lines) + "\nno row\n")
    config = load_preset("quick", {"dataset": str(path), "max_steps": "100000"}).config
    check_rows(resolve_dataset(config.dataset), config)
    path.write_text('{"text": "a"}\nno row\n')
    with pytest.raises(SettingsError, match="Line 2"):
        check_rows(resolve_dataset(config.dataset), config)


def test_the_hub_is_left_to_its_run() -> None:
    config = load_preset("quick", {"dataset": "someone/rows"}).config
    check_rows(resolve_dataset("someone/rows"), config)
