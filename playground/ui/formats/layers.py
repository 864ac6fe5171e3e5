"""Relative error by layer and format: a chart of dots, and the same figures as a table."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from playground.formats import FORMATS
from playground.formats.words import percent
from playground.ui import figures
from playground.ui.formats.drawing import Axis, Frame, plot
from playground.ui.text import formats as text

# NVFP4's rules share its accent and differ in shape: a ring, and a ring with a point in it.
_MARKS = {"nvfp4-four-over-six": ("hole",), "nvfp4-search": ("hole", "pip")}
_NUMBER = re.compile(r"\.(\d+)\.")
_MOST_TICKS = 10
_LEVELS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)


def panel(found: Mapping[str, Any]) -> str:
    """All of a model's layers, from the answer about it."""
    said = text.LAYERS_FOUND.format(count=figures.count(found["layers"]), model=found["model"])
    notes = [said]
    if found["left_out"]:
        notes.append(text.LEFT_OUT.format(count=figures.count(found["left_out"])))
    if found["gguf"]:
        notes.append(text.FROM_GGUF.format(file=found["gguf"]))
    if found["kept"]:
        notes.append(text.KEPT)
    return (
        f"<p>{escape(' '.join(notes))}</p>{_chart(found)}"
        f'<p class="soft">{escape(text.HOVER)}</p>{_table(found)}'
    )


def progress(model: str, told: Mapping[str, Any] | None) -> str:
    """A line and a bar while layers are measured."""
    if told is None:
        return f'<p class="soft" role="status">{escape(text.READING_ALL.format(model=model))}</p>'
    said = text.MEASURING.format(model=model, done=told["done"], layers=told["layers"])
    width = 100 * told["done"] / told["layers"]
    return (
        f'<p class="soft" role="status">{escape(said)}</p>'
        f'<div class="bar lens-progress"><i style="width:{width:.0f}%"></i></div>'
    )


def _chart(found: Mapping[str, Any]) -> str:
    rows = found["rows"]
    frame = _frame(rows, found["gaussian"])
    levels = [level for level in _LEVELS if frame.y.low < level < frame.y.high]
    drawn = [frame.across(level, "grid") for level in levels]
    drawn += [
        f'<g class="fmt-{name}">{frame.across(error, "gaussian")}</g>'
        for name, error in found["gaussian"].items()
    ]
    for name in FORMATS:
        points = [
            (i, row["errors"][name])
            for i, row in enumerate(rows)
            if row["errors"][name] is not None
        ]
        dots = "".join(frame.dots(points, part) for part in ("layer", *_MARKS.get(name, ())))
        drawn.append(f'<g class="fmt-{name}">{dots}</g>')
    drawn.append(frame.upright(0, "cross"))
    words = [frame.beside(level, f"{100 * level:g} %") for level in levels]
    words += [frame.below(place, number) for place, number in _block_ticks(rows)]
    tips = [[_tip_head(row), *(percent(row["errors"][name]) for name in FORMATS)] for row in rows]
    data = escape(json.dumps({"names": list(text.LABELS.values()), "rows": tips}))
    more = f' tabindex="0" data-layers="{data}"'
    drawn_plot = plot(text.LAYERS_PLOT, drawn, words, "by-layer", more)
    axis = escape(text.LAYERS_X.format(model=found["model"]))
    return (
        f"<figure><figcaption>{escape(text.LAYERS_TITLE)}</figcaption>{_key()}{drawn_plot}"
        f'<p class="soft axis-name">{axis}</p></figure>'
    )


def _block_ticks(rows: Sequence[Mapping[str, Any]]) -> list[tuple[int, str]]:
    """Where a block of the model begins, and its number; of many every so many."""
    firsts: dict[str, int] = {}
    for place, row in enumerate(rows):
        if found := _NUMBER.search(row["name"]):
            firsts.setdefault(found[1], place)
    every = -(-len(firsts) // _MOST_TICKS)
    return [(place, number) for number, place in list(firsts.items())[:: every or 1]]


def _frame(rows: Sequence[Mapping[str, Any]], gaussian: Mapping[str, float]) -> Frame:
    errors = [e for row in rows for e in row["errors"].values() if e]
    low, high = min([*errors, *gaussian.values()]), max([*errors, *gaussian.values()])
    return Frame(Axis(-0.5, len(rows) - 0.5), Axis(low / 1.15, high * 1.15, log=True))


def _tip_head(row: Mapping[str, Any]) -> str:
    head = f"{row['name']} ({' × '.join(map(figures.count, row['shape']))})"
    if row["non_finite"]:
        head += f" {text.NON_FINITE.format(count=figures.count(row['non_finite']))}"
    return head


def _key() -> str:
    parts = "".join(
        f'<span class="fmt-{name}"><i class="dot"></i>{escape(label)}</span>'
        for name, label in text.LABELS.items()
    )
    return (
        f'<p class="lens-key">{parts}<span><i class="dash"></i>{escape(text.GAUSSIAN)}</span></p>'
    )


def _table(found: Mapping[str, Any]) -> str:
    names = [text.LAYER_COLUMN, text.SHAPE_COLUMN, *text.LABELS.values()]
    heads = "".join(
        f'<th scope="col"><button type="button" data-sort="{i}">{escape(name)}</button></th>'
        for i, name in enumerate(names)
    )
    body = "".join(
        _row(row["name"], " × ".join(map(figures.count, row["shape"])), row["errors"], i)
        for i, row in enumerate(found["rows"])
    )
    foot = _row(text.TOGETHER, "", found["total"], 0) + _row(
        text.GAUSSIAN, "", found["gaussian"], 0
    )
    return (
        f'<div class="wide layer-table" tabindex="0"><table class="facts sortable">'
        f"<caption>{escape(text.TABLE_CAPTION)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody><tfoot>{foot}</tfoot></table></div>"
    )


def _row(name: str, shape: str, errors: Mapping[str, float | None], place: int) -> str:
    cells = "".join(
        f'<td data-value="{-1 if errors[key] is None else errors[key]}">{percent(errors[key])}</td>'
        for key in FORMATS
    )
    return (
        f'<tr><th scope="row" data-value="{place}">{escape(name)}</th>'
        f"<td>{escape(shape)}</td>{cells}</tr>"
    )
