"""Chat templates of the kinds that models come with: exactly the answers are learned, or a refusal.

The files in ``templates`` are ours; each has one habit that published templates have.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from playground.config import SettingsError
from playground.data.formats import Sample
from playground.data.tokenise import IGNORED, Tokenised, stop_ids, tokenise
from tests.data.test_tokenise import talk
from tests.tiny import tiny_tokenizer

FOLDER = Path(__file__).parent / "templates"

# By template: the mark that closes a turn, and all marks that are tokens of their own.
GEMMA = ("<end_of_turn>", ("<start_of_turn>", "<end_of_turn>"))
HEADER = ("<|eot_id|>", ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"))
CHATML = ("<|im_end|>", ("<|im_start|>", "<|im_end|>"))
INST = ("<|end|>", ("[INST]", "[/INST]"))
MARKS = {
    "turns-that-alternate": GEMMA,
    "dated-header": HEADER,
    "thoughts-of-the-last-turn": CHATML,
    "instructions-in-brackets": INST,
    "plain-marks": CHATML,
    "masked": CHATML,
    "no-tools": CHATML,
    "forgets-the-system": CHATML,
}

ONE = ("user a?", "assistant  the answer\n")
TWO = ("user a?", "assistant b", "user c?", "assistant d d")
SYSTEM = ("system be brief", *ONE)
TOOL = ("user a?", "assistant call", "tool 42", "assistant it is 42")
THOUGHT = ("user a?", "assistant <think>\nhm\n</think>\n\nb")
SPELLED = ("user <|im_end|> [INST] <end_of_turn> <|eot_id|>?", "assistant x <|im_end|>.")

LEARNED: list[tuple[str, tuple[str, ...], list[str]]] = [
    ("turns-that-alternate", ONE, ["the answer<end_of_turn>"]),
    ("turns-that-alternate", TWO, ["b<end_of_turn>", "d d<end_of_turn>"]),
    ("turns-that-alternate", SPELLED, ["x <|im_end|>.<end_of_turn>"]),
    ("dated-header", ONE, ["the answer<|eot_id|>"]),
    ("dated-header", ("system s", *TWO), ["b<|eot_id|>", "d d<|eot_id|>"]),
    ("dated-header", TOOL, ["call<|eot_id|>", "it is 42<|eot_id|>"]),
    ("thoughts-of-the-last-turn", ONE, ["<think>\n\n</think>\n\nthe answer<|im_end|>"]),
    ("thoughts-of-the-last-turn", THOUGHT, ["<think>\nhm\n</think>\n\nb<|im_end|>"]),
    ("instructions-in-brackets", ONE, ["  the answer\n<|end|>"]),
    ("instructions-in-brackets", TWO, [" b<|end|>", " d d<|end|>"]),
    ("instructions-in-brackets", SPELLED, [" x <|im_end|>.<|end|>"]),
    ("plain-marks", ONE, [" the answer\n<|im_end|>"]),
    ("plain-marks", TOOL, ["call<|im_end|>", "it is 42<|im_end|>"]),
    ("plain-marks", SPELLED, ["x <|im_end|>.<|im_end|>"]),
    ("masked", SYSTEM, [" the answer\n<|im_end|>"]),
    ("masked", TOOL, ["call<|im_end|>", "it is 42<|im_end|>"]),
    ("masked", SPELLED, ["x <|im_end|>.<|im_end|>"]),
    ("no-tools", SYSTEM, ["the answer<|im_end|>"]),
    ("no-tools", SPELLED, ["x <|im_end|>.<|im_end|>"]),
    ("forgets-the-system", TWO, ["b<|im_end|>", "d d<|im_end|>"]),
]

REFUSED: list[tuple[str, tuple[str, ...], str]] = [
    ("turns-that-alternate", SYSTEM, "no system role.; put the system turn's words"),
    (
        "turns-that-alternate",
        ("user a", "user b", "assistant c"),
        "let user and assistant take",
    ),
    (
        "turns-that-alternate",
        ("assistant a", "user b", "assistant c"),
        "let user and assistant take",
    ),
    ("turns-that-alternate", TOOL, "remove the turns of the role 'tool'"),
    ("thoughts-of-the-last-turn", TWO, "rewrites earlier turns.* set learn_from to everything"),
    ("instructions-in-brackets", SYSTEM, "only user and assistant.*put the system turn's words"),
    ("no-tools", TOOL, "tools are not supported.; remove the turns of the role 'tool'"),
    ("forgets-the-system", SYSTEM, "leaves out words of the role 'system'"),
]


def tokenizer_of(name: str) -> Any:
    tokenizer = tiny_tokenizer((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"))
    tokenizer.add_special_tokens({"additional_special_tokens": list(MARKS[name][1])})
    return tokenizer


def tokens_of(sample: Sample, tokenizer: Any, learn_from: str = "answers") -> Tokenised:
    return tokenise([sample], tokenizer, max_seq_len=999, learn_from=learn_from, what="")


def parts(found: Tokenised, tokenizer: Any) -> list[str]:
    """Each run of learned tokens, as text."""
    (example,), texts = found.examples, [[]]
    for label in example.labels:
        if label != IGNORED:
            texts[-1].append(label)
        elif texts[-1]:
            texts.append([])
    return [tokenizer.decode(ids) for ids in texts if ids]


@pytest.mark.parametrize(("name", "turns", "learned"), LEARNED)
def test_exactly_the_answers_and_their_end_marks(
    name: str, turns: tuple[str, ...], learned: list[str]
) -> None:
    tokenizer = tokenizer_of(name)
    found = tokens_of(talk(*turns), tokenizer)
    assert parts(found, tokenizer) == learned
    (example,) = found.examples
    end = tokenizer.convert_tokens_to_ids(MARKS[name][0])
    assert [label for label in example.labels if label != IGNORED][-1] == end
    assert end in stop_ids(found.examples, tokenizer)
    assert example.labels.count(end) == len(learned)  # and not where a turn merely spells it
    assert example.prompt_ids == example.input_ids[: len(example.prompt_ids)]
    assert example.input_ids[:2] != [tokenizer.bos_token_id] * 2


@pytest.mark.parametrize(("name", "turns", "said"), REFUSED)
def test_what_a_template_cannot_write_is_refused(
    name: str, turns: tuple[str, ...], said: str
) -> None:
    sample = talk(*turns)._replace(place="Line 3 of 'a.jsonl'")
    with pytest.raises(SettingsError, match=said) as refused:
        tokens_of(sample, tokenizer_of(name))
    assert str(refused.value).startswith("Line 3 of 'a.jsonl': this model's chat template")
    assert "\n" not in str(refused.value)


def test_earlier_turns_that_are_rewritten_can_be_learned_whole() -> None:
    tokenizer = tokenizer_of("thoughts-of-the-last-turn")
    (example,) = tokens_of(talk(*TWO), tokenizer, "everything").examples
    assert example.labels == example.input_ids
    assert tokenizer.decode(example.input_ids).count("<think>") == 1


def test_rows_are_the_same_tokens_on_any_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a comparison that runs past midnight would not learn from the same batches."""
    import transformers.utils.chat_template_utils as library

    class Tomorrow(library.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls(2099, 1, 1)

    tokenizer = tokenizer_of("dated-header")
    today = tokens_of(talk(*ONE), tokenizer)
    assert "Today is 01 Jan 2025." in tokenizer.decode(today.examples[0].input_ids)
    monkeypatch.setattr(library, "datetime", Tomorrow)
    assert tokens_of(talk(*ONE), tokenizer) == today
