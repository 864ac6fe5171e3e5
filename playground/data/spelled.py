"""Words of a turn that spell one of the model's marks, such as ``<|im_end|>``: words all the same.

A tokenizer makes the mark's own token of them, and the turn would end where its writer only spoke
of its end. So the template is given other characters in their place, as many of them: what it
writes around the turns stays, every position too, and what it wrote itself is told from what the
turns say. Each such token is then replaced by those of the letters it is written in.

Rows that no template is written around are another matter: there is no other way to write a mark in
them, so it stands for its token there, and such rows are only counted (``writes_marks``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from playground.data.formats import Sample

Span = tuple[int, int]

_PRIVATE = range(0xF0000, 0xFFFFE)  # a plane of Unicode in which no character has a meaning


@lru_cache(maxsize=64)
def _pattern(marks: tuple[str, ...]) -> re.Pattern[str] | None:
    # The longest first, as they come: a tokenizer takes the longest that stands there.
    return re.compile("|".join(map(re.escape, marks))) if marks else None


def writes_marks(text: str, marks: tuple[str, ...]) -> bool:
    """Whether one of the marks stands in the text."""
    pattern = _pattern(marks)
    return pattern is not None and pattern.search(text) is not None


class Veiled:
    """A sample whose turns say other characters wherever they spelled a mark.

    Args:
        marks: the longest first.
    """

    def __init__(self, sample: Sample, marks: tuple[str, ...]) -> None:
        said = {mark for turn in sample.messages for mark in _found(turn["content"], marks)}
        used = set().union(*(turn["content"] for turn in sample.messages))
        free = (chr(code) for code in _PRIVATE if chr(code) not in used)
        self._veils = {mark: next(free) * len(mark) for mark in sorted(said)}
        self._marks = marks
        turns = tuple({**turn, "content": self._veil(turn["content"])} for turn in sample.messages)
        self.sample = sample._replace(messages=turns)

    def lifted(self, text: str) -> tuple[str, tuple[Span, ...]]:
        """The text with the words put back, and where they stand."""
        spans: list[Span] = []
        for mark, veil in self._veils.items():
            spans += [match.span() for match in re.finditer(veil, text)]
            text = text.replace(veil, mark)
        return text, tuple(sorted(spans))

    def _veil(self, content: str) -> str:
        pattern = _pattern(self._marks)
        return pattern.sub(lambda match: self._veils[match[0]], content)


def _found(content: str, marks: tuple[str, ...]) -> list[str]:
    pattern = _pattern(marks)
    return pattern.findall(content) if pattern else []


def as_letters(
    ids: Sequence[int], places: Sequence[Span], text: str, words: Sequence[Span], tokenizer: Any
) -> tuple[list[int], list[Span]]:
    """The tokens of a text in which ``words`` are no marks, though they spell some.

    Args:
        places: the characters that each token covers.
    """
    marks = tokenizer.all_special_ids
    found, covered = [], []
    for token, (start, end) in zip(ids, places, strict=True):
        inside = any(start < stop and begin < end for begin, stop in words)
        if not inside or not _is_mark(token, marks, tokenizer):
            found.append(token)
            covered.append((start, end))
            continue
        # After a line end, so that nothing is put before it as before the first word of a text.
        coded = tokenizer(
            "\n" + text[start:end],
            add_special_tokens=False,
            split_special_tokens=True,
            return_offsets_mapping=True,
            return_attention_mask=False,
        )
        for letter, (a, b) in zip(coded["input_ids"], coded["offset_mapping"], strict=True):
            if b > 1:
                found.append(letter)
                covered.append((start + max(a - 1, 0), start + b - 1))
    return found, covered


def _is_mark(token: int, marks: Sequence[int], tokenizer: Any) -> bool:
    added = tokenizer.added_tokens_decoder.get(token)
    return token in marks or (added is not None and added.special)
