"""What would be learned, below the dataset's field: rows as tokens, lengths and counts.

All of a row's text is escaped; nothing that stands in a dataset is ever taken for markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

import gradio as gr

from playground.preview import sentences as say
from playground.preview.words import (
    cells_of,
    counts,
    format_sentence,
    printable,
    row_sentence,
    sentences,
)
from playground.ui import recorded, text

_CLASSES = {"learned": "is-learned", "not learned": "is-read", "cut": "is-cut"}
_FAR = 3
"""A limit beyond so many times the longest row would squeeze the bars to nothing; words say it."""


@dataclass(frozen=True)
class Preview:
    """The button that asks for it, and where it is shown."""

    button: gr.Button
    panel: gr.HTML


def build() -> Preview:
    """Draws the button and its empty panel; call it inside ``gr.Blocks``."""
    button = gr.Button(text.PREVIEW, size="sm", elem_id="preview-button")
    return Preview(button, gr.HTML("", elem_id="preview", apply_default_css=False))


def waiting() -> str:
    return f'<p class="soft" role="status">{text.PREVIEW_WAITING}</p>'


def panel(found: Mapping[str, Any]) -> str:
    """All of a preview, to be folded away when it was seen."""
    title = text.PREVIEW_OF.format(dataset=found["dataset"], model=found["model"])
    said = "".join(f"<p>{escape(recorded.said(sentence))}</p>" for sentence in sentences(found)[1:])
    return (
        f'<details class="previewed" open><summary>{_shown(title)}</summary>'
        f"<p>{escape(format_sentence(found))}</p>{_legend()}"
        f"{''.join(map(_row, found['rows']))}{_lengths(found)}{_counts(found)}{said}</details>"
    )


def _shown(words: str) -> str:
    return escape(printable(words))


def _legend() -> str:
    parts = (f'<span class="{name}">{say.STATES[state]}</span>' for state, name in _CLASSES.items())
    return f'<p class="token-legend">{text.PREVIEW_TOKENS} {" ".join(parts)}</p>'


def _row(row: Mapping[str, Any]) -> str:
    cells = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in cells_of(row)
    )
    drawn = ""
    if row["tokens"]:
        drawn = (
            f'<p class="soft">{escape(row_sentence(row))}</p>'
            f'<div class="tokens" tabindex="0">{"".join(_tokens(row))}</div>'
        )
    head = f"<b>{_shown(row['place'])}</b> {say.FATES[row['fate']]}"
    return f'<div class="row-read"><p>{head}</p><dl>{cells}</dl>{drawn}</div>'


def _tokens(row: Mapping[str, Any]) -> Iterator[str]:
    """Each token by itself, in parts of one fate."""
    for state, tokens in groupby(row["tokens"], key=lambda token: token["state"]):
        inner = "".join(f"<i>{_shown(token['text'])}</i>" for token in tokens)
        yield f'<span class="{_CLASSES[state]}" title="{say.STATES[state]}">{inner}</span>'


def _lengths(found: Mapping[str, Any]) -> str:
    """Bars from left to right by length, and a line where the limit is."""
    lengths = found["lengths"]
    end, limit = lengths["width"] * len(lengths["bins"]), lengths["limit"]
    extent = limit * 1.02 if end < limit <= _FAR * end else end
    most = max(entry["rows"] for entry in lengths["bins"])
    bars = "".join(
        f'<i style="left:{100 * (entry["from"] - 1) / extent:.2f}%;'
        f"width:{100 * lengths['width'] / extent:.2f}%;"
        f'height:{100 * entry["rows"] / most:.2f}%" '
        f'title="{text.PREVIEW_BIN.format(**entry)}"></i>'
        for entry in lengths["bins"]
        if entry["rows"]
    )
    line = ""
    if limit <= extent:
        side = " is-left" if limit > extent / 2 else ""
        line = (
            f'<u class="{side.strip()}" style="left:{100 * limit / extent:.2f}%">'
            f"<span>{text.PREVIEW_LIMIT.format(limit=limit)}</span></u>"
        )
    said = escape(sentences(found)[0])
    return (
        f"<h5>{text.PREVIEW_LENGTHS}</h5>"
        f'<div class="lengths" role="img" aria-label="{said}">{bars}{line}</div>'
        f'<p class="soft">{said}</p>'
    )


def _counts(found: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in counts(found)
    )
    return f'<table class="counted"><tbody>{rows}</tbody></table>'
