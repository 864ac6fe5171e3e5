"""Whatever rows say and a template writes: what is learned is the answers, and all of them."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from playground.catalog import resolve_dataset
from playground.catalog.datasets import FILE_TYPES
from playground.config import SettingsError
from playground.data.formats import Reader, Sample, recognise
from playground.data.rows import Row, read_rows
from playground.data.split import load_split
from playground.data.tokenise import IGNORED, Tokenised, tokenise
from playground.presets import load_preset
from tests.data.awkward import AWKWARD, Awkward
from tests.tiny import CHAT_TEMPLATE, tiny_tokenizer

SAME_EVERY_TIME = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

END = "<|end|>"
LENGTH = 10**6

# --- tokenizers and templates -----------------------------------------------------------------

CORPUS = [
    "the answer is 42",
    "  two  blanks\n\n\nand lines\n",
    "a: b, c. (d)",
    "größer 日本 😀",
    "aaa bbb",
]


@cache
def tokenizer_of(kind: str, template: str | None) -> Any:
    """``bytes``: no merges. ``merges``: letters, blanks and line ends grow together."""
    from tokenizers import processors, trainers

    wrapped = tiny_tokenizer(template)
    inner = wrapped.backend_tokenizer
    if "merges" in kind:
        special = ["<|start|>", END]
        trainer = trainers.BpeTrainer(
            vocab_size=600,
            special_tokens=special,
            initial_alphabet=sorted(inner.pre_tokenizer.alphabet()),
            show_progress=False,
        )
        inner.train_from_iterator(CORPUS * 20, trainer)
    if "start" in kind:
        inner.post_processor = processors.TemplateProcessing(
            single="<|start|> $A", special_tokens=[("<|start|>", wrapped.bos_token_id)]
        )
    return wrapped


ALTERNATING = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
    "[{{ m['role'] }}] {{ m['content'] | trim }}"
    "{% if m['role'] == 'assistant' %}{{ eos_token }}{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)
THINKING = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' %}{% if loop.last %}<think>{% endif %}"
    "{% generation %}{{ m['content'] }}{% endgeneration %}"
    "{% else %}{{ m['content'] }}{% endif %}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n<think>{% endif %}"
)
TEMPLATES = {"chat": CHAT_TEMPLATE, "alternating": ALTERNATING, "thinking": THINKING, "none": None}
KINDS = ("bytes", "merges", "merges start")

# --- rows -------------------------------------------------------------------------------------

letters = st.sampled_from(
    list("ab .,:\n\t'\"42<|>{}%\\") + ["  ", "the", " answer", "ä", "日", "😀", END, "<|start|>"]
)
words = st.lists(letters, max_size=12).map("".join)
said = words.filter(str.strip)


@st.composite
def conversations(draw: st.DrawFn, alternating: bool) -> Sample:
    turns = []
    if alternating:
        for _ in range(draw(st.integers(1, 3))):
            turns += [("user", draw(words)), ("assistant", draw(said))]
    else:
        roles = st.sampled_from(("system", "user", "assistant", "tool"))
        speakers = [*draw(st.lists(roles, max_size=4)), "assistant"]
        turns = [(role, draw(said if role == "assistant" else words)) for role in speakers]
    return Sample(tuple({"role": r, "content": c} for r, c in turns), chat=True)


def tokens_of(sample: Sample, tokenizer: Any, **changes: Any) -> Tokenised:
    wanted = {"max_seq_len": LENGTH, "learn_from": "answers", "what": "dataset 'x'", **changes}
    return tokenise([sample], tokenizer, **wanted)


def replies(sample: Sample) -> list[str]:
    return [turn["content"] for turn in sample.messages if turn["role"] == "assistant"]


def learned_text(found: Tokenised, tokenizer: Any) -> str:
    (example,) = found.examples
    assert len(example.labels) == len(example.input_ids)
    for label, token in zip(example.labels, example.input_ids, strict=True):
        assert label in (IGNORED, token)
    return tokenizer.decode([label for label in example.labels if label != IGNORED])


def never_twice_at_the_start(found: Tokenised, tokenizer: Any) -> bool:
    return found.examples[0].input_ids[:2] != [tokenizer.bos_token_id] * 2


# --- what is learned --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TEMPLATES)
@SAME_EVERY_TIME
@given(data=st.data())
def test_the_replies_and_their_end_marks_are_learned_and_nothing_else(
    name: str, kind: str, data: st.DataObject
) -> None:
    sample = data.draw(conversations(alternating=name == "alternating"))
    tokenizer = tokenizer_of(kind, TEMPLATES[name])
    found = tokens_of(sample, tokenizer)
    each = [reply.strip() if name == "alternating" else reply for reply in replies(sample)]
    if name == "none":  # the blank after the plain template's colon, but of what stands first
        asked = [i for i, turn in enumerate(sample.messages) if turn["role"] == "assistant"]
        each = [" " * (i > 0) + reply for i, reply in zip(asked, each, strict=True)]
    assert learned_text(found, tokenizer) == "".join(reply + END for reply in each)
    last = [label for label in found.examples[0].labels if label != IGNORED][-1]
    assert last == tokenizer.eos_token_id == tokenizer.pad_token_id
    assert never_twice_at_the_start(found, tokenizer)
    assert (found.cut, found.dropped, found.too_long) == (0, 0, 0)


@pytest.mark.parametrize("kind", KINDS)
@SAME_EVERY_TIME
@given(question=words, answer=said)
def test_an_answer_is_learned_to_the_letter_without_a_template(
    kind: str, question: str, answer: str
) -> None:
    assume(not any(mark in question + answer for mark in (END, "<|start|>")))
    tokenizer = tokenizer_of(kind, None)
    turns = (("user", question), ("assistant", answer))
    found = tokens_of(Sample(tuple({"role": r, "content": c} for r, c in turns)), tokenizer)
    assert learned_text(found, tokenizer) == f"{answer}{END}"
    (example,) = found.examples
    # As it is when an answer is written: the prompt has its tokens before there is an answer.
    assert example.input_ids[: len(example.prompt_ids)] == example.prompt_ids
    assert set(example.labels[: len(example.prompt_ids)]) <= {IGNORED}
    assert never_twice_at_the_start(found, tokenizer)


@pytest.mark.parametrize("kind", KINDS)
@SAME_EVERY_TIME
@given(text=said, own_start=st.booleans())
def test_text_is_learned_whole(kind: str, text: str, own_start: bool) -> None:
    assume(END not in text and "<|start|>" not in text)
    tokenizer = tokenizer_of(kind, CHAT_TEMPLATE)
    found = tokens_of(Sample(text="<|start|>" * own_start + text), tokenizer)
    assert learned_text(found, tokenizer).removeprefix("<|start|>") == f"{text}{END}"
    assert never_twice_at_the_start(found, tokenizer)


@pytest.mark.parametrize("name", TEMPLATES)
@SAME_EVERY_TIME
@given(data=st.data())
def test_everything_means_every_token(name: str, data: st.DataObject) -> None:
    sample = data.draw(conversations(alternating=name == "alternating"))
    tokenizer = tokenizer_of("merges", TEMPLATES[name])
    (example,) = tokens_of(sample, tokenizer, learn_from="everything").examples
    assert example.labels == example.input_ids


# --- what is lost is counted ------------------------------------------------------------------


@SAME_EVERY_TIME
@given(
    samples=st.lists(conversations(alternating=False), min_size=1, max_size=4),
    limit=st.integers(2, 60),
    too_long=st.sampled_from(("cut", "drop")),
)
def test_no_token_is_lost_but_by_what_is_counted(
    samples: list[Sample], limit: int, too_long: str
) -> None:
    tokenizer = tokenizer_of("merges", CHAT_TEMPLATE)
    short = tokens_of(Sample(text="a"), tokenizer).examples[0]
    whole = [tokens_of(sample, tokenizer).examples[0] for sample in samples]
    kept = tokenise(
        [*samples, Sample(text="a")],  # so that something is left in any case
        tokenizer,
        max_seq_len=limit,
        learn_from="answers",
        what="",
        too_long=too_long,
    )
    expected, cut, dropped, dropped_long = [], 0, 0, 0
    for example in [*whole, short]:
        labels = example.labels[:limit]
        over = len(example.input_ids) > limit
        if over and too_long == "drop":
            dropped_long += 1
        elif all(label == IGNORED for label in labels[1:]):
            dropped += 1
        else:
            expected.append((example.input_ids[:limit], labels))
            cut += over
    assert [(e.input_ids, e.labels) for e in kept.examples] == expected
    assert (kept.cut, kept.dropped, kept.too_long) == (cut, dropped, dropped_long)
    assert len(kept.examples) + kept.dropped + kept.too_long == len(samples) + 1


# --- from a file to a sample ------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, values, max_size=3)


@SAME_EVERY_TIME
@given(
    rows=st.lists(objects, min_size=1, max_size=5),
    indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
    chunk=st.integers(1, 40),
)
def test_json_is_read_as_it_was_written(
    rows: list,
    indent: int | None,
    ascii_only: bool,
    chunk: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("playground.data.json_rows._CHUNK", chunk)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows, indent=indent, ensure_ascii=ascii_only), encoding="utf-8")
    assert [row.cells for row in read_rows(path)] == rows
    lines = (json.dumps(row, ensure_ascii=ascii_only) for row in rows)
    (tmp_path / "a.jsonl").write_text("\n\n".join(lines), encoding="utf-8")
    assert [row.cells for row in read_rows(tmp_path / "a.jsonl")] == rows


KINDS_OF_FILE = [f"a{kind}" for kind in FILE_TYPES] + ["a.jsonl.gz", "a.csv.zst"]

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@SAME_EVERY_TIME
@given(
    rows=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=5),
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    name=st.sampled_from(["a.csv", "A.TSV"]),
)
def test_a_table_is_read_as_it_was_written(
    rows: list, separator: str, end: str, encoding: str, name: str, tmp_path: Path
) -> None:
    header = ("prompt", "completion", "note")
    text = io.StringIO()
    written = csv.writer(text, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    written.writerows([header, *rows])
    (tmp_path / name).write_bytes(text.getvalue().encode(encoding))
    found = [tuple(row.cells.values()) for row in read_rows(tmp_path / name)]
    assert found == rows


@st.composite
def damaged(draw: st.DrawFn) -> Awkward:
    """One of the awkward files with some bytes overwritten, left out or put in."""
    case = AWKWARD[draw(st.sampled_from(sorted(AWKWARD)))]
    content = bytearray(case.content)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 4)))
        content[start:end] = draw(st.binary(max_size=4))
    return case._replace(content=bytes(content))


@pytest.mark.slow
@settings(SAME_EVERY_TIME, max_examples=300)
@given(case=damaged() | st.builds(Awkward, st.sampled_from(KINDS_OF_FILE), st.binary(max_size=40)))
def test_whatever_a_file_holds_it_is_read_or_refused_in_a_sentence(
    case: Awkward, tmp_path: Path
) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.content)
    config = load_preset("quick", {"dataset": str(path)}).config
    try:
        found = load_split(resolve_dataset(str(path)), config)
    except SettingsError as refused:
        assert ";" in str(refused) and str(refused).endswith((".", "?"))
    else:
        json.dumps(found.train + found.eval, ensure_ascii=False).encode()  # whole characters only
        assert found.counts["read"] >= len(found.train) + len(found.eval) >= 2


@SAME_EVERY_TIME
@given(rows=st.lists(st.tuples(words, words | st.none()), min_size=1, max_size=6))
def test_every_row_is_a_sample_or_counted(rows: list[tuple[str, str | None]]) -> None:
    read = [Row({"Prompt": p, "completion ": c}, f"Line {i}") for i, (p, c) in enumerate(rows)]
    reader = Reader(recognise(read[0]))
    found = [sample for row in read if (sample := reader.sample(row))]
    assert len(found) + reader.no_answer == len(rows)
    answered = [(p, c) for p, c in rows if c is not None and c.strip()]
    assert [tuple(turn["content"] for turn in s.messages) for s in found] == answered
