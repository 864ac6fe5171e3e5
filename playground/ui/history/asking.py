"""What the filters above the list ask for, and where in the list a page is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import get_args

from playground.config import SettingsError
from playground.store import Search
from playground.store.past import Column
from playground.ui.text import history as text

PAGE = 25
"""Comparisons on a page of the list."""


@dataclass(frozen=True)
class Listing:
    """The part of the list that a page shows, and what it showed last.

    Attributes:
        page: from 0.
        chosen: id of the comparison that is managed; None: none.
        gone: ids of runs that were deleted here, which are not to stay ticked.
        token / drawn: of the store, and of the list as it was last drawn: a tick draws nothing anew
            that is there already.
    """

    search: Search = field(default_factory=Search)
    page: int = 0
    chosen: str | None = None
    gone: tuple[str, ...] = ()
    token: int = -1
    drawn: int = 0

    def sorted_by(self, column: str) -> Listing:
        """By another column, from its first; by the same one the other way round."""
        if column not in get_args(Column):
            return self
        same = column == self.search.by
        down = not self.search.descending if same else column == "started"
        return replace(self, page=0, search=replace(self.search, by=column, descending=down))


def search(
    earlier: Search, words: str, precision: str, status: str, since: str, until: str
) -> Search:
    """What the filters hold, in the order that the list has.

    Raises:
        SettingsError: a day is none.
    """
    last = _day(text.UNTIL, until)
    return replace(
        earlier,
        words=words or "",
        precision=precision or None,
        status=status or None,
        since=_day(text.SINCE, since),
        until=None if last is None else _next_day(last),
    )


def _day(name: str, typed: str) -> float | None:
    """Its first second, in this machine's time; None for an empty text."""
    if not (typed or "").strip():
        return None
    try:
        return time.mktime(time.strptime(typed.strip(), "%Y-%m-%d"))
    except (ValueError, OverflowError):
        raise SettingsError(text.BAD_DAY.format(field=name, value=typed)) from None


def _next_day(first_second: float) -> float:
    day = time.localtime(first_second)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday + 1, 0, 0, 0, 0, 0, -1))
