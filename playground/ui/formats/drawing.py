"""Plots as the server draws them: lines in an SVG that stretches, words in HTML that does not.

Everything is placed in per cent, so one drawing serves a wide screen and a phone, and words keep
their size on both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from playground.formats.words import code_bits
from playground.ui.text import formats as text


@dataclass(frozen=True)
class Axis:
    """From one value to another, linear or by decades."""

    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies, from 0 to 1; what lies beyond an end is drawn at it."""
        low, high, value = (self._on(v) for v in (self.low, self.high, value))
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def _on(self, value: float) -> float:
        return math.log10(max(value, 1e-300)) if self.log else value


@dataclass(frozen=True)
class Frame:
    """Two axes; y grows upwards. Drawn 1000 units wide and high, stretched by the page."""

    x: Axis
    y: Axis

    def at(self, x: float, y: float) -> tuple[float, float]:
        return 1000 * self.x.share(x), 1000 * (1 - self.y.share(y))

    def line(self, points: Iterable[tuple[float, float]], name: str) -> str:
        """A line through points."""
        drawn = "L".join("{:.1f} {:.1f}".format(*self.at(x, y)) for x, y in points)
        return f'<path class="{name}" d="M{drawn}"/>' if drawn else ""

    def dots(self, points: Iterable[tuple[float, float]], name: str) -> str:
        """Dots that stay round: strokes of no length, whose ends are round."""
        drawn = "".join("M{:.1f} {:.1f}h0".format(*self.at(x, y)) for x, y in points)
        return f'<path class="dots {name}" d="{drawn}"/>' if drawn else ""

    def across(self, y: float, name: str) -> str:
        return self.line([(self.x.low, y), (self.x.high, y)], name)

    def upright(self, x: float, name: str) -> str:
        return self.line([(x, self.y.low), (x, self.y.high)], name)

    def bars(self, edges: Sequence[float], heights: Sequence[float], name: str) -> str:
        """Bars side by side from the bottom, as one outline."""
        parts = []
        for left, right, height in zip(edges, edges[1:], heights, strict=False):
            if height > 0:
                (x0, top), (x1, bottom) = self.at(left, height), self.at(right, self.y.low)
                parts.append(f"M{x0:.1f} {bottom:.1f}V{top:.1f}H{x1:.1f}V{bottom:.1f}z")
        return f'<path class="{name}" d="{"".join(parts)}"/>'

    def below(self, x: float, words: str, name: str = "") -> str:
        """Words under the plot."""
        return _word(words, f"x-word {name}", f"left:{100 * self.x.share(x):.2f}%")

    def beside(self, y: float, words: str, name: str = "") -> str:
        """Words at its left."""
        return _word(words, f"y-word {name}", f"top:{100 * (1 - self.y.share(y)):.2f}%")

    def inside(self, x: float, y: float, words: str, name: str = "") -> str:
        """Words at a place in it, to the left of it near the right end."""
        left, top = self.at(x, y)
        side = " is-left" if left > 800 else ""
        place = f"left:{left / 10:.2f}%;top:{top / 10:.2f}%"
        return _word(words, f"in-word {name}{side}", place)


def plot(said: str, drawn: Iterable[str], words: Iterable[str], name: str, more: str = "") -> str:
    """A figure: ``said`` is what it shows, for who does not see it; ``more`` are attributes."""
    return (
        f'<div class="lens-plot {name}" role="img" aria-label="{escape(said)}"{more}>'
        f'<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(drawn)}</svg>{''.join(words)}</div>"
    )


def _word(words: str, name: str, place: str) -> str:
    return f'<span class="{name.strip()}" style="{place}" aria-hidden="true">{escape(words)}</span>'


def prose(sentence: str) -> str:
    """A sentence as text, in which no figure is parted from its %."""
    return escape(sentence).replace(" %", "&nbsp;%")


_SIGN_FIRST = ("is-sign", "is-exponent", "is-mantissa")


def bits(code: int, widths: tuple[int, ...]) -> str:
    """A code's bits, those of each field underlined in its colour."""
    names = {8: ("is-exponent",), 4: ("is-place",)}.get(widths[0], _SIGN_FIRST)
    fields = zip(code_bits(code, widths), names, strict=True)
    parts = "".join(f'<i class="{name}">{field}</i>' for field, name in fields)
    return f'<span class="bits">{parts}</span>'


def bits_key() -> str:
    names = zip(_SIGN_FIRST, (text.SIGN, text.EXPONENT, text.MANTISSA), strict=True)
    parts = " ".join(f'<span class="bits"><i class="{c}">{escape(w)}</i></span>' for c, w in names)
    return f'<p class="soft bits-key">{text.BITS_KEY} {parts}</p>'
