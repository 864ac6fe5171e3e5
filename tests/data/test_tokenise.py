"""Exactly the reply and its end mark are learned, whatever the padding or the template."""

from __future__ import annotations

import pytest

from playground.config import SettingsError
from playground.data.formats import Sample
from playground.data.tokenise import CHUNK, IGNORED, Example, stop_ids, tokenise
from tests.tiny import CHAT_TEMPLATE, tiny_tokenizer


def asked(question: str, answer: str, chat: bool = False) -> Sample:
    turns = (("user", question), ("assistant", answer))
    return Sample(tuple({"role": r, "content": c} for r, c in turns), chat=chat)


def talk(*turns: str) -> Sample:
    """Of turns such as "user 2+2?"."""
    pairs = (turn.split(" ", 1) for turn in turns)
    return Sample(tuple({"role": r, "content": c} for r, c in pairs), chat=True)


def one(sample: Sample, tokenizer=None, **changes) -> Example:  # type: ignore[no-untyped-def]
    settings = {"max_seq_len": 200, "learn_from": "answers", "what": "dataset 'test'", **changes}
    return tokenise([sample], tokenizer or tiny_tokenizer(), **settings).examples[0]


def learned(example: Example, tokenizer=None) -> str:  # type: ignore[no-untyped-def]
    assert len(example.labels) == len(example.input_ids)
    kept = [label for label in example.labels if label != IGNORED]
    for label, token in zip(example.labels, example.input_ids, strict=True):
        assert label in (IGNORED, token)
    return (tokenizer or tiny_tokenizer()).decode(kept)


def starting(template: str | None):  # type: ignore[no-untyped-def]
    """A tokenizer that begins every text with the start mark, as llama's does."""
    from tokenizers.processors import TemplateProcessing

    tokenizer = tiny_tokenizer(template)
    start = [("<|start|>", tokenizer.bos_token_id)]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<|start|> $A", special_tokens=start
    )
    return tokenizer


@pytest.mark.parametrize("answer", ["4", "vier\n ", "日本 ä", ""])
def test_the_reply_and_its_end_mark(answer: str) -> None:
    tokenizer = tiny_tokenizer()
    example = one(asked("2+2?", answer))
    assert learned(example) == f"{answer}<|end|>"
    whole = tokenizer.decode(example.input_ids)
    assert whole == (f"<|start|>user\n2+2?<|end|>\n<|start|>assistant\n{answer}<|end|>\n")
    assert whole.startswith(tokenizer.decode(example.prompt_ids))
    assert example.answer == answer


def test_the_question_is_in_the_rows_own_words() -> None:
    assert one(asked("2+2?", "4")).question == "2+2?"
    assert one(asked("2+2?", "4"), tiny_tokenizer(None)).question == "2+2?"
    turns = talk("user 1?", "assistant 1", "user 2?", "assistant 2")
    assert one(turns).question == "user: 1?\n\nassistant: 1\n\nuser: 2?"
    assert one(Sample(text="Once upon a time")).question == ""


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


def test_a_conversation_without_a_template_is_written_in_a_plain_one() -> None:
    tokenizer = tiny_tokenizer(None)
    samples = [asked("a", "b", chat=True), talk("system s", "user a", "assistant b", "user c")]
    settings = {"max_seq_len": 200, "learn_from": "answers", "what": ""}
    found = tokenise(samples, tokenizer, **settings)
    first, second = found.examples
    assert tokenizer.decode(first.input_ids) == "User: a\n\nAssistant: b<|end|>\n\n"
    assert learned(first, tokenizer) == " b<|end|>"
    assert tokenizer.decode(second.input_ids).startswith("System: s\n\nUser: a")
    assert found.plain_template and tokenizer.chat_template is None
    again = tiny_tokenizer(found.plain_template)  # as it may be saved with the adapter
    assert tokenise(samples, again, **settings).examples == found.examples
    assert tokenise(samples, again, **settings).plain_template is None
    assert tokenise([asked("a", "b")], tokenizer, **settings).plain_template is None


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


def test_a_tokenizer_that_has_no_word_for_a_row_is_refused() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"<end>": 0, "yes": 1}))  # and none for the unknown
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    few = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<end>")
    settings = {"max_seq_len": 64, "learn_from": "answers", "what": "the rows"}
    assert tokenise([Sample(text="yes yes", place="Line 1")], few, **settings).examples
    with pytest.raises(SettingsError, match="cannot write the rows from Line 2 on .*vocabulary"):
        tokenise([Sample(text="maybe", place="Line 2")], few, **settings)


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


def test_a_row_that_is_too_long_may_be_dropped_instead() -> None:
    samples = [asked("a", "b"), asked("a", "b" * 50), asked("a" * 100, "b"), asked("c", "d")]
    settings = {"learn_from": "answers", "what": "dataset 'x'", "too_long": "drop"}
    found = tokenise(samples, tiny_tokenizer(), max_seq_len=40, **settings)
    assert [len(e.input_ids) for e in found.examples] == [23, 23]
    assert (found.cut, found.dropped, found.too_long) == (0, 0, 2)
    with pytest.raises(SettingsError, match="2 of 2 rows .* longer than 40.*too_long to cut"):
        tokenise(samples[1:3], tiny_tokenizer(), max_seq_len=40, **settings)


GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}{% endif %}{% for m in messages %}"
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant') }}{% endif %}"
    "<|start|>{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n"
    "{{ m['content'] | trim }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>model\n{% endif %}"
)


@pytest.mark.parametrize(
    ("turns", "says"),
    [
        (("system s", "user a", "assistant b"), "System role.*into the first user turn, or pick"),
        (("user a", "user b", "assistant c"), "must alternate.*take turns, the user first"),
        (("assistant a", "user b", "assistant c"), "must alternate.*take turns, the user first"),
        (
            ("user a", "tool b", "assistant c"),
            "must alternate.*remove the turns of the role 'tool'",
        ),
    ],
)
def test_roles_that_a_template_refuses_are_refused_with_the_remedy(turns: tuple, says: str) -> None:
    sample = talk(*turns)._replace(place="Line 9 of 'a.jsonl'")
    with pytest.raises(SettingsError, match=f"^Line 9 of 'a.jsonl': .*{says}"):
        one(sample, tiny_tokenizer(GEMMA))


def test_a_template_that_takes_the_roles_learns_from_the_reply() -> None:
    tokenizer = tiny_tokenizer(GEMMA)
    assert learned(one(talk("user a", "assistant  b "), tokenizer), tokenizer) == "b<|end|>"


DEAF = CHAT_TEMPLATE.replace(
    "{% for m in messages %}", "{% for m in messages if m.role != 'tool' %}"
)


def test_a_template_that_leaves_a_turn_out_is_refused() -> None:
    sample = talk("user a", "tool 7 degrees", "assistant b")._replace(place="Line 2 of 'a.jsonl'")
    with pytest.raises(SettingsError, match="Line 2 .*leaves out words of the role 'tool'; remove"):
        one(sample, tiny_tokenizer(DEAF))
    assert learned(one(talk("user a", "tool 7 degrees", "assistant b"))) == "b<|end|>"


def test_words_that_a_template_writes_as_json_are_not_left_out() -> None:
    quoting = CHAT_TEMPLATE.replace("{{ m['content'] }}", "{{ m['content'] | tojson }}")
    assert (
        learned(one(talk('user say "ä"', "assistant b"), tiny_tokenizer(quoting))) == '"b"<|end|>'
    )


@pytest.mark.parametrize("empty", [("user ", "assistant b"), ("system ", "user a", "assistant b")])
def test_an_empty_turn_asks_nothing_and_hides_nothing(empty: tuple) -> None:
    assert learned(one(talk(*empty))) == "b<|end|>"


def test_a_reply_that_comes_first_is_learned_without_what_announces_it() -> None:
    example = one(talk("assistant a", "user b", "assistant c"))
    assert learned(example) == "a<|end|>c<|end|>"
    assert learned(one(talk("assistant a"))) == "a<|end|>"


MARKED = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' %}{% if loop.last %}<think>{% endif %}"
    "{% generation %}{{ m['content'] }}{% endgeneration %}"
    "{% else %}{{ m['content'] }}{% endif %}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n<think>{% endif %}"
)


def test_the_template_s_own_marks_are_heard_and_the_end_mark_learned() -> None:
    """Though it rewrites earlier turns."""
    sample = talk("user a", "assistant b", "user c", "assistant d")
    tokenizer = tiny_tokenizer(MARKED)
    example = one(sample, tokenizer)
    assert learned(example, tokenizer) == "b<|end|>d<|end|>"
    assert tokenizer.decode(example.prompt_ids).endswith("<|start|>assistant\n<think>")


def test_marks_that_miss_a_reply_are_not_trusted() -> None:
    half = MARKED.replace("<think>", "").replace(
        "{% generation %}{{ m['content'] }}{% endgeneration %}",
        "{% if loop.last %}{% generation %}{{ m['content'] }}{% endgeneration %}"
        "{% else %}{{ m['content'] }}{% endif %}",
    )
    sample = talk("user a", "assistant b", "user c", "assistant d")
    assert learned(one(sample, tiny_tokenizer(half))) == "b<|end|>d<|end|>"


def test_a_row_that_brings_its_own_start_mark_has_it_once() -> None:
    """As the tokenizer of a base model adds one to every text."""
    tokenizer = starting(None)
    assert tokenizer("x")["input_ids"][0] == tokenizer.bos_token_id
    for text in ("hello", "<|start|>hello"):
        assert tokenizer.decode(one(Sample(text=text), tokenizer).input_ids) == (
            "<|start|>hello<|end|>"
        )


def test_the_plain_template_starts_as_the_tokenizer_does() -> None:
    tokenizer = starting(None)
    text = tokenizer.decode(one(asked("a", "b", chat=True), tokenizer).input_ids)
    assert text.startswith("<|start|>User: a")


def test_an_answer_stops_at_the_mark_that_its_template_closes_with() -> None:
    """Which need not be the end of the sequence: Gemma's turns end with a mark of their own."""
    tokenizer = tiny_tokenizer()
    assert stop_ids([one(asked("a", "b"))], tokenizer) == [tokenizer.eos_token_id]
    own_mark = tiny_tokenizer(CHAT_TEMPLATE.replace("<|end|>", "<|start|>"))
    closed = one(asked("a", "b"), own_mark)
    assert learned(closed, own_mark) == "b<|start|>"
    ids = sorted([tokenizer.eos_token_id, tokenizer.bos_token_id])
    assert stop_ids([closed], own_mark) == ids
    cut = one(asked("a", "b" * 50), own_mark, max_seq_len=40)
    assert stop_ids([cut], own_mark) == [tokenizer.eos_token_id]  # a letter ends nothing


def test_a_row_of_50_000_letters_among_short_ones_is_cut_or_dropped() -> None:
    rows = [asked("a", "b"), asked("c", "d" * 50_000), asked("e", "f")]
    settings = {"max_seq_len": 512, "learn_from": "answers", "what": "rows"}
    cut = tokenise(rows, tiny_tokenizer(), **settings)
    assert [len(e.input_ids) for e in cut.examples] == [23, 512, 23] and cut.cut == 1
    dropped = tokenise(rows, tiny_tokenizer(), too_long="drop", **settings)
    assert [len(e.input_ids) for e in dropped.examples] == [23, 23] and dropped.too_long == 1


def test_of_several_templates_the_default_is_taken() -> None:
    tokenizer = tiny_tokenizer()
    plain = one(asked("a", "b"))
    tokenizer.chat_template = {"tool_use": "{{ 1 }}", "default": CHAT_TEMPLATE}
    assert one(asked("a", "b"), tokenizer) == plain
    tokenizer.chat_template = {"tool_use": CHAT_TEMPLATE, "rag": CHAT_TEMPLATE}
    with pytest.raises(SettingsError, match="the chat templates tool_use, rag and no default"):
        one(asked("a", "b"), tokenizer)
