"""What a run would learn, before it starts: rows as read, as tokens, and what the counts come to.

Everything here is asked of the functions that the run itself uses, so that what is shown as learned
is what the labels hold.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from statistics import median
from typing import Any

from playground.catalog.datasets import DatasetEntry
from playground.config import RunConfig, private
from playground.data.batches import collate, largest_micro_batch, steps_of, width
from playground.data.formats import Reader, Sample, column_key, recognise
from playground.data.rows import Row, stream_entry
from playground.data.split import KEPT_ROWS, Split, load_split, rows_to_learn
from playground.data.template import Chat
from playground.data.tokenise import (
    IGNORED,
    Encoded,
    Example,
    Tokenised,
    encode,
    said_of_marks,
    shortened,
    tokenise,
    writing,
)
from playground.data.uploads import called

LOOKED_AT = KEPT_ROWS
"""Training rows that are turned into tokens at most, unless all are asked for."""

SHOWN_TOKENS = 1500
SHOWN_CHARACTERS = 4000
"""Of one row and of one cell; what is left out is counted."""

_BINS = 24


def preview(
    entry: DatasetEntry, config: RunConfig, tokenizer: Any, rows: int, *, every: bool = False
) -> dict[str, Any]:
    """What a run with ``config`` would read and learn, as plain values for JSON.

    Args:
        tokenizer: the model's, with a padding token.
        rows: how many of the first rows are shown.
        every: looks at all rows that the run would read, however long it takes.
    Returns:
        ``rows``: the first ones, each with its ``place``, ``cells``, ``fate`` and ``tokens``;
        ``format``, ``notes``, ``counts``, ``lengths``, ``epoch`` and ``longest_batch``.
        ``complete`` is False where the run reads more rows than were looked at.
    Raises:
        SettingsError: what the run itself would say.
    """
    split = load_split(entry, config, at_most=None if every else LOOKED_AT)
    first = list(islice(stream_entry(entry), max(1, rows)))
    train = _tokenised(split.train, "training", config, tokenizer)
    held_out = _tokenised(split.eval, "held-out", config, tokenizer)
    row_format = split.format
    used = set(row_format.columns.values())
    return {
        "model": private(config.model),
        "dataset": called(config.dataset),
        "learn_from": config.data.learn_from,
        "complete": every or rows_to_learn(config) <= LOOKED_AT,
        "format": {
            "name": row_format.name,
            "columns": dict(row_format.columns),
            "unused": [str(name) for name in first[0].cells if column_key(name) not in used],
        },
        "template": _template(split, tokenizer),
        "notes": [*split.notes, *said_of_marks(train, held_out)],
        "rows": [*_rows(first[:rows], split, config, tokenizer)],
        "counts": _counts(split, train, held_out),
        "lengths": _lengths(train.lengths + held_out.lengths, config.data.max_seq_len),
        **_epoch(train.examples, config, tokenizer.pad_token_id),
    }


def _tokenised(rows: list[Sample], which: str, config: RunConfig, tokenizer: Any) -> Tokenised:
    return tokenise(
        rows,
        tokenizer,
        max_seq_len=config.data.max_seq_len,
        learn_from=config.data.learn_from,
        too_long=config.data.too_long,
        what=f"the {which} rows of dataset '{config.dataset}'",
    )


def _template(split: Split, tokenizer: Any) -> str:
    chat, plain = writing(split.train, tokenizer)
    if chat is None:
        return "none"
    return "plain" if plain else "own"


# Rows.


def _rows(
    first: Iterable[Row], split: Split, config: RunConfig, tokenizer: Any
) -> Iterator[dict[str, Any]]:
    chats = {rows: writing(getattr(split, rows), tokenizer)[0] for rows in ("train", "eval")}
    reader: Reader | None = None
    for row in first:
        reader = reader or Reader(recognise(row, config.data.columns))
        calls = reader.tool_calls
        sample = reader.sample(row)
        where = "a tool call" if reader.tool_calls > calls else _where(sample, split)
        chat = chats["eval" if where == "held out" else "train"]
        shown = {"place": row.place, "cells": {str(k): _cell(v) for k, v in row.cells.items()}}
        if sample is None:
            yield {**shown, "fate": where, "prompt": "", "answer": None, "length": 0, "tokens": []}
        else:
            yield {**shown, **_as_tokens(sample, where, config, tokenizer, chat)}


def _where(sample: Sample | None, split: Split) -> str:
    if sample is None:
        return "no answer"
    for name, rows in (("training", split.train), ("held out", split.eval)):
        if sample in rows:
            return name
    said = sample.messages, sample.text
    copy = any((row.messages, row.text) == said for row in (*split.train, *split.eval))
    return "a copy" if copy else "not needed"


def _as_tokens(
    sample: Sample, where: str, config: RunConfig, tokenizer: Any, chat: Chat | None
) -> dict[str, Any]:
    data = config.data
    encoded = next(encode([sample], tokenizer, chat, data.learn_from))
    length = len(encoded.example.input_ids)
    kept = shortened(encoded.example, data.max_seq_len)
    fate = where
    if length > data.max_seq_len and data.too_long == "drop":
        kept, fate = None, "too long"
    elif kept is None:
        fate = "nothing to learn"
    tokens = tokens_of(encoded, kept, tokenizer)
    answer = encoded.layout.answer
    return {
        "fate": fate,
        "prompt": encoded.layout.prompt[:SHOWN_CHARACTERS],
        "answer": answer if answer is None else answer[:SHOWN_CHARACTERS],
        "text": encoded.layout.text[:SHOWN_CHARACTERS],
        "length": length,
        "states": {
            state: sum(token["state"] == state for token in tokens)
            for state in ("learned", "not learned", "cut")
        },
        "tokens": tokens[:SHOWN_TOKENS],
    }


def tokens_of(encoded: Encoded, kept: Example | None, tokenizer: Any) -> list[dict[str, Any]]:
    """Each token of a row with its text, and whether it is learned, not learned or cut.

    Args:
        kept: what the run keeps of the row; None drops it, and all of it is cut.
    """
    labels = collate([kept], tokenizer.pad_token_id).labels[0].tolist() if kept else []
    texts = token_texts(encoded, tokenizer)
    tokens = []
    for i, (token, text) in enumerate(zip(encoded.example.input_ids, texts, strict=True)):
        state = "cut"
        if i < len(labels):
            state = "learned" if labels[i] != IGNORED else "not learned"
        tokens.append({"id": token, "text": text, "state": state})
    return tokens


def token_texts(encoded: Encoded, tokenizer: Any) -> list[str]:
    """The characters that each token stands for; together they are the row's text, none twice.

    A character of several tokens goes to the first of them, and what no token covers, such as a
    blank that a tokenizer takes as read, to the next. A mark that was added says its name.
    """
    text, said, at = encoded.layout.text, [], 0
    for token, (start, end) in zip(encoded.example.input_ids, encoded.spans, strict=True):
        if start == end:
            said.append(tokenizer.convert_ids_to_tokens(token))
        else:
            said.append(text[at:end])
            at = max(at, end)
    return said


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    left = len(text) - SHOWN_CHARACTERS
    return text if left <= 0 else f"{text[:SHOWN_CHARACTERS]} … and {left:,} more characters"


# Counts.


def _counts(split: Split, train: Tokenised, held_out: Tokenised) -> dict[str, int]:
    return {
        "read": split.counts["read"],
        "duplicates": split.counts["duplicates"],
        "no_answer": split.counts["no_answer"],
        "unused": split.counts.get("unused", 0),
        "too_long": train.too_long + held_out.too_long,
        "nothing_to_learn": train.dropped + held_out.dropped,
        "cut": train.cut + held_out.cut,
        "train": len(train.examples),
        "eval": len(held_out.examples),
        "kept": len(train.examples) + len(held_out.examples),
    }


def _lengths(lengths: Sequence[int], limit: int) -> dict[str, Any]:
    """How many rows have how many tokens, before any is cut; the last bin takes all the rest."""
    longest = max(lengths)
    # One row beyond all measure must not squeeze the others into a single bar.
    width = math.ceil(min(longest, 2 * limit) / _BINS)
    most = (min(longest, 2 * limit) - 1) // width
    bins = [0] * (most + 1)
    for length in lengths:
        bins[min(max(length - 1, 0) // width, most)] += 1
    found = [
        {"from": i * width + 1, "to": (i + 1) * width, "rows": rows} for i, rows in enumerate(bins)
    ]
    found[-1]["to"] = max(found[-1]["to"], longest)
    return {
        "limit": limit,
        "longest": longest,
        "median": median(lengths),
        "over": sum(length > limit for length in lengths),
        "width": width,
        "bins": found,
    }


def _epoch(examples: Sequence[Example], config: RunConfig, pad_id: int) -> dict[str, Any]:
    """One pass over the training rows, and the largest batch that the run meets in it."""
    tokens = sum(len(example.input_ids) for example in examples)
    largest = (0, 0)
    number = seen = learned = 0
    steps = steps_of(config, examples, pad_id)
    while seen < tokens:  # in a pass each row comes once
        number += 1
        for batch in next(steps):
            seen += batch.tokens
            learned += batch.supervised_tokens
    largest = largest_micro_batch(config, examples)
    return {
        "epoch": {
            "rows": len(examples),
            "tokens": tokens,
            "learned_tokens": learned,
            "steps": number,
            "run_steps": config.training.max_steps,
        },
        "longest_batch": {"rows": len(largest), "tokens": width(largest)},
    }
