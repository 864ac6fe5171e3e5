"""Rows for training and rows held out: nothing that is learned is also asked.

Only as much of a source is read as the run needs. What that is depends on a few numbers of the
configuration alone, so every run of a comparison reads and divides the same rows.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from playground.catalog.datasets import DatasetEntry
from playground.config import RunConfig, SettingsError
from playground.data.formats import (
    Reader,
    RowFormat,
    Sample,
    column_key,
    listed,
    recognise,
    required,
)
from playground.data.rows import Row, stream_entry, stream_rows

HELD_OUT_SHARE = 0.1
"""At most this share of a dataset without an evaluation file of its own is held out."""

HEAD_ROWS = 2**14
"""Rows that are read even if a run needs fewer; so runs of other lengths divide the same rows.
A run that needs more reads twice, four times, ... as many."""

HEAD_SIZE = 2**26
"""Characters after which no more rows are read than are needed."""

KEPT_ROWS = 2**12
"""Training rows that are kept even if the steps draw fewer. Smaller datasets are whole."""

_ROWS_TO_A_CHECK = 256
_SPARE = 1.25  # more rows than the steps draw, for some may have nothing to learn from
_SHORTEST_ROW = 16  # tokens; with packing, as many rows as that may lie in one sequence


class Split(NamedTuple):
    """Training rows and held-out rows, understood.

    counts: rows ``read``, and of these the ``duplicates`` and those with ``no_answer``, left out.
        Only where there are any: ``unused``, read and not needed; ``null_words``, kept with a cell
        that says None, NA, NaN or null.
    notes: sentences on how the source was read.
    """

    train: list[Sample]
    eval: list[Sample]
    counts: dict[str, int]
    format: RowFormat
    notes: tuple[str, ...] = ()


def load_split(
    entry: DatasetEntry,
    config: RunConfig,
    check: Callable[[], None] = lambda: None,
    *,
    at_most: int | None = None,
) -> Split:
    """Reads a dataset and divides it, the same way for every run with this configuration.

    Of a large dataset only the first rows are read, ``HEAD_ROWS`` of them or as many as the run
    needs. A dataset with evaluation files is taken as it is, less what its evaluation shares with
    its training rows. Any other is shuffled by ``split_seed`` and split; copies of a row stay on
    one side. Rows are copies when they say the same, whatever else their columns hold. If the steps
    draw far fewer training rows than there are, ``seed`` chooses some.

    Args:
        check: called between rows; raises to give up.
        at_most: training rows for a mere look at a source of which the run needs more.
    Raises:
        SettingsError: it cannot be read or understood, or too few rows are left to hold one out.
    """
    source = _Source(entry, config, check, at_most)
    if entry.eval_files:
        return source.split_by_file()
    return source.split_by_seed()


class _Source:
    """One dataset on its way to a split, with what is to be said of it."""

    def __init__(
        self,
        entry: DatasetEntry,
        config: RunConfig,
        check: Callable[[], None],
        at_most: int | None,
    ) -> None:
        self._entry, self._config, self._check = entry, config, check
        wanted = rows_to_learn(config)
        self._to_learn = wanted if at_most is None else min(wanted, at_most)
        self._a_look = self._to_learn < wanted
        self._notes: list[str] = []
        self._read = 0
        if entry.other_files:
            names = ", ".join(path.name for path in entry.other_files)
            self._notes.append(
                f"Not read, since others are named for training or holding out: {names}."
            )
        rows = _head(stream_entry(entry, self._notes.append), self._needed(), self._note_rest)
        first = next(rows, None)
        if first is None:
            raise SettingsError(f"Dataset '{entry.id}' has no rows; pick another.")
        # Before anything is left out: a person looks at the first row.
        self._first = first
        self._reader = Reader(recognise(first, config.data.columns), self._notes.append)
        self._note_columns()
        self._samples = self._understood(rows, first)

    def split_by_file(self) -> Split:
        files = stream_rows(self._entry.eval_files, self._notes.append)
        asked = _head(files, self._config.data.eval_rows, self._note_rest)
        train = self._answered(self._samples)[: self._config.data.train_rows]
        seen = {_identity(sample) for sample in train}
        evaluation: list[Sample] = []
        duplicates = 0
        before = self._read
        for sample in self._understood(asked):
            if _identity(sample) in seen:
                duplicates += 1
                continue
            evaluation.append(sample)
            if len(evaluation) == self._config.data.eval_rows:
                break
        if not evaluation and duplicates:
            raise SettingsError(
                f"Every evaluation row of dataset '{self._entry.id}' is also a training row; "
                "give it held-out rows of its own."
            )
        if not evaluation:
            self._refuse_unanswered(self._read - before)
        return self._split(train, evaluation, duplicates)

    def split_by_seed(self) -> Split:
        answered = self._answered(self._samples)
        data = self._config.data
        train, evaluation = hold_out(answered, data.eval_rows, data.split_seed, self._entry.id)
        duplicates = len(answered) - len(train) - len(evaluation)
        return self._split(train[: data.train_rows], evaluation, duplicates)

    def _needed(self) -> int:
        """Rows that must be read if there are so many."""
        data = self._config.data
        if self._entry.eval_files:
            return self._to_learn
        # So many that the share which may be held out is as large as was asked for.
        held_out = math.ceil(data.eval_rows / HELD_OUT_SHARE)
        return max(self._to_learn + data.eval_rows, held_out)

    def _note_rest(self, read: int) -> None:
        if self._a_look:
            self._notes.append(f"Only the first {read:,} rows were read here; the run reads on.")
            return
        self._notes.append(
            f"Only the first {read:,} rows were read, which is all that this run needs; shuffle "
            "the rows if they are sorted."
        )

    def _note_columns(self) -> None:
        used = self._reader.format.columns.values()
        unused = [str(name) for name in self._first.cells if column_key(name) not in used]
        if unused:
            self._notes.append(f"Columns that are not used: {listed(unused)}.")

    def _understood(self, rows: Iterable[Row], *first: Row) -> Iterator[Sample]:
        for chunk in (first, rows):
            for row in chunk:
                if self._read % _ROWS_TO_A_CHECK == 0:
                    self._check()
                self._read += 1
                if sample := self._reader.sample(row):
                    yield sample

    def _answered(self, samples: Iterator[Sample]) -> list[Sample]:
        before = self._read
        found = list(samples)
        if not found:
            self._refuse_unanswered(self._read - before)
        return found

    def _refuse_unanswered(self, count: int) -> None:
        columns = " + ".join(sorted(required(self._reader.format)))
        if calls := self._reader.tool_calls:
            raise SettingsError(
                f"None of {count} rows of dataset '{self._entry.id}' holds anything to learn: in "
                f"{calls} of them a reply only calls a tool; give rows in which each says "
                "something."
            )
        raise SettingsError(
            f"None of {count} rows of dataset '{self._entry.id}' ({self._first.place} is the "
            f"first) holds anything to learn; fill its columns {columns}."
        )

    def _split(self, train: list[Sample], evaluation: list[Sample], duplicates: int) -> Split:
        kept = max(KEPT_ROWS, self._to_learn)
        drawn = _drawn(train, kept, self._config.training.seed)
        counts = {
            "read": self._read,
            "duplicates": duplicates,
            "no_answer": self._reader.no_answer,
        }
        unused = self._read - duplicates - self._reader.no_answer - len(drawn) - len(evaluation)
        if unused:
            counts["unused"] = unused
        if calls := self._reader.tool_calls:
            self._notes.append(
                f"In {calls:,} of the rows read a reply only calls a tool and says nothing; they "
                "were left out, and count among those without an answer."
            )
        if words := self._reader.null_words:
            counts["null_words"] = words
            self._notes.append(
                f"In {words:,} of the rows read a cell says None, NA, NaN or null; it was kept as "
                "that word."
            )
        return Split(drawn, evaluation, counts, self._reader.format, tuple(self._notes))


def hold_out(
    rows: Sequence[Sample], eval_rows: int, seed: int, name: str
) -> tuple[list[Sample], list[Sample]]:
    """Splits distinct rows by the seed: training rows in their order, then held-out rows.

    Raises:
        SettingsError: there are fewer than two different rows.
    """
    distinct = list({_identity(row): row for row in reversed(rows)}.values())[::-1]
    if len(distinct) < 2:
        raise SettingsError(
            f"Dataset '{name}' has {len(distinct)} different row; "
            "at least 2 are needed, one to learn from and one to hold out."
        )
    count = min(eval_rows, max(1, int(len(distinct) * HELD_OUT_SHARE)))
    chosen = set(random.Random(seed).sample(range(len(distinct)), count))
    train = [row for i, row in enumerate(distinct) if i not in chosen]
    return train, [distinct[i] for i in sorted(chosen)]


def rows_to_learn(config: RunConfig) -> int:
    """Rows that the steps draw at most, with some to spare."""
    training, data = config.training, config.data
    drawn = training.max_steps * training.micro_batch_size * training.grad_accum_steps
    if data.packing:
        drawn *= max(1, data.max_seq_len // _SHORTEST_ROW)
    needed = math.ceil(drawn * _SPARE)
    return needed if data.train_rows is None else min(needed, data.train_rows)


def _head(rows: Iterator[Row], needed: int, cut_short: Callable[[int], None]) -> Iterator[Row]:
    """The first rows: all that are needed, and more up to a round number or a size."""
    most = HEAD_ROWS
    while most < needed:
        most *= 2
    number = size = 0
    for row in rows:
        if number >= most or (number >= needed and size >= HEAD_SIZE):
            cut_short(number)
            return
        yield row
        number, size = number + 1, size + row.size


def _drawn(rows: list[Sample], count: int, seed: int) -> list[Sample]:
    """``count`` of the rows, chosen by the seed, in their order; all if there are no more."""
    if len(rows) <= count:
        return rows
    chosen = sorted(random.Random(seed).sample(range(len(rows)), count))
    return [rows[i] for i in chosen]


def _identity(sample: Sample) -> bytes:
    said = json.dumps((sample.messages, sample.text))
    return hashlib.blake2b(said.encode(), digest_size=16).digest()
