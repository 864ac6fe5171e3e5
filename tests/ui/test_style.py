"""Colours: text reaches WCAG AA (4.5:1) and lines 3:1 on what they stand on, light and dark."""

from __future__ import annotations

import re

import pytest

from playground.config import PRECISIONS
from playground.ui.theme import FONT, MONO, STYLE, theme

TEXT = ("ink", "soft", "focus", "good", "warn", "bad")
LINES = ("edge", "fp32", "bf16", "fp16", "nvfp4", "other")


def colours(selector: str) -> dict[str, str]:
    block = re.search(rf"^{re.escape(selector)} {{(.*?)^}}", STYLE.read_text(), re.S | re.M)[1]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


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
    for selector in (":root", ".dark"):
        accents = [colours(selector)[name] for name in PRECISIONS]
        assert len(set(accents)) == len(PRECISIONS)
    style = STYLE.read_text()
    assert all(f".arm-{name} {{ --arm: var(--{name}); }}" in style for name in PRECISIONS)


def test_no_font_and_no_style_comes_from_elsewhere() -> None:
    assert "http" not in STYLE.read_text() and "@import" not in STYLE.read_text()
    made = theme()
    assert made._stylesheets == [] and made._font_css == []
    assert list(made._font) == list(FONT) and list(made._font_mono) == list(MONO)
