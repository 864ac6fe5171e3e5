"""Numbers in a format, cell by cell: value, code, what it decodes to, error, and the scales."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from playground.formats import FORMATS
from playground.formats.words import code_widths, exact, percent, scale_said, scale_widths
from playground.ui import figures
from playground.ui.formats.drawing import Axis, Frame, bits, bits_key, plot
from playground.ui.text import formats as text

_RUN = 16
"""Cells in a row, whatever the format's own block."""


def panel(found: Mapping[str, Any], chosen: str) -> str:
    """All numbers in the chosen format, then what each format makes of them."""
    shown = next(one for one in found["formats"] if one["name"] == chosen)
    if "refuses" in shown:
        said = text.REFUSES.format(block=shown["refuses"])
        return f'<p class="soft">{escape(said)}</p>{_in_each(found, chosen)}'
    runs = range(0, len(found["values"]), _RUN)
    parts = [_run(found["values"], shown, start, len(runs)) for start in runs]
    return f"{''.join(parts)}{_key()}{_in_each(found, chosen)}"


def _run(values: Sequence[float], shown: Mapping[str, Any], start: int, runs: int) -> str:
    """A block's numbers: their scales in a line, the rail, the cells."""
    block = next(b for b in reversed(shown["blocks"]) if b["first"] <= start)
    cut = slice(start, start + _RUN)
    parts = [shown[key][cut] for key in ("scaled", "codes", "decoded")]
    cells = "".join(
        _cell(shown["name"], block["amax"], *four) for four in zip(values[cut], *parts, strict=True)
    )
    heading = text.BLOCK_ALONE
    if runs > 1:
        heading = text.BLOCK_HEADING.format(number=start // _RUN + 1, count=runs)
    return (
        f'<section class="run arm-{_arm(shown["name"])}"><h4>{escape(heading)}</h4>'
        f"{_scales(shown, block, values[cut], parts[2])}{_rail(shown, cut)}"
        f'<ol class="cells">{_legend()}{cells}</ol></section>'
    )


def _arm(name: str) -> str:
    """The accent of the format, which its rules share."""
    return name.split("-")[0]


def _scales(
    shown: Mapping[str, Any],
    block: Mapping[str, Any],
    values: Sequence[float],
    decoded: Sequence[float],
) -> str:
    name = shown["name"]
    label = text.SCALE
    if FORMATS[name].block is None:
        label = text.SHARED_SCALE
    elif block["of"] > _RUN:
        label = text.SCALE_OF_MORE.format(of=block["of"])
    parts = [(label, scale(name, block))]
    if shown["tensor_scale"] is not None:
        parts.append((text.TENSOR_SCALE, f"<b>{exact(shown['tensor_scale'])}</b>"))
    parts.append((text.BLOCK_ERROR, f"<b>{percent(_error(values, decoded))}</b>"))
    drawn = "".join(f"<div><dt>{escape(k)}</dt><dd>{v}</dd></div>" for k, v in parts)
    return f'<dl class="scales">{drawn}</dl>'


def _error(values: Sequence[float], decoded: Sequence[float]) -> float:
    """Of the sixteen, which may be a part of the format's own block."""
    wrong = math.hypot(*(d - v for v, d in zip(values, decoded, strict=True)))
    size = math.hypot(*values)
    return wrong / size if size else 0.0


def scale(name: str, block: Mapping[str, Any]) -> str:
    """A block's scale: its exact value, and the bits that hold it."""
    said = f"<b>{scale_said(name, block)}</b>"
    if block["code"] is None:
        return f"{said} <small>{escape(text.SCALE_IN_FP32)}</small>"
    return f"{said} {bits(block['code'], scale_widths(name))}"


def _cell(
    name: str, amax: float, value: float, scaled: float | None, code: int, decoded: float
) -> str:
    error = decoded - value
    drawn = bits(code, code_widths(name))
    words = {
        "value": _short(value),
        "scaled": _short(scaled, 3),
        "decoded": _short(decoded),
        "error": _short(error, 2),
        "code": f"{code:0{sum(code_widths(name))}b}",
    }
    said = escape(text.CELL.format(**words))
    # A sixth of the largest value is the most that E2M1 can be off below its end.
    width = min(100.0, 600 * abs(error) / amax) if amax else 0.0
    return (
        f'<li title="{said}"><span class="sr">{said}</span><span aria-hidden="true">'
        f"<b>{words['value']}</b><span>{words['scaled']}</span>{drawn}"
        f'<b class="decoded">{words["decoded"]}</b><em>{words["error"]}</em>'
        f'<u><i style="width:{width:.0f}%"></i></u></span></li>'
    )


def _short(value: float | None, digits: int = 3) -> str:
    """A cell has room for seven characters."""
    said = figures.number(value, digits)
    return said.replace("e−0", "e−").replace("e+0", "e")


def _legend() -> str:
    words = "".join(f"<span>{escape(word)}</span>" for word in text.KEY.values())
    return f'<li class="key" aria-hidden="true"><span>{words}</span></li>'


def _rail(shown: Mapping[str, Any], cut: slice) -> str:
    """Numbers above, codes' values below, and lines between: how far each was moved."""
    if shown["levels"] is None:
        return f'<p class="soft">{escape(text.NO_RAIL)}</p>'
    grid = sorted(set(shown["levels"]))
    end = grid[-1] * 1.08
    frame = Frame(Axis(-end, end), Axis(0, 1))
    both = zip(shown["scaled"][cut], shown["codes"][cut], strict=True)
    pairs = [(value, shown["levels"][code]) for value, code in both if value is not None]
    drawn = [
        frame.across(0, "edge"),
        *(frame.line([(v, 0), (v, 0.1)], "notch") for v in grid),
        *(frame.line([(value, 0.92), (code, 0.1)], "move") for value, code in pairs),
        frame.dots([(value, 0.92) for value, _ in pairs], "number"),
        frame.dots([(level, 0.06) for _, level in pairs], "code"),
    ]
    words = [frame.below(v, _tick(v), "" if _labelled(v, grid) else "minor") for v in grid]
    words += [
        f'<span class="rail-word is-top" aria-hidden="true">{escape(text.RAIL_TOP)}</span>',
        f'<span class="rail-word is-bottom" aria-hidden="true">{escape(text.RAIL_BOTTOM)}</span>',
    ]
    said = text.RAIL.format(count=len(pairs))
    return plot(said, drawn, words, "rail")


def _tick(value: float) -> str:
    return f"{value:.2g}".replace("-", "−")


def _labelled(value: float, grid: Sequence[float]) -> bool:
    """Where there is little room: whole values of E2M1, a few of NF4's."""
    if grid[-1] > 1:
        return abs(value) in (0, 1, 2, 3, 4, 6)
    return abs(value) in (0, 1) or grid.index(value) in (2, 4, 11, 13)


def _key() -> str:
    return f'{bits_key()}<p class="soft cells-key">{escape(text.KEY_LINE)}</p>'


def _in_each(found: Mapping[str, Any], chosen: str) -> str:
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in text.EACH_COLUMNS)
    worst = max((one.get("error") or 0 for one in found["formats"]), default=0)
    rows = "".join(_format_row(one, one["name"] == chosen, worst) for one in found["formats"])
    return (
        f"<h4>{escape(text.IN_EACH)}</h4>"
        '<div class="wide" tabindex="0"><table class="facts in-each">'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        f'<p class="soft">{escape(text.RELATIVE)}</p>'
    )


def _format_row(one: Mapping[str, Any], chosen: bool, worst: float) -> str:
    info = FORMATS[one["name"]]
    name = f'<i class="swatch"></i>{escape(text.LABELS[one["name"]])}'
    start = (
        f'<tr class="arm-{_arm(one["name"])}{" is-chosen" if chosen else ""}">'
        f'<th scope="row">{name}</th>'
    )
    if "refuses" in one:
        refused = escape(text.REFUSES.format(block=one["refuses"]))
        return f'{start}<td colspan="3">{refused}</td><td>{info.bits:g}</td></tr>'
    first, *others = one["blocks"]
    held = scale(one["name"], first)
    if others:
        held = text.SCALES_MORE.format(first=held, count=len(others))
    tensor = one["tensor_scale"]
    second = escape(text.NO_TENSOR_SCALE) if tensor is None else exact(tensor)
    width = 100 * one["error"] / worst if worst else 0
    bar = f'<span class="bar"><i style="width:{width:.0f}%"></i></span>'
    return (
        f"{start}<td>{percent(one['error'])}{bar}</td><td>{held}</td><td>{second}</td>"
        f"<td>{info.bits:g}</td></tr>"
    )
