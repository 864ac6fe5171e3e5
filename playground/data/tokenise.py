"""Samples to token ids and labels: what the model reads, and which tokens it learns from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from playground.config import SettingsError
from playground.data.formats import Message, Sample

IGNORED = -100
"""Label of a token that does not count towards the loss (torch's own ``ignore_index``)."""

CHUNK = 256
"""Rows tokenised at a time: large enough for the tokenizer's threads, small enough to stop soon."""


class Example(NamedTuple):
    """One row as tokens. ``labels`` has the token where it is learned and ``IGNORED`` elsewhere.

    ``prompt_ids`` and ``answer`` are what a generation starts from and should say; the answer is
    None for text that asks nothing.
    """

    input_ids: list[int]
    labels: list[int]
    prompt_ids: list[int]
    answer: str | None


class Tokenised(NamedTuple):
    """The rows that can be learned from, and what became of the others.

    cut: kept, but shortened to the longest sequence; dropped: nothing left to learn from.
    """

    examples: list[Example]
    cut: int
    dropped: int


class _Layout(NamedTuple):
    """A sample as text, and the (start, end) characters of each part that is learned."""

    text: str
    learned: list[tuple[int, int]]
    ends: bool  # the text closes with the model's own end mark
    prompt: str
    answer: str | None


def tokenise(
    samples: list[Sample],
    tokenizer: Any,
    *,
    max_seq_len: int,
    learn_from: str,
    what: str,
    check: Callable[[], None] = lambda: None,
) -> Tokenised:
    """Applies the chat template (if the model has one), tokenises, masks and cuts.

    With ``learn_from="answers"`` only the assistant's replies and the end mark after each are
    learned; with ``"everything"`` all tokens are. Text that is no conversation is learned whole.
    A row that closes without the end-of-sequence token gets one, learned, so that the tuned model
    knows when to stop. Which tokens are learned is decided by position, never by id, so a padding
    token that equals the end token takes nothing away.

    Args:
        tokenizer: a fast transformers tokenizer (it has to say which characters a token covers).
        what: the name of these rows in a message, such as ``dataset 'iso-dates'``.
        check: called between chunks; raises to give up.
    Raises:
        SettingsError: no row has anything to learn from, or a conversation meets a model
            without a chat template, or one that its template refuses.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise SettingsError(
            "This model's tokenizer cannot say which characters a token covers; "
            "pick a model with a fast tokenizer (tokenizer.json)."
        )
    # A template writes its own start mark; bare text gets the tokenizer's.
    templated = bool(tokenizer.chat_template) and any(sample.messages for sample in samples)
    examples: list[Example] = []
    cut = 0
    for start in range(0, len(samples), CHUNK):
        check()
        layouts = [
            _layout(sample, tokenizer, templated, learn_from)
            for sample in samples[start : start + CHUNK]
        ]
        for example in _encode(layouts, tokenizer, add_special_tokens=not templated):
            shortened = example._replace(
                input_ids=example.input_ids[:max_seq_len], labels=example.labels[:max_seq_len]
            )
            # The first token is never predicted, so a label there teaches nothing.
            if any(label != IGNORED for label in shortened.labels[1:]):
                examples.append(shortened)
                cut += len(shortened.input_ids) < len(example.input_ids)
    if not examples:
        raise SettingsError(
            f"{len(samples)} of {len(samples)} rows of {what} have nothing to learn from within "
            f"{max_seq_len} tokens; raise max_seq_len, or set learn_from to everything."
        )
    return Tokenised(examples, cut, len(samples) - len(examples))


def _layout(sample: Sample, tokenizer: Any, templated: bool, learn_from: str) -> _Layout:
    if not sample.messages:
        return _Layout(sample.text, [(0, len(sample.text))], False, "", None)
    if sample.chat and not templated:
        raise SettingsError(
            "This model has no chat template, and the dataset is made of conversations; "
            "pick an instruction-tuned model, or rows of prompt and completion."
        )
    if templated:
        layout = _templated(sample, tokenizer, learn_from)
    else:
        question, answer = (message["content"] for message in sample.messages)
        text = question + answer
        layout = _Layout(text, [(len(question), len(text))], False, question, answer)
    return layout._replace(learned=[(0, len(layout.text))]) if _all(learn_from) else layout


def _all(learn_from: str) -> bool:
    return learn_from == "everything"


def _templated(sample: Sample, tokenizer: Any, learn_from: str) -> _Layout:
    turns = sample.messages
    learned, prompt, answer = [], "", None
    try:
        text = _render(tokenizer, turns)
        for i, turn in enumerate(turns):
            if turn["role"] != "assistant":
                continue
            prompt = _render(tokenizer, turns[:i], ask=True)
            answer = turn["content"]
            upto = text if i == len(turns) - 1 else _render(tokenizer, turns[: i + 1])
            if upto.startswith(prompt) and text.startswith(upto):
                # What the template puts between the end mark and the next turn is not learned.
                learned.append((len(prompt), len(upto.rstrip())))
            elif not _all(learn_from):
                raise _Rewritten
    except _Rewritten:
        raise SettingsError(
            f"{sample.place}: this model's chat template rewrites earlier turns, so its replies "
            "cannot be told apart; set learn_from to everything."
        ) from None
    except Exception as error:
        # A template may raise anything its author chose to.
        raise SettingsError(
            f"{sample.place}: this model's chat template refuses the conversation ({error}); "
            "change its roles, or pick another model."
        ) from error
    marks = tuple(mark for mark in tokenizer.all_special_tokens if mark)
    ends = not learned or text[: learned[-1][1]].endswith(marks)
    return _Layout(text if ends else text[: learned[-1][1]], learned, ends, prompt, answer)


class _Rewritten(Exception):
    pass


def _render(tokenizer: Any, turns: tuple[Message, ...], *, ask: bool = False) -> str:
    return tokenizer.apply_chat_template(list(turns), tokenize=False, add_generation_prompt=ask)


def _encode(
    layouts: list[_Layout], tokenizer: Any, *, add_special_tokens: bool
) -> Iterator[Example]:
    options = {"add_special_tokens": add_special_tokens, "return_attention_mask": False}
    coded = tokenizer([layout.text for layout in layouts], return_offsets_mapping=True, **options)
    prompts = tokenizer([layout.prompt for layout in layouts], **options)
    eos = tokenizer.eos_token_id
    for layout, ids, spans, prompt_ids in zip(
        layouts, coded["input_ids"], coded["offset_mapping"], prompts["input_ids"], strict=True
    ):
        labels = [
            token if _covered(span, layout.learned) else IGNORED
            for token, span in zip(ids, spans, strict=True)
        ]
        if not layout.ends and eos is not None:
            keep = len(ids) - (ids[-1:] == [eos])  # some tokenizers add it, unlearned
            ids, labels = [*ids[:keep], eos], [*labels[:keep], eos]
        yield Example(list(ids), labels, list(prompt_ids), layout.answer)


def _covered(span: tuple[int, int], learned: list[tuple[int, int]]) -> bool:
    # A special token added by the tokenizer covers no characters and is not learned.
    start, end = span
    return end > start and any(a <= start and end <= b for a, b in learned)
