"""A preview as a terminal draws it: rows with their tokens marked, then a table of the counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from playground.preview import sentences as say
from playground.preview.words import (
    cells_of,
    counts,
    format_sentence,
    printable,
    row_sentence,
    sentences,
)

_STYLES = {"learned": "bold green", "not learned": "", "cut": "strike red"}
_MARKS = {"learned": ("⟦", "⟧"), "not learned": ("", ""), "cut": ("⟨cut:", "⟩")}
_BAR = 40  # columns


def draw(console: Console, found: Mapping[str, Any]) -> None:
    """Prints all of it. Where there are no colours, brackets say what they would."""
    colours = console.is_terminal and not console.no_color
    plain = {"markup": False, "highlight": False, "soft_wrap": True}
    console.print(f"{found['dataset']} as {found['model']} reads it", **plain)
    console.print(format_sentence(found), **plain)
    for row in found["rows"]:
        console.print(f"\n{row['place']}: {say.FATES[row['fate']]}", **plain)
        for name, value in cells_of(row):
            console.print(f"  {name}: {printable(value)}", **plain)
        if row["tokens"]:
            console.print(row_sentence(row), **plain)
            console.print(_tokens(row, colours), soft_wrap=True)
    console.print()
    console.print(_legend(colours), soft_wrap=True)
    console.print(_lengths(found["lengths"]))
    console.print(_counts(found))
    for sentence in sentences(found):
        console.print(sentence, **plain)


def _tokens(row: Mapping[str, Any], colours: bool) -> Text:
    drawn = Text()
    for state, tokens in groupby(row["tokens"], key=lambda token: token["state"]):
        drawn.append_text(_part("".join(token["text"] for token in tokens), state, colours))
    return drawn


def _part(words: str, state: str, colours: bool) -> Text:
    if colours:
        return Text(printable(words), style=_STYLES[state])
    before, after = _MARKS[state]
    return Text(f"{before}{printable(words)}{after}")


def _legend(colours: bool) -> Text:
    parts = [_part(state, state, colours) for state in _STYLES]
    return Text.assemble("Tokens: ", *(piece for part in parts for piece in (part, "  ")))


def _lengths(lengths: Mapping[str, Any]) -> Table:
    table = Table(
        "tokens", "rows", "", box=SIMPLE_HEAD, title=None, pad_edge=False, show_edge=False
    )
    for number, bar in _bars(lengths):
        table.add_row(*number, bar)
    return table


def _bars(lengths: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], str]]:
    """Bins in which there are rows, and a line where the limit is."""
    most = max(entry["rows"] for entry in lengths["bins"])
    above = False
    for entry in lengths["bins"]:
        if entry["to"] > lengths["limit"] and not above:
            above = True
            yield (f"{lengths['limit']}", ""), "─" * 8 + " limit"
        if entry["rows"]:
            bar = "█" * max(1, round(_BAR * entry["rows"] / most))
            yield (f"{entry['from']}–{entry['to']}", f"{entry['rows']:,}"), bar
    if not above:
        yield (f"{lengths['limit']}", ""), "─" * 8 + " limit"


def _counts(found: Mapping[str, Any]) -> Table:
    table = Table("", "", box=SIMPLE_HEAD, show_header=False, pad_edge=False, show_edge=False)
    table.columns[1].justify = "right"
    for name, value in counts(found):
        table.add_row(name, value)
    return table
