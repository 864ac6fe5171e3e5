"""A preview's figures are those of the rows, and its tokens are the row's text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.catalog import resolve_dataset
from playground.config import SettingsError
from playground.data import preview as module
from playground.data import split
from playground.data.preview import preview
from tests.data.test_split import config, entry, write
from tests.tiny import tiny_tokenizer

EMOJI = "naïve 😀\n  日本"


def asked(prompt: str, answer: str | None, **more: Any) -> dict[str, Any]:
    return {"prompt": prompt, "completion": answer, **more}


def looked(
    folder: Path, rows: list[dict], training: dict | None = None, **data: Any
) -> dict[str, Any]:
    """A preview of these rows, the last of which are held out, as it goes through JSON."""
    source = entry(folder, rows[:-1], rows[-1:])
    found = preview(source, config(training, **data), tiny_tokenizer(), 3)
    return json.loads(json.dumps(found, allow_nan=False))


def text_of(row: dict[str, Any], *states: str) -> str:
    return "".join(token["text"] for token in row["tokens"] if token["state"] in states)


def test_a_row_as_read_and_as_tokens(tmp_path: Path) -> None:
    found = looked(tmp_path, [asked("a", EMOJI, lang="x"), asked("b", "c"), asked("d", "e")])
    row = found["rows"][0]
    assert row["place"] == "Line 1 of 'train.jsonl'" and row["fate"] == "training"
    assert row["cells"] == {"prompt": "a", "completion": EMOJI, "lang": "x"}
    assert text_of(row, "learned") == f"{EMOJI}<|end|>"
    assert text_of(row, "learned", "not learned") == row["text"]
    assert row["prompt"] == "<|start|>user\na<|end|>\n<|start|>assistant\n"
    assert row["answer"] == EMOJI
    assert row["length"] == len(row["tokens"]) == sum(row["states"].values())
    assert found["format"] == {
        "name": "prompt-completion",
        "columns": {"prompt": "prompt", "answer": "completion"},
        "unused": ["lang"],
    }
    assert len(found["rows"]) == 2  # there are no more to train on


def test_a_mark_that_the_tokenizer_adds_is_learned_under_its_name(tmp_path: Path) -> None:
    found = looked(tmp_path, [{"text": "free"}, {"text": "verse"}, {"text": "held"}])
    row = found["rows"][0]
    assert found["template"] == "none"
    assert text_of(row, "learned") == "ree<|end|>"  # nothing predicts a first token
    assert text_of(row, "not learned") == "f"


def test_the_fate_of_each_row_and_what_they_come_to(tmp_path: Path) -> None:
    rows = [
        asked("a", "b"),
        asked("a", "b"),
        asked("c", " "),
        asked("d", "e" * 60),
        asked("f" * 60, "g"),
        asked("h", "i"),
    ]
    file = write(tmp_path / "rows.jsonl", rows)
    source = resolve_dataset(str(file))
    found = preview(source, config(max_seq_len=64), tiny_tokenizer(), 6)
    fates = [row["fate"] for row in found["rows"]]
    assert sorted(fates[:2]) in (["a copy", "held out"], ["a copy", "training"])
    assert fates[2] == "no answer"
    counts = found["counts"]
    left_out = ("duplicates", "no_answer", "unused", "too_long", "nothing_to_learn")
    assert counts["read"] == 6 == counts["kept"] + sum(counts[key] for key in left_out)
    assert (counts["duplicates"], counts["no_answer"]) == (1, 1)
    assert counts["kept"] == counts["train"] + counts["eval"]


def test_a_reply_that_only_calls_a_tool_is_no_mere_gap(tmp_path: Path) -> None:
    asks = {"role": "user", "content": "a"}
    call = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f"}}]}
    said = [{"messages": [asks | {"content": f"{i}"}, call | {"content": "b"}]} for i in range(4)]
    file = write(tmp_path / "rows.jsonl", [{"messages": [asks, call]}, *said])
    found = preview(resolve_dataset(str(file)), config(), tiny_tokenizer(), 2)
    assert found["rows"][0]["fate"] == "a tool call" != found["rows"][1]["fate"]


@pytest.mark.parametrize(
    ("too_long", "counted", "fate"), [("cut", "cut", "training"), ("drop", "too_long", "too long")]
)
def test_a_row_beyond_the_limit(tmp_path: Path, too_long: str, counted: str, fate: str) -> None:
    rows = [asked("a", "b" * 100), asked("c", "d"), asked("e", "f")]
    found = looked(tmp_path, rows, max_seq_len=64, too_long=too_long)
    long, short = found["rows"]
    assert (long["fate"], found["counts"][counted]) == (fate, 1)
    assert text_of(long, "cut").endswith("b<|end|>\n")
    assert long["states"]["cut"] == long["length"] - (64 if too_long == "cut" else 0)
    assert short["states"]["cut"] == 0
    assert found["lengths"]["over"] == 1 and found["lengths"]["longest"] == long["length"]


def test_a_row_with_nothing_to_learn_within_the_limit(tmp_path: Path) -> None:
    rows = [asked("a" * 100, "b"), asked("c", "d"), asked("e", "f")]
    found = looked(tmp_path, rows, max_seq_len=64)
    assert found["rows"][0]["fate"] == "nothing to learn"
    assert found["rows"][0]["states"]["learned"] == 0
    assert found["counts"]["nothing_to_learn"] == 1


@pytest.mark.parametrize("longest", [1, 40, 500, 50_000])
def test_the_histogram_holds_every_row(tmp_path: Path, longest: int) -> None:
    rows = [asked(str(i), "b" * (longest if i == 7 else 5)) for i in range(20)]
    lengths = looked(tmp_path, rows, max_seq_len=128)["lengths"]
    bins = lengths["bins"]
    assert sum(entry["rows"] for entry in bins) == 20 and len(bins) <= 24
    assert [entry["from"] for entry in bins[1:]] == [entry["to"] + 1 for entry in bins[:-1]]
    assert bins[0]["from"] == 1 and bins[-1]["to"] >= lengths["longest"]
    assert bins[-1]["rows"] > 0
    assert lengths["limit"] == 128


def test_a_pass_and_its_longest_batch(tmp_path: Path) -> None:
    rows = [asked(str(i), "b" * (40 if i == 3 else 4)) for i in range(10)]
    training = {"micro_batch_size": 2, "grad_accum_steps": 2, "max_steps": 50}
    found = looked(tmp_path, rows, training=training)
    epoch = found["epoch"]
    assert (epoch["rows"], epoch["steps"], epoch["run_steps"]) == (9, 3, 50)
    assert epoch["learned_tokens"] == 8 * 5 + 41  # each answer and its end mark
    longest = found["lengths"]["longest"]
    assert found["longest_batch"]["tokens"] == longest
    assert found["longest_batch"]["rows"] in (1, 2)


def test_packed_rows_make_fewer_steps(tmp_path: Path) -> None:
    rows = [asked(str(i), "b") for i in range(9)]
    training = {"micro_batch_size": 1, "grad_accum_steps": 1}
    alone = looked(tmp_path, rows, training=training, max_seq_len=256)
    packed = looked(tmp_path, rows, training=training, max_seq_len=256, packing=True)
    assert packed["epoch"]["tokens"] == alone["epoch"]["tokens"]
    assert packed["epoch"]["steps"] < alone["epoch"]["steps"] == 8


def test_a_large_source_is_looked_at_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOKED_AT", 8)
    monkeypatch.setattr(split, "KEPT_ROWS", 8)
    monkeypatch.setattr(split, "HEAD_ROWS", 16)
    file = write(tmp_path / "rows.jsonl", [asked(str(i), str(i)) for i in range(1000)])
    source = resolve_dataset(str(file))
    found = preview(source, config({"max_steps": 500}, eval_rows=1), tiny_tokenizer(), 2)
    assert not found["complete"]
    assert (found["counts"]["read"], found["counts"]["train"]) == (16, 8)
    assert "Only the first 16 rows were read here; the run reads on." in found["notes"]
    every = config({"max_steps": 500}, eval_rows=1)
    found = preview(source, every, tiny_tokenizer(), 2, every=True)
    assert found["complete"] and found["counts"]["train"] == 999
    whole = preview(source, config({"max_steps": 1}, eval_rows=1), tiny_tokenizer(), 2)
    assert whole["complete"] and "all that this run needs" in whole["notes"][-1]


def test_a_long_row_is_shown_in_part(tmp_path: Path) -> None:
    rows = [asked("a", "b" * 9000), asked("c", "d"), asked("e", "f")]
    row = looked(tmp_path, rows)["rows"][0]
    assert len(row["tokens"]) == module.SHOWN_TOKENS < row["length"]
    assert sum(row["states"].values()) == row["length"]
    assert row["cells"]["completion"].endswith("b … and 5,000 more characters")


def test_cells_that_are_no_text_are_shown_as_json(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "ä"}, {"role": "assistant", "content": "b"}]
    rows = [{"messages": turns, "n": i} for i in range(1)] + [
        {"messages": [turns[0], {"role": "assistant", "content": str(i)}], "n": i} for i in range(2)
    ]
    cells = looked(tmp_path, rows)["rows"][0]["cells"]
    assert json.loads(cells["messages"]) == turns and "ä" in cells["messages"]
    assert cells["n"] == "0"


def test_what_the_run_would_refuse_is_refused(tmp_path: Path) -> None:
    rows = [asked("a" * 100, "b"), asked("c" * 100, "d"), asked("e" * 100, "f")]
    with pytest.raises(SettingsError, match="nothing to learn from within 64 tokens"):
        looked(tmp_path, rows, max_seq_len=64)
