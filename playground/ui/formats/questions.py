"""Why 16 beats 32, and what the second scale is for: answered with the numbers at hand."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from playground.formats.words import percent
from playground.ui import figures
from playground.ui import text as shared
from playground.ui.formats.drawing import Axis, Frame, plot, prose
from playground.ui.text import formats as text

_ARMS = (("e8m0", "32"), ("e8m0", "16"), ("e4m3", "32"), ("e4m3", "16"))
_NOTHING, _LITTLE = 1.01, 1.25
"""Ratios of errors below which the second scale buys nothing, and little."""
_TICKS = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4)


def panel(found: Mapping[str, Any], of_layer: bool = False) -> str:
    """Both questions side by side, from ``found["experiments"]`` and ``found["gaussian"]``."""
    asked, gaussian = found["experiments"], found["gaussian"]["blocks"]
    first = sixteen(asked["blocks"], gaussian, of_layer)
    return f'<div class="questions">{first}{second(asked["second_scale"])}</div>'


def sixteen(
    blocks: Mapping[str, Mapping[str, float | None]],
    gaussian: Mapping[str, Mapping[str, float]],
    of_layer: bool,
) -> str:
    """Bars for the four pairs of block size and scale kind, and what they say."""
    ours = _flat(blocks)
    if None in ours.values():
        drawn, found = "", text.NO_THIRTY_TWO if of_layer else text.ONE_BLOCK
    else:
        drawn, found = _bars(ours, _flat(gaussian)), _sixteen_found(ours)
    reference = text.SIXTEEN_GAUSS.format(**{k: percent(v) for k, v in _flat(gaussian).items()})
    return _question(text.SIXTEEN, text.SIXTEEN_WHY, drawn, [found, reference])


def second(found: Mapping[str, Any]) -> str:
    """The error at every size with and without the tensor scale, and what that means here."""
    if not found["curve"]:
        return _question(text.SECOND, text.SECOND_WHY, "", [text.ALL_ZERO])
    said = text.SECOND_FOUND.format(
        rms=figures.number(found["rms"], 3),
        with_it=percent(found["with"]),
        without=percent(found["without"]),
    )
    return _question(text.SECOND, text.SECOND_WHY, _curve(found), [said, _second_means(found)])


def _question(asked: str, why: str, drawn: str, said: list[str]) -> str:
    found, *more = said
    rest = "".join(f'<p class="why">{prose(sentence)}</p>' for sentence in more)
    return (
        f'<section class="question"><h4>{escape(asked)}</h4><p class="why">{prose(why)}</p>{drawn}'
        f'<p class="found">{prose(found)}</p>{rest}</section>'
    )


def _flat(blocks: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{kind}_{size}": blocks[kind][size] for kind, size in _ARMS}


def _bars(ours: Mapping[str, float], gaussian: Mapping[str, float]) -> str:
    most = 1.08 * max(*ours.values(), *gaussian.values())
    rows = []
    for key, error in ours.items():
        kind, size = key.split("_")
        name = text.ARM_IS.get(key, "")
        bits = text.ARM_BITS.format(bits=f"{4 + 8 / int(size):g}")
        accent = "mxfp4" if kind == "e8m0" else "nvfp4"
        light = "" if name else " is-between"
        rows.append(
            f'<div class="pair arm-{accent}{light}"><dt><b>{escape(text.ARMS[key])}</b>'
            f"<small>{escape(name)}</small><small>{escape(bits)}</small></dt>"
            f'<dd><span class="track"><i style="width:{100 * error / most:.1f}%"></i>'
            f'<u style="left:{100 * gaussian[key] / most:.1f}%"></u></span>'
            f"<b>{percent(error)}</b></dd></div>"
        )
    return f'<dl class="pairs">{"".join(rows)}</dl><p class="soft">{escape(text.ON_GAUSS)}</p>'


def _sixteen_found(ours: Mapping[str, float]) -> str:
    return text.SIXTEEN_FOUND.format(
        block_e4m3=_change(ours["e4m3_32"], ours["e4m3_16"]),
        block_e8m0=_change(ours["e8m0_32"], ours["e8m0_16"]),
        kind=_change(ours["e8m0_32"], ours["e4m3_32"]),
        **{key: percent(error) for key, error in ours.items()},
    )


def _change(before: float, after: float) -> str:
    """What a step does to the error; half a per cent of it is nothing."""
    if before == 0:
        return text.SAME if after == 0 else text.MORE.format(by=percent(after))
    by = after / before - 1
    if abs(by) < 0.005:
        return text.SAME
    words = text.LESS if by < 0 else text.MORE
    return words.format(by=f"{abs(by):.0%}".replace("%", " %"))


def _curve(found: Mapping[str, Any]) -> str:
    curve = found["curve"]
    low, high = curve[0]["rms"], curve[-1]["rms"]
    errors = [point[which] for point in curve for which in ("with", "without")]
    least = min((e for e in errors if e > 0), default=0.01)
    frame = Frame(Axis(low, high, log=True), Axis(max(least / 2, 1e-3), 1.3, log=True))
    levels = [e for e in (0.001, 0.01, 0.1, 1.0) if frame.y.low <= e <= frame.y.high]
    drawn = [frame.across(level, "grid") for level in levels]
    drawn += [frame.upright(place, "place") for place in text.PLACES]
    drawn += [
        frame.line([(p["rms"], p["without"]) for p in curve], "line is-without"),
        frame.line([(p["rms"], p["with"]) for p in curve], "line is-with"),
    ]
    words = [frame.beside(level, f"{100 * level:g} %") for level in levels]
    words += [frame.below(x, _power(x)) for x in _TICKS if low <= x <= high]
    words += [
        frame.inside(x, frame.y.high, name, f"is-place{' minor' * (x == 1)}")
        for x, name in text.PLACES.items()
    ]
    if low <= found["rms"] <= high:
        here = [(found["rms"], found["with"]), (found["rms"], found["without"])]
        drawn += [frame.upright(found["rms"], "here"), frame.dots(here, "here-dot")]
        words.append(frame.inside(found["rms"], frame.y.low, text.HERE, "is-here"))
    key = (
        f'<p class="lens-key"><span><i class="is-with"></i>{escape(text.WITH)}</span>'
        f'<span><i class="is-without"></i>{escape(text.WITHOUT)}</span></p>'
    )
    axis = f'<p class="soft axis-name">{escape(text.CURVE_X)}</p>'
    return f"{key}{plot(text.SECOND_CURVE, drawn, words, 'curve')}{axis}"


def _power(value: float) -> str:
    return (
        f"{value:g}"
        if 0.01 <= value <= 100
        else f"{value:.0e}".replace("e-0", "e−").replace("e+0", "e")
    )


def _second_means(found: Mapping[str, Any]) -> str:
    with_it, without = found["with"], found["without"]
    if without <= _NOTHING * with_it:
        return text.SECOND_NOTHING
    shares = shared.SEMICOLON.join(
        text.SHARES[name].format(share=percent(share))
        for name, share in found["scales"].items()
        if share
    )
    if not shares:  # it is coarser by chance alone
        return text.SECOND_NOTHING
    words = text.SECOND_LITTLE if without < _LITTLE * with_it else text.SECOND_BUYS
    return words.format(shares=shares)
