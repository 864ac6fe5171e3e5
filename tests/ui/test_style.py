"""Colours: text reaches WCAG AA (4.5:1) and lines 3:1 on what they stand on, light and dark."""

from __future__ import annotations

import math
import re
from itertools import combinations

import pytest

from playground.config import PRECISIONS
from playground.ui.theme import FONT, MONO, style, theme

TEXT = ("ink", "soft", "focus", "good", "warn", "bad")
ACCENTS = tuple(dict.fromkeys([*PRECISIONS, "fp8", "mxfp4", "nf4"]))
LINES = ("edge", *ACCENTS, "other")
CLOSEST = 0.07
"""Least distance of two accents in OKLab, where black and white are 1 apart."""

SIGHT = {  # Machado et al. 2009, severity 1: what a person sees of linear red, green and blue
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
OKLAB = (  # Ottosson 2020: linear rgb to cone responses, their cube roots to lightness, a, b
    (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    ),
    (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    ),
)


def colours(selector: str) -> dict[str, str]:
    block = re.search(rf"^{re.escape(selector)} {{(.*?)^}}", style(), re.S | re.M)[1]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def linear(colour: str) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def luminance(colour: str) -> float:
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def turned(matrix, vector) -> list[float]:
    return [sum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix]


def seen(colour: str, sight) -> list[float]:
    """OKLab of what a person with this sight sees."""
    light = [min(max(part, 0), 1) for part in turned(sight, linear(colour))]
    to_cones, to_lab = OKLAB
    return turned(to_lab, [cone ** (1 / 3) for cone in turned(to_cones, light)])


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("selector", [":root", ".dark"])
def test_everything_can_be_told_from_its_background(selector: str) -> None:
    known = colours(selector)
    for ground in ("paper", "sheet", "well"):
        for names, least in ((TEXT, 4.5), (LINES, 3.0)):
            for name in names:
                found = contrast(known[name], known[ground])
                assert found >= least, f"{name} on {ground} has {found:.2f}:1, not {least}:1"
    assert contrast(known["action"], known["on-action"]) >= 4.5


def test_every_precision_has_an_accent_of_its_own() -> None:
    sheets = style()
    for name in ACCENTS:
        assert name in colours(":root") and name in colours(".dark"), f"{name} has no colour"
        assert f".arm-{name} {{ --arm: var(--{name}); }}" in sheets


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("selector", [":root", ".dark"])
def test_accents_can_be_told_apart_whoever_looks(selector: str, sight: str) -> None:
    known = colours(selector)
    for one, other in combinations(ACCENTS, 2):
        found = math.dist(seen(known[one], SIGHT[sight]), seen(known[other], SIGHT[sight]))
        assert found >= CLOSEST, f"{one} and {other} look alike ({found:.3f})"


def test_no_font_and_no_style_comes_from_elsewhere() -> None:
    assert "http" not in style() and "@import" not in style()
    made = theme()
    assert made._stylesheets == [] and made._font_css == []
    assert list(made._font) == list(FONT) and list(made._font_mono) == list(MONO)
