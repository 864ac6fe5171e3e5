"""The columns of answers, as they stream in: text and nothing else, whatever a model writes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from playground.config import PRECISIONS
from playground.generate import Column
from playground.ui import figures
from playground.ui.panels import badge, swatch
from playground.ui.text import try_it as text


def answers(columns: Sequence[Column]) -> str:
    """One column for each who answers; empty if nobody was asked."""
    if not columns:
        return ""
    busy = "false" if all(column.over for column in columns) else "true"
    cells = "".join(map(_column, columns))
    return (
        f'<section class="answers" aria-label="{text.ANSWERS}" aria-live="polite" '
        f'aria-busy="{busy}">{cells}</section>'
    )


def named(column: Column) -> str:
    words = text.TUNED if column.tuned else text.UNTUNED
    return words.format(label=PRECISIONS[column.precision].label)


def _column(column: Column) -> str:
    if column.error:
        body = f'<p class="said is-error">{escape(column.error)}</p>'
    elif column.over and not column.text.strip():
        body = f'<p class="said soft">{text.SAID_NOTHING}</p>'
    else:
        body = f'<p class="said" dir="auto">{escape(column.text)}</p>'
    return (
        f'<article class="answer arm-{column.precision}{" is-tuned" if column.tuned else ""}">'
        f"<h4>{swatch(column.precision)}{escape(named(column))} {badge(column.how)}</h4>"
        f'{body}<p class="soft">{escape(_state(column))}</p></article>'
    )


def _state(column: Column) -> str:
    if column.error:
        return ""
    if column.ended is None:
        doing = text.DOING[column.doing] if column.doing else text.WAITING
        return f"{_tokens(column)}, {doing}" if column.tokens else doing
    said = _tokens(column)
    # The seconds of an emulation would be read as a claim about speed.
    if column.seconds is not None and column.how == "native" and column.tokens:
        said = text.TIMED.format(tokens=said, seconds=figures.number(column.seconds, 2))
    return f"{said}, {text.ENDED[column.ended]}"


def _tokens(column: Column) -> str:
    if column.tokens == 1:
        return text.ONE_TOKEN
    return text.TOKENS.format(count=figures.count(column.tokens))
