"""The columns of answers, as they stream in: text and nothing else, whatever a model writes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from playground.config import PRECISIONS
from playground.generate import Column, Conversation, Exchange
from playground.ui import figures, recorded
from playground.ui import text as shared
from playground.ui.panels import badge, swatch
from playground.ui.text import try_it as text


def answers(columns: Sequence[Column], question: str = "") -> str:
    """The question, and one column for each who answers; empty if nobody was asked."""
    if not columns:
        return ""
    busy = "false" if all(column.over for column in columns) else "true"
    cells = "".join(map(_column, columns))
    return (
        f'{_asked(question)}<section class="answers" aria-label="{text.ANSWERS}" '
        f'aria-live="polite" aria-busy="{busy}">{cells}</section>'
    )


def earlier(said: Conversation, columns: Sequence[Column]) -> str:
    """What was said before, oldest first: each question, and what each column answered to it."""
    if not said:
        return ""
    parts = [f'<p class="soft">{escape(text.EARLIER_INTRO)}</p>']
    if said.system:
        parts.append(_asked(said.system, text.SYSTEM))
    for exchange in said.exchanges:
        parts.append(_asked(exchange.prompt))
        parts.append(_replies(exchange, columns))
    return (
        f'<section class="earlier" tabindex="0" aria-label="{text.EARLIER}">'
        f"<h4>{escape(text.EARLIER)}</h4>{''.join(parts)}</section>"
    )


def _asked(question: str, who: str = "") -> str:
    if not question:
        return ""
    return (
        f'<p class="put"><b>{escape(who or text.YOU)}</b> '
        f'<span dir="auto">{escape(question)}</span></p>'
    )


def _replies(exchange: Exchange, columns: Sequence[Column]) -> str:
    """Side by side; where all said the same, as a row's own replies are, once."""
    if len(set(exchange.answers)) == 1:
        return _asked(exchange.answers[0] or text.SAID_NOTHING, text.ALL_SAID)
    cells = "".join(
        f'<article class="answer arm-{column.precision}{" is-tuned" if column.tuned else ""}">'
        f"<h4>{swatch(column.precision)}{escape(named(column))}</h4>"
        f'<p class="said" dir="auto">{escape(answer or text.SAID_NOTHING)}</p></article>'
        for column, answer in zip(columns, exchange.answers, strict=True)
    )
    return f'<div class="answers">{cells}</div>'


def exchange_of(question: str, columns: Sequence[Column]) -> Exchange | None:
    """The question with its answers, to go on from; None unless everybody has answered it."""
    heard = (column.ended and (column.tokens or column.ended != "stopped") for column in columns)
    if not columns or not all(column.chat for column in columns) or not all(heard):
        return None
    return Exchange(question, tuple(column.text for column in columns))


def named(column: Column) -> str:
    words = text.TUNED if column.tuned else text.UNTUNED
    if column.of and column.tuned:
        words = text.TUNED_IN
    title = cut(recorded.titled(column.of))
    return words.format(label=PRECISIONS[column.precision].label, title=title)


def cut(title: str, most: int = 70) -> str:
    return title if len(title) <= most else f"{title[: most - 1]}…"


def _column(column: Column) -> str:
    if column.error:
        body = f'<p class="said is-error">{escape(recorded.said(column.error))}</p>'
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
        return shared.CLAUSES.join([_tokens(column), doing]) if column.tokens else doing
    said = _tokens(column)
    # The seconds of an emulation would be read as a claim about speed.
    if column.seconds is not None and column.how == "native" and column.tokens:
        said = text.TIMED.format(tokens=said, seconds=figures.number(column.seconds, 2))
    return shared.CLAUSES.join([said, text.ENDED[column.ended]])


def _tokens(column: Column) -> str:
    if column.tokens == 1:
        return text.ONE_TOKEN
    return text.TOKENS.format(count=figures.count(column.tokens))
