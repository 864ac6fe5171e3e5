"""What is learned shows by brackets where there are no colours, and nothing of a row is obeyed."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from playground import __main__ as terminal
from playground.data.preview import preview
from playground.preview.terminal import draw
from playground.preview.words import printable, sentences
from tests.data.test_split import config, entry
from tests.tiny import tiny_tokenizer

NASTY = "[red]x[/red] \x1b[31m<b>"


@pytest.fixture
def found(tmp_path: Path) -> dict[str, Any]:
    rows = [
        {"prompt": "a", "completion": NASTY + "z" * 60, "lang": "x"},
        {"prompt": "b", "completion": ""},
        {"prompt": "c", "completion": "d"},
    ]
    source = entry(tmp_path, rows, [{"prompt": "e", "completion": "f"}])
    return preview(source, config(max_seq_len=64), tiny_tokenizer(), 3)


def drawn(found: dict[str, Any], **console: Any) -> str:
    out = io.StringIO()
    draw(Console(file=out, width=80, **console), found)
    return out.getvalue()


def test_without_colours(found: dict[str, Any]) -> None:
    said = drawn(found)
    assert "\x1b" not in said
    assert "assistant\n⟦[red]x[/red] ␛[31m<b>zz" in said and "⟨cut:z" in said
    assert "Line 2 of 'train.jsonl': left out, it holds nothing to learn" in said
    assert "completion: [red]x[/red] ␛[31m<b>z" in said
    assert "prompt from “prompt”, answer from “completion”" in said
    assert "Columns that are not used: lang." in said
    lines = [line.split() for line in said.splitlines()]
    assert ["rows", "read", "4"] in lines and ["dropped:", "no", "answer", "1"] in lines
    assert any(line[:1] == ["64"] and line[-1] == "limit" for line in lines)


def test_with_colours(found: dict[str, Any]) -> None:
    said = drawn(found, force_terminal=True, color_system="standard", no_color=False)
    assert "⟦" not in said and "\x1b[1;32m[red]x[/red] ␛[31m<b>zz" in said
    assert "⟦learned⟧" in drawn(found, force_terminal=True, no_color=True)


def test_half_a_character_is_no_crash() -> None:
    assert printable("a\ud800\x07\x9b\n") == "a?␇�\n"


@pytest.mark.parametrize("width", [40, 80])
def test_the_command(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    found: dict[str, Any],
    width: int,
) -> None:
    asked = []

    def ask(config: Any, rows: int, home: Path, *, every: bool) -> dict[str, Any]:
        assert not every
        asked.append((config.dataset, config.model, config.data.max_seq_len, rows, home.name))
        return found

    monkeypatch.setattr(terminal, "ask", ask)
    monkeypatch.setenv("COLUMNS", str(width))
    file = tmp_path / "out.json"
    words = ["preview", "iso-dates", "--model", "tiny", "--set", "max_seq_len=64"]
    assert _left(monkeypatch, *words, "--rows", "2", "--home", "kept", "--json", str(file)) == 0
    assert asked == [("iso-dates", "tiny", 64, 2, "kept")]
    assert json.loads(file.read_text()) == json.loads(json.dumps(found))
    assert "rows read" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["preview", "iso-date"], "Did you mean 'iso-dates'?"),
        (["preview", "iso-dates", "--model", "tinny"], "Did you mean 'tiny'?"),
        (["preview", "iso-dates", "--set", "max_seq_len=x"], "max_seq_len"),
        (["preview", "./no.jsonl"], "does not exist"),
    ],
)
def test_the_command_refuses_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    monkeypatch.setattr(terminal, "ask", lambda *_: pytest.fail("a child for a wrong name"))
    assert _left(monkeypatch, *words) == 1
    out, err = capsys.readouterr()
    assert said in err and err.count("\n") == 1 and out == ""


def _left(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["playground", *words])
    with pytest.raises(SystemExit) as left:
        terminal.main()
    return int(left.value.code or 0)


def test_few_held_out_rows_are_said_to_tell_little(found: dict[str, Any]) -> None:
    few, enough = ({**found, "counts": found["counts"] | {"eval": n}} for n in (19, 20))
    assert any("so few held-out rows (19)" in sentence for sentence in sentences(few))
    assert not any("held-out" in sentence for sentence in sentences(enough))


def test_that_only_the_first_rows_were_looked_at_is_said(found: dict[str, Any]) -> None:
    said = "The run reads more rows than were looked at here, so the counts are of the first ones."
    assert said in drawn(found | {"complete": False}) and said not in drawn(found)
    assert said in sentences(found | {"complete": False})  # and so on the page, which shows these
