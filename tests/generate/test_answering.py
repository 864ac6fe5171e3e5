"""The real models: each column is who it says it is, and writes what the run's evaluation wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground.generate import (
    Column,
    Conversation,
    Exchange,
    Sampling,
    Transcript,
    columns_of,
)
from playground.generate.answering import Answerer
from playground.store import RunStore

Ask = Callable[..., tuple[Column, ...]]
NOTHING_SAID = Conversation()


@pytest.fixture(scope="module")
def answerer(trained_home: Path) -> Answerer:
    return Answerer(trained_home)


@pytest.fixture
def ask(answerer: Answerer, trained_home: Path, tmp_path: Path) -> Ask:
    store = RunStore(trained_home)
    (group,) = store.list_groups()

    def put(
        prompt: str,
        stopped: Callable[[], bool] = lambda: False,
        earlier: Conversation = NOTHING_SAID,
        **sampling: Any,
    ) -> Any:
        columns = columns_of(store, group)
        path = tmp_path / "answers.jsonl"
        path.unlink(missing_ok=True)
        request = {
            "ask": 1,
            "columns": [[c.run_id, c.tuned] for c in columns],
            "earlier": [earlier.turns(at) for at in range(len(columns))],
            "prompt": prompt,
            "sampling": Sampling(**sampling).model_dump(),
            "answers": str(path),
        }
        answerer.answer(request, stopped)
        transcript = Transcript(path, columns)
        transcript.read()
        assert transcript.done
        return transcript.columns

    return put


@pytest.mark.slow
def test_each_column_writes_what_its_evaluation_wrote(ask: Ask, trained_home: Path) -> None:
    """Base and tuned swapped, or one arm's adapter on another's base, would show.

    Rows are evaluated many at once. In FP16 that moves no answer; NVFP4 scales by the batch, so of
    its answers only those are asked about that both arms agree on.
    """
    store = RunStore(trained_home)
    (group,) = store.list_groups()
    fp16, nvfp4 = group.run_ids
    before, after = store.eval_answers(fp16, "before"), store.eval_answers(fp16, "after")
    narrow = store.eval_answers(nvfp4, "after")
    assert all(b.answer != a.answer for b, a in zip(before, after, strict=True))
    agreed = 0
    for old, new, other in list(zip(before, after, narrow, strict=True))[:4]:
        base, tuned, four_bits = ask(old.prompt)
        assert (base.text, tuned.text) == (old.answer, new.answer)
        if other.answer == new.answer:
            agreed += four_bits.text == other.answer
    assert agreed
    assert any(a.answer != n.answer for a, n in zip(after, narrow, strict=True))


def test_an_answer_says_how_it_ended(ask: Ask) -> None:
    columns = ask("ISO date: 23 Sep 2086")
    assert {c.ended for c in columns} == {"by itself"}
    assert all(c.tokens > 1 and c.seconds > 0 and c.doing is None for c in columns)
    cut = ask("ISO date: 23 Sep 2086", max_new_tokens=2)
    assert [(c.ended, c.tokens) for c in cut] == [("at its limit", 2)] * 3


def test_it_is_told_as_it_is_written(ask: Ask, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("playground.generate.answering.SAY_EVERY_S", 0.0)
    whole = ask("ISO date: 23 Sep 2086")[1]
    said = map(json.loads, (tmp_path / "answers.jsonl").read_text().splitlines())
    texts = [line["text"] for line in said if line.get("column") == 1 and "text" in line]
    assert len(texts) >= whole.tokens and texts[-1] == whole.text
    assert all(later.startswith(earlier) for earlier, later in zip(texts, texts[1:], strict=False))


def test_a_seed_draws_the_same_again_and_another_something_else(ask: Ask) -> None:
    def drawn(seed: int) -> list[str]:
        return [c.text for c in ask("Date: ", temperature=2.0, seed=seed, max_new_tokens=12)]

    first = drawn(1)
    assert drawn(1) == first and drawn(2) != first
    assert [c.text for c in ask("Date: ", temperature=2.0, top_p=1e-9, max_new_tokens=12)] == [
        c.text for c in ask("Date: ", max_new_tokens=12)
    ]  # of the likeliest token alone there is nothing to draw


def test_what_was_said_before_is_read_by_each_with_its_own_answers(ask: Ask) -> None:
    alone = ask("ISO date: 23 Sep 2086")
    said = ("2086-09-23", "nonsense", "2086-09-23")
    after = ask("And 2 May 1999?", earlier=Conversation("", (Exchange("ISO date: x", said),)))
    assert all(c.error is None and c.tokens for c in after)
    own = ask("And 2 May 1999?", earlier=Conversation("", (Exchange("ISO date: x", said[:1] * 3),)))
    assert after[0].text == own[0].text and after[2].text == own[2].text
    assert after[1].text != own[1].text
    assert [c.text for c in ask("ISO date: 23 Sep 2086")] == [c.text for c in alone]


def test_stop_is_heard_between_two_tokens(ask: Ask) -> None:
    calls = iter([False] * 4)
    columns = ask("ISO date: 23 Sep 2086", stopped=lambda: next(calls, True))
    assert columns[0].ended == "stopped" and 0 < columns[0].tokens < 6  # the whole has 6
    assert [c.ended for c in columns[1:]] == ["stopped"] * 2
    assert not any(c.text for c in columns[1:])


def test_a_question_longer_than_the_model_reads_is_told(ask: Ask) -> None:
    columns = ask("1 2 3 " * 2000)
    assert all(c.error.endswith("shorten it.") and c.ended is None for c in columns)


def test_models_that_do_not_fit_together_come_one_after_another(
    answerer: Answerer, ask: Ask, monkeypatch: Any
) -> None:
    together = [c.text for c in ask("ISO date: 29.11.2017")]
    assert len(answerer._models) == 2
    monkeypatch.setattr(Answerer, "_has_room", lambda self, run: False)
    answerer._models.clear()
    assert [c.text for c in ask("ISO date: 29.11.2017")] == together
    assert len(answerer._models) == 1


def test_a_run_whose_adapter_is_gone_leaves_the_others_their_answers(
    answerer: Answerer, ask: Ask, trained_home: Path
) -> None:
    (group,) = RunStore(trained_home).list_groups()
    folder = trained_home / "runs" / group.run_ids[0] / "adapter"
    weights = folder / "adapter_model.safetensors"
    answerer._models.clear()
    weights.rename(weights.with_suffix(".away"))
    try:
        base, tuned, other = ask("ISO date: 29.11.2017")
    finally:
        weights.with_suffix(".away").rename(weights)
    assert tuned.error.startswith("The adapter of this run cannot be read")
    assert str(trained_home) not in tuned.error and other.text
