"""What reading did to the rows reaches the run: its messages, its counts, and its tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground.config import RunConfig
from playground.events import Event, Facts, Message
from playground.training.prepare import Prepared, prepare
from tests.tiny import tiny_llama, tiny_tokenizer

FEW = "A difference measured on so few held-out rows (1) says little; hold out more."
Configure = Callable[..., RunConfig]


def prepared(config: RunConfig) -> tuple[Prepared, list[Event]]:
    events, work = [], prepare(config, check=lambda: None)
    while True:
        try:
            events.append(next(work))
        except StopIteration as done:
            return done.value, events


def rows_of(events: list[Event]) -> dict[str, int]:
    return next(e.rows for e in events if isinstance(e, Facts) and e.rows is not None)


def test_a_table_of_other_columns_and_separators(configure: Configure, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    lines = [f"{i};{'x' * (i * i)};{i}" for i in range(10)] + ["10;None;10", "11;;11"]
    path.write_text("Nr;Antwort;Frage\n" + "\n".join(lines) + "\n")
    config = configure(
        dataset=str(path), columns="prompt=Frage, answer=Antwort", too_long="drop", max_seq_len=64
    )
    run, events = prepared(config)
    rows = rows_of(events)
    assert rows == {
        "read": 12, "duplicates": 0, "no_answer": 2, "null_words": 1, "too_long": 3,
        "train": rows["train"], "eval": 1, "cut": 0, "dropped": 5, "kept": 7,
    }  # fmt: skip
    assert rows["train"] + rows["eval"] == rows["kept"] == len(run.train) + len(run.eval)
    said = [(e.level, e.text) for e in events if isinstance(e, Message)]
    assert said == [
        (
            "info",
            "The cells of 'rows.csv' are parted by a semicolon, not a comma, and were read so.",
        ),
        ("info", "Columns that are not used: Nr."),
        (
            "info",
            "In 1 of the rows read a cell says None, NA, NaN or null; it was kept as that word.",
        ),
        ("warning", "2 of 12 rows read have no answer. They were left out."),
        ("warning", "3 of 10 rows are longer than 64 tokens. They were left out."),
        ("info", FEW),
    ]


def test_conversations_for_a_base_model(configure: Configure, tmp_path: Path) -> None:
    tiny_llama().save_pretrained(tmp_path / "base")
    tiny_tokenizer(None).save_pretrained(tmp_path / "base")
    turns: list[list[dict[str, Any]]] = [
        [{"from": "human", "value": f"{i}+1="}, {"from": "gpt", "value": str(i + 1)}]
        for i in range(10)
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"conversations": each}) + "\n" for each in turns))
    run, events = prepared(configure(model=str(tmp_path / "base"), dataset=str(path)))
    assert [e.text for e in events if isinstance(e, Message)] == [
        "This model has no chat template, so conversations were written in a plain one: "
        "User: ... Assistant: ...",
        FEW,
    ]
    asked = run.tokenizer.apply_chat_template(
        [{"role": "user", "content": "1+1="}], add_generation_prompt=True, tokenize=False
    )
    assert asked == "User: 1+1=\n\nAssistant:"
    prompts = {run.tokenizer.decode(example.prompt_ids) for example in run.train + run.eval}
    assert asked in prompts


@pytest.mark.parametrize("packed", [False, True])
def test_a_run_draws_from_as_many_rows_as_it_needs(
    configure: Configure, tmp_path: Path, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.data.split.HEAD_ROWS", 64)
    monkeypatch.setattr("playground.data.split.KEPT_ROWS", 8)
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps({"prompt": f"{i}+", "completion": str(i)}) for i in range(2000)]
    path.write_text("\n".join([*lines, "no row"]))
    settings = {"max_steps": 2, "micro_batch_size": 4, "eval_rows": 4, "packing": packed}
    run, events = prepared(configure(dataset=str(path), **settings))
    rows = rows_of(events)
    assert rows["read"] == 64 and rows["eval"] == 4
    assert rows["train"] == len(run.train) == (40 if packed else 10)
    assert rows["read"] == rows["kept"] + rows["unused"]
    steps = run.batches()
    drawn = [next(steps) for _ in range(2)]
    steps.close()
    assert sum(len(batch.input_ids) for step in drawn for batch in step) == 8
