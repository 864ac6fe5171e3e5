"""What a GGUF file said is kept to the letter, by the file's state, and never trusted blindly."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from playground.catalog.models import ModelEntry
from playground.config import SettingsError
from playground.training import parsed as module
from playground.training.parsed import beside, parsed
from tests.tiny import tiny_llama, tiny_tokenizer


class Reads:
    """Reads a value, and counts how often."""

    def __init__(self, value: Any) -> None:
        self.value, self.count = value, 0

    def __call__(self) -> Any:
        self.count += 1
        return self.value


@pytest.fixture
def entry(tmp_path: Path) -> ModelEntry:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    known = {"id": "mine", "title": "", "summary": ""}
    return ModelEntry.model_construct(**known, path=tmp_path, hub_id=None, gguf_file="m.gguf")


@pytest.mark.parametrize("part", ["tokenizer", "configuration"])
def test_it_is_read_once_and_the_same_to_the_letter(entry: Any, tmp_path: Path, part: str) -> None:
    reads = Reads(tiny_tokenizer() if part == "tokenizer" else tiny_llama().config)
    first = parsed(entry, part, reads, tmp_path / "kept")
    again = parsed(entry, part, reads, tmp_path / "kept")
    assert reads.count == 1 and first is reads.value and again is not first
    assert module._said(again) == module._said(first)
    assert again.name_or_path == str(entry.path)


def test_rows_are_the_same_tokens(entry: Any, tmp_path: Path) -> None:
    reads = Reads(tiny_tokenizer())
    texts = ["<|start|>a\n ä<|end|>", "  x"]
    found = [parsed(entry, "tokenizer", reads, tmp_path / "kept")(texts) for _ in range(2)]
    assert reads.count == 1 and found[0]["input_ids"] == found[1]["input_ids"]


@pytest.mark.parametrize("how", ["a byte", "a file gone", "a file more", "no digests", "half"])
def test_what_is_damaged_is_read_again(entry: Any, tmp_path: Path, how: str) -> None:
    reads = Reads(tiny_tokenizer())
    parsed(entry, "tokenizer", reads, tmp_path / "kept")
    (place,) = (tmp_path / "kept").iterdir()
    file = place / "tokenizer.json"
    if how == "a byte":
        file.write_bytes(file.read_bytes().replace(b'"special":true', b'"special":TRUE', 1) + b" ")
    elif how == "a file gone":
        (place / "tokenizer_config.json").unlink()
    elif how == "a file more":
        (place / "added_tokens.json").write_text("{}")
    elif how == "no digests":
        (place / "digests.json").unlink()
    else:
        (place / "digests.json").write_text('{"tok')
    for reads_so_far in (2, 2):  # once, and it is whole again
        parsed(entry, "tokenizer", reads, tmp_path / "kept")
        assert reads.count == reads_so_far


def test_another_state_of_the_file_is_another_entry(entry: Any, tmp_path: Path) -> None:
    reads = Reads(tiny_tokenizer())
    parsed(entry, "tokenizer", reads, tmp_path / "kept")
    os.utime(tmp_path / "m.gguf", ns=(0, 5))
    parsed(entry, "tokenizer", reads, tmp_path / "kept")
    (tmp_path / "m.gguf").write_bytes(b"GGUF2")
    parsed(entry, "tokenizer", reads, tmp_path / "kept")
    assert reads.count == 3


def test_what_would_not_load_as_it_was_is_not_kept(entry: Any, tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.save_pretrained = lambda folder: tiny_tokenizer("{{ other }}").save_pretrained(folder)
    reads = Reads(tokenizer)
    for _ in range(2):
        assert parsed(entry, "tokenizer", reads, tmp_path / "kept") is tokenizer
    assert reads.count == 2 and not list((tmp_path / "kept").iterdir())


def test_nothing_is_kept_of_other_models_or_without_a_place(entry: Any, tmp_path: Path) -> None:
    reads = Reads(tiny_tokenizer())
    parsed(entry, "tokenizer", reads, None)
    parsed(entry.model_copy(update={"gguf_file": None}), "tokenizer", reads, tmp_path / "kept")
    assert reads.count == 2 and not (tmp_path / "kept").exists()
    assert beside(None) is None and beside(Path("a/self-tests.json")) == Path("a/parsed")


def test_a_refusal_is_passed_on_and_keeps_nothing(entry: Any, tmp_path: Path) -> None:
    def refuse() -> None:
        raise SettingsError("no")

    with pytest.raises(SettingsError):
        parsed(entry, "tokenizer", refuse, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_place_that_cannot_be_written_stops_nothing(entry: Any, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file")
    reads = Reads(tiny_tokenizer())
    assert parsed(entry, "tokenizer", reads, tmp_path / "kept") is reads.value


def test_it_is_bounded_and_what_a_killed_process_left_goes(
    entry: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    old = tmp_path / "kept" / ".left"
    old.mkdir(parents=True)
    os.utime(old, (0, 0))
    reads = Reads(tiny_llama().config)
    for i in range(4):
        os.utime(tmp_path / "m.gguf", ns=(0, i))
        parsed(entry, "configuration", reads, tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == 2 and not old.exists()


def test_two_at_once_leave_one_whole_entry(entry: Any, tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def read() -> Any:
        both.wait(30)
        return tiny_llama().config

    ask = [
        threading.Thread(target=parsed, args=(entry, "configuration", read, tmp_path / "kept"))
        for _ in range(2)
    ]
    [thread.start() for thread in ask]
    [thread.join() for thread in ask]
    assert len(list((tmp_path / "kept").iterdir())) == 1
    reads = Reads(None)
    assert parsed(entry, "configuration", reads, tmp_path / "kept") is not None
    assert reads.count == 0
