"""A layer's block under the lens, and the layer's values around it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from playground.formats.words import percent
from playground.ui import figures
from playground.ui.formats import cells, questions
from playground.ui.formats.drawing import Axis, Frame, plot, prose
from playground.ui.text import formats as text

E2M1 = (-6, -4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 6)


def panel(found: Mapping[str, Any], chosen: str) -> str:
    """Where the block is, the block, both histograms, and the two questions, folded."""
    of = text.QUESTIONS_OF_LAYER.format(values=figures.count(found["experiments"]["values"]))
    return (
        f"{_facts(found)}{cells.panel(found, chosen)}"
        f'<div class="histograms">{_values(found)}{_scaled(found)}</div>'
        f'<details class="asked"><summary>{escape(of)}</summary>'
        f"{questions.panel(found, of_layer=True)}</details>"
    )


def _facts(found: Mapping[str, Any]) -> str:
    rows, columns = found["shape"]
    layer = text.LAYER_FACTS.format(
        rows=figures.count(rows),
        columns=figures.count(columns),
        dtype=found["dtype"],
        deviation=figures.number(found["deviation"], 3),
        amax=figures.number(found["amax"], 3),
        error=percent(found["error"]),
    )
    block = text.BLOCK_FACTS.format(
        row=figures.count(found["row"]),
        first=figures.count(found["column"]),
        last=figures.count(found["column"] + 15),
        error=percent(found["block_error"]),
        median=percent(found["median_error"]),
        blocks=figures.count(found["blocks"]),
        worse=figures.fine_share(found["worse_share"]),
    )
    if found["gguf"]:
        layer += f" {text.FROM_GGUF.format(file=found['gguf'])}"
    return (
        f'<p class="where"><b>{escape(found["layer"])}</b> {prose(layer)}</p><p>{prose(block)}</p>'
    )


def _values(found: Mapping[str, Any]) -> str:
    histogram = found["value_histogram"]
    end, unit = histogram["end"], histogram["unit"]
    frame = _frame(histogram)
    drawn = [_bars(frame, histogram), *(frame.upright(unit * v, "level") for v in E2M1)]
    ticks = [-end, -end / 2, 0.0, end / 2, end]
    words = [
        frame.below(v, figures.number(v, 2), "minor" if v and abs(v) < end else "") for v in ticks
    ]
    said = text.VALUES_SAID.format(low=figures.number(-end, 3), high=figures.number(end, 3))
    note = ""
    if histogram["beyond"]:
        note = text.BEYOND.format(
            count=figures.count(histogram["beyond"]), amax=figures.number(found["amax"], 3)
        )
    return _figure(text.VALUES_TITLE, plot(said, drawn, words, "histogram"), note)


def _scaled(found: Mapping[str, Any]) -> str:
    frame = _frame(found["scaled_histogram"])
    drawn = [_bars(frame, found["scaled_histogram"]), *(frame.upright(v, "level") for v in E2M1)]
    words = [
        frame.below(v, f"{v:g}".replace("-", "−"), "" if v == int(v) else "minor") for v in E2M1
    ]
    return _figure(
        text.SCALED_TITLE, plot(text.SCALED_SAID, drawn, words, "histogram"), text.SCALED_NOTE
    )


def _frame(histogram: Mapping[str, Any]) -> Frame:
    end, most = histogram["end"], max(histogram["counts"])
    return Frame(Axis(-end, end), Axis(0, 1.05 * max(most, 1)))


def _bars(frame: Frame, histogram: Mapping[str, Any]) -> str:
    end, counts = histogram["end"], histogram["counts"]
    edges = [-end + 2 * end * i / len(counts) for i in range(len(counts) + 1)]
    return frame.bars(edges, counts, "bars")


def _figure(title: str, drawn: str, note: str) -> str:
    said = f'<p class="soft">{escape(note)}</p>' if note else ""
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawn}{said}</figure>"
