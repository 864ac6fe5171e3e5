"""Samples to token ids and labels: what the model reads, and which tokens it learns from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from playground.config import SettingsError
from playground.data.formats import Sample
from playground.data.spelled import as_letters
from playground.data.template import Chat, Layout, Span, layout_of, marks_of, plain_template

IGNORED = -100
"""Label of a token that does not count towards the loss (torch's own ``ignore_index``)."""

CHUNK = 256
"""Rows tokenised at a time: large enough for the tokenizer's threads, small enough to stop soon."""


class Example(NamedTuple):
    """One row as tokens. ``labels`` has the token where it is learned and ``IGNORED`` elsewhere.

    ``prompt_ids`` and ``answer`` are what a generation starts from and should say; the answer is
    None for text that asks nothing. ``question`` is the prompt as the row has it.
    """

    input_ids: list[int]
    labels: list[int]
    prompt_ids: list[int]
    answer: str | None
    question: str = ""
    place: str = ""


class Tokenised(NamedTuple):
    """The rows that can be learned from, and what became of the others.

    cut: kept, but shortened to the longest sequence; dropped: nothing left to learn from;
    too_long: dropped as well, because the person would rather have that than a cut.
    plain_template: what conversations were written in, for a model that has no template of its own.
    lengths: tokens of every row, in order, before anything was cut or dropped.
    spelled: rows of which a turn spells a mark of the model, read as the letters it is written in.
    marked: rows without a template around them that hold such a mark, which stands for its token.
    """

    examples: list[Example]
    cut: int
    dropped: int
    too_long: int = 0
    plain_template: str | None = None
    lengths: tuple[int, ...] = ()
    spelled: int = 0
    marked: int = 0


class Encoded(NamedTuple):
    """One row as tokens, as long as it is, with the text it was made of.

    spans: the (start, end) characters of ``layout.text`` that each token covers; none of them for
        a token that the tokenizer added.
    """

    example: Example
    layout: Layout
    spans: list[Span]


def tokenise(
    samples: list[Sample],
    tokenizer: Any,
    *,
    max_seq_len: int,
    learn_from: str,
    what: str,
    too_long: str = "cut",
    check: Callable[[], None] = lambda: None,
) -> Tokenised:
    """Applies the chat template, tokenises, masks, and cuts or drops what is too long.

    With ``learn_from="answers"`` only the assistant's replies and the end mark after each are
    learned; with ``"everything"`` all tokens are. Text that is no conversation is learned whole.
    A row that closes without an end mark gets the end-of-sequence token, learned, so that the tuned
    model knows when to stop. Which tokens are learned is decided by position, never by id, so a
    padding token that equals the end token takes nothing away.

    A model without a chat template reads a prompt with its answer right behind it, and
    conversations in a plain template of ours.

    Args:
        tokenizer: a fast transformers tokenizer (it has to say which characters a token covers).
        what: the name of these rows in a message, such as ``dataset 'iso-dates'``.
        too_long: ``cut`` or ``drop``, for rows of more than ``max_seq_len`` tokens.
        check: called between chunks; raises to give up.
    Raises:
        SettingsError: no row has anything to learn from, or the template refuses a conversation.
    """
    chat, plain = writing(samples, tokenizer)
    examples: list[Example] = []
    lengths: list[int] = []
    cut = dropped = spelled = marked = 0
    for start in range(0, len(samples), CHUNK):
        check()
        for encoded in encode(samples[start : start + CHUNK], tokenizer, chat, learn_from):
            length = len(encoded.example.input_ids)
            lengths.append(length)
            spelled += bool(encoded.layout.words)
            marked += encoded.layout.marks
            over = length > max_seq_len
            if over and too_long == "drop":
                dropped += 1
            elif kept := shortened(encoded.example, max_seq_len):
                examples.append(kept)
                cut += over
    if not examples:
        raise _nothing_left(len(samples), dropped, max_seq_len, what)
    nothing = len(samples) - len(examples) - dropped
    return Tokenised(examples, cut, nothing, dropped, plain, tuple(lengths), spelled, marked)


def said_of_marks(*found: Tokenised) -> list[str]:
    """What a person should know of rows that spell marks of the model, as sentences."""
    spelled, marked = (sum(getattr(each, name) for each in found) for name in ("spelled", "marked"))
    said = []
    if spelled:
        said.append(
            f"{_rows_hold(spelled)} words that are a mark of this model, such as its end of a "
            "turn; they were read as words, letter by letter."
        )
    if marked:
        said.append(
            f"{_rows_hold(marked)} a mark of this model, such as its end of a text; no template is "
            "written around these rows, so it was read as the mark."
        )
    return said


def _rows_hold(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)} hold{'s' * (count == 1)}"


def writing(samples: Sequence[Sample], tokenizer: Any) -> tuple[Chat | None, str | None]:
    """What these rows are written in, if in a template; and that template where it is ours.

    Raises:
        SettingsError: the tokenizer is a slow one, or names several templates and no default.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise SettingsError(
            "This model's tokenizer cannot say which characters a token covers; "
            "pick a model with a fast tokenizer (tokenizer.json)."
        )
    own = _own_template(tokenizer) if any(sample.messages for sample in samples) else None
    plain = None
    if not own and any(sample.chat for sample in samples):
        plain = plain_template(tokenizer)
    template = own or plain
    return (Chat.of(tokenizer, template) if template else None), plain


def encode(
    samples: Sequence[Sample], tokenizer: Any, chat: Chat | None, learn_from: str
) -> Iterator[Encoded]:
    """Each row as tokens and labels, none of it cut."""
    marks = chat.marks if chat else marks_of(tokenizer)
    layouts = [layout_of(sample, chat, learn_from, marks) for sample in samples]
    # A template writes its own start mark; bare text gets the tokenizer's.
    return _encode(layouts, tokenizer, add_special_tokens=chat is None)


def shortened(example: Example, max_seq_len: int) -> Example | None:
    """The tokens that fit; None if these hold nothing to learn."""
    ids, labels = example.input_ids[:max_seq_len], example.labels[:max_seq_len]
    # The first token is never predicted, so a label there teaches nothing.
    learns = any(label != IGNORED for label in labels[1:])
    return example._replace(input_ids=ids, labels=labels) if learns else None


def _own_template(tokenizer: Any) -> str | None:
    named = tokenizer.chat_template
    if not isinstance(named, dict):
        return named
    if "default" not in named:
        raise SettingsError(
            f"This model has the chat templates {', '.join(named)} and no default one; "
            "pick another model, or name one of them default in its files."
        )
    return named["default"]


def stop_ids(examples: Iterable[Example], tokenizer: Any) -> list[int]:
    """The tokens that end an answer: end of sequence, and the marks that these rows close with.

    They differ where a template ends a turn with a mark of its own, as Gemma's does.
    """
    marks = {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
    last = {next((x for x in reversed(e.labels) if x != IGNORED), IGNORED) for e in examples}
    return sorted({tokenizer.eos_token_id} | (last & marks))


def _nothing_left(rows: int, too_long: int, max_seq_len: int, what: str) -> SettingsError:
    if too_long:
        return SettingsError(
            f"{too_long} of {rows} rows of {what} are longer than {max_seq_len} tokens, and "
            "nothing is left without them; raise max_seq_len, or set too_long to cut."
        )
    return SettingsError(
        f"{rows} of {rows} rows of {what} have nothing to learn from within "
        f"{max_seq_len} tokens; raise max_seq_len, or set learn_from to everything."
    )


def _encode(
    layouts: list[Layout], tokenizer: Any, *, add_special_tokens: bool
) -> Iterator[Encoded]:
    options = {"add_special_tokens": add_special_tokens, "return_attention_mask": False}
    try:
        texts = [layout.text for layout in layouts]
        coded = tokenizer(texts, return_offsets_mapping=True, **options)
        prompts = tokenizer([layout.prompt for layout in layouts], **options)
    except Exception as error:  # its library has no type of its own for what it cannot write
        raise SettingsError(
            f"This model's tokenizer cannot write the rows from {layouts[0].place} on ({error}); "
            "its vocabulary may lack what they hold, so pick another model."
        ) from error
    bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
    for layout, ids, spans, prompt_ids in zip(
        layouts, coded["input_ids"], coded["offset_mapping"], prompts["input_ids"], strict=True
    ):
        if _straddle(spans, layout.learned):
            ids, spans = _in_pieces(layout, ids, spans, tokenizer)
        if layout.words:
            ids, spans = as_letters(ids, spans, layout.text, layout.words, tokenizer)
        if layout.prompt_words:
            coded_prompt = tokenizer(layout.prompt, return_offsets_mapping=True, **options)
            places = coded_prompt["offset_mapping"]
            prompt_ids, _ = as_letters(
                prompt_ids, places, layout.prompt, layout.prompt_words, tokenizer
            )
        labels = [
            token if inside else IGNORED
            for token, inside in zip(ids, _covered(spans, layout.learned), strict=True)
        ]
        if not layout.ends and eos is not None:
            keep = len(ids) - (ids[-1:] == [eos])  # some tokenizers add it, unlearned
            ids, labels = [*ids[:keep], eos], [*labels[:keep], eos]
            spans = [*spans[:keep], (0, 0)]
        if bos is not None and ids[:2] == [bos, bos]:  # the row brought its own start mark
            ids, labels, spans = ids[1:], labels[1:], spans[1:]
        asked = (list(prompt_ids), layout.answer, layout.question)
        yield Encoded(Example(list(ids), labels, *asked, layout.place), layout, spans)


def _covered(spans: list[Span], learned: list[Span]) -> Iterator[bool]:
    """Whether each token lies in a part that is learned."""
    starts = [start for start, _ in learned]
    for start, end in spans:
        part = bisect_right(starts, start) - 1
        # A special token added by the tokenizer covers no characters and is not learned.
        yield end > start and part >= 0 and end <= learned[part][1]


def _straddle(spans: list[Span], learned: list[Span]) -> bool:
    """Whether a token lies half in a part that is learned and half out of it."""
    covering = [(start, end) for start, end in spans if end > start]
    for border in (border for span in learned for border in span):
        token = bisect_left(covering, (border, 0)) - 1  # the last that starts before it
        if token >= 0 and covering[token][1] > border:
            return True
    return False


def _in_pieces(
    layout: Layout, ids: list[int], spans: list[Span], tokenizer: Any
) -> tuple[list[int], list[Span]]:
    """The tokens of each part by itself, so that none is both asked and answered.

    It is also how an answer is generated: the prompt has been tokenised before there is an answer.
    """
    first = next(i for i, (start, end) in enumerate(spans) if end > start)
    last = next(i for i in reversed(range(len(spans))) if spans[i][1] > spans[i][0])
    borders = sorted({0, len(layout.text), *(b for span in layout.learned for b in span)})
    pieces, places = list(ids[:first]), list(spans[:first])
    for start, end in zip(borders, borders[1:], strict=False):
        coded = tokenizer(
            layout.text[start:end], add_special_tokens=False, return_offsets_mapping=True
        )
        pieces += coded["input_ids"]
        places += [(start + a, start + b) for a, b in coded["offset_mapping"]]
    return [*pieces, *ids[last + 1 :]], [*places, *spans[last + 1 :]]
