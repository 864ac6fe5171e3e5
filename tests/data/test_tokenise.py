"""Exactly the reply and its end mark are learned, whatever the padding or the template."""

from __future__ import annotations

import pytest

from playground.config import SettingsError
from playground.data.formats import Sample
from playground.data.tokenise import CHUNK, IGNORED, Example, tokenise
from tests.tiny import CHAT_TEMPLATE, tiny_tokenizer


def asked(question: str, answer: str, chat: bool = False) -> Sample:
    turns = (("user", question), ("assistant", answer))
    return Sample(tuple({"role": r, "content": c} for r, c in turns), chat=chat)


def one(sample: Sample, tokenizer=None, **changes) -> Example:  # type: ignore[no-untyped-def]
    settings = {"max_seq_len": 200, "learn_from": "answers", "what": "dataset 'test'", **changes}
    return tokenise([sample], tokenizer or tiny_tokenizer(), **settings).examples[0]


def learned(example: Example, tokenizer=None) -> str:  # type: ignore[no-untyped-def]
    assert len(example.labels) == len(example.input_ids)
    kept = [label for label in example.labels if label != IGNORED]
    for label, token in zip(example.labels, example.input_ids, strict=True):
        assert label in (IGNORED, token)
    return (tokenizer or tiny_tokenizer()).decode(kept)


@pytest.mark.parametrize("answer", ["4", "vier\n ", "日本 ä", ""])
def test_the_reply_and_its_end_mark(answer: str) -> None:
    tokenizer = tiny_tokenizer()
    example = one(asked("2+2?", answer))
    assert learned(example) == f"{answer}<|end|>"
    whole = tokenizer.decode(example.input_ids)
    assert whole == (f"<|start|>user\n2+2?<|end|>\n<|start|>assistant\n{answer}<|end|>\n")
    assert whole.startswith(tokenizer.decode(example.prompt_ids))
    assert example.answer == answer


def test_pad_equal_to_eos_takes_no_end_mark_away() -> None:
    tokenizer = tiny_tokenizer()
    assert tokenizer.pad_token_id == tokenizer.eos_token_id
    example = one(asked("a", "b"), tokenizer)
    assert [label for label in example.labels if label != IGNORED][-1] == tokenizer.eos_token_id


def test_every_reply_of_a_conversation() -> None:
    turns = [("system", "s"), ("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]
    sample = Sample(tuple({"role": r, "content": c} for r, c in turns), chat=True)
    example = one(sample)
    assert learned(example) == "b<|end|>d<|end|>"
    assert example.answer == "d"


def test_everything() -> None:
    example = one(asked("a", "b"), learn_from="everything")
    assert example.labels == example.input_ids


def test_a_template_without_an_end_mark_gets_one() -> None:
    template = CHAT_TEMPLATE.replace("<|end|>", "")
    example = one(asked("a", "b"), tiny_tokenizer(template))
    assert learned(example) == "b<|end|>"
    assert example.input_ids[-1] == tiny_tokenizer().eos_token_id


def test_without_a_template_the_answer_follows_the_question() -> None:
    example = one(asked("2+2=", "4"), tiny_tokenizer(None))
    assert tiny_tokenizer().decode(example.input_ids) == "2+2=4<|end|>"
    assert learned(example) == "4<|end|>"


def test_text_is_learned_whole() -> None:
    example = one(Sample(text="hello"))
    assert learned(example) == "hello<|end|>"
    assert example.answer is None


def test_long_rows_are_cut_and_counted_and_those_left_empty_dropped() -> None:
    samples = [asked("a", "b"), asked("a", "b" * 50), asked("a" * 100, "b")]
    found = tokenise(
        samples, tiny_tokenizer(), max_seq_len=40, learn_from="answers", what="the rows"
    )
    assert [len(e.input_ids) for e in found.examples] == [23, 40]
    assert (found.cut, found.dropped) == (1, 1)


def test_when_nothing_can_be_learned_the_run_is_refused() -> None:
    samples = [asked("a" * 100, "b"), asked("c" * 100, "d")]
    with pytest.raises(SettingsError, match="2 of 2 rows of dataset 'x' have nothing to learn"):
        tokenise(
            samples, tiny_tokenizer(), max_seq_len=40, learn_from="answers", what="dataset 'x'"
        )


def test_a_label_in_the_first_position_alone_is_nothing() -> None:
    with pytest.raises(SettingsError, match="nothing to learn from"):
        one(Sample(text="x"), max_seq_len=1)


def test_a_conversation_needs_a_template() -> None:
    with pytest.raises(SettingsError, match="no chat template.*instruction-tuned"):
        one(asked("a", "b", chat=True), tiny_tokenizer(None))


def test_a_template_that_refuses_is_quoted_with_the_row() -> None:
    template = "{{ raise_exception('System role not supported') }}"
    sample = asked("a", "b")._replace(place="Line 7 of 'a.csv'")
    with pytest.raises(SettingsError, match="Line 7 of 'a.csv': .*System role not supported"):
        one(sample, tiny_tokenizer(template))


REWRITING = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n"
    "{% if loop.last %}<think>{% endif %}{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


def test_a_template_that_rewrites_earlier_turns_can_only_be_learned_whole() -> None:
    turns = [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]
    sample = Sample(tuple({"role": r, "content": c} for r, c in turns), chat=True)
    with pytest.raises(SettingsError, match="rewrites earlier turns.*everything"):
        one(sample, tiny_tokenizer(REWRITING))
    example = one(sample, tiny_tokenizer(REWRITING), learn_from="everything")
    assert example.labels == example.input_ids


def test_a_tokenizer_that_cannot_tell_characters_is_refused() -> None:
    class Slow:
        is_fast = False

    with pytest.raises(SettingsError, match="fast tokenizer"):
        one(asked("a", "b"), Slow())


def test_tokenising_can_be_given_up() -> None:
    calls = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokenise(
            [asked("a", "b")] * (CHUNK + 1),
            tiny_tokenizer(),
            max_seq_len=100,
            learn_from="answers",
            what="",
            check=check,
        )
