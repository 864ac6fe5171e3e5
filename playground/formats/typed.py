"""Numbers that a person typed: read as fp32, or refused in one sentence."""

from __future__ import annotations

import math
import random
import re
import struct

from playground.config import SettingsError

BLOCK = 16
MOST = 64
_LONGEST = 8000
"""Characters: 64 numbers written out in full take less."""
_SMALLEST = 2.0**-126


def read_numbers(text: str) -> list[float]:
    """16, 32, 48 or 64 numbers, separated by spaces, commas, semicolons or lines, as fp32 has them.

    Raises:
        SettingsError: another count, no number, or one that fp32 does not hold as a normal number.
    """
    if len(text) > _LONGEST:
        raise SettingsError(
            f"The text is {len(text):,} characters long; give at most {MOST} numbers."
        )
    words = re.split(r"[\s,;]+", text.strip(" \t\r\n,;[](){}"))
    numbers = [_number(word, place) for place, word in enumerate(words, 1) if word]
    if not numbers or len(numbers) % BLOCK or len(numbers) > MOST:
        raise SettingsError(_wrong_count(len(numbers)))
    return numbers


def written(numbers: list[float]) -> str:
    """Numbers as a person may go on typing: 16 to a block, so many to a line as fit."""
    return ", ".join(f"{number:.4g}" for number in numbers)


def _number(word: str, place: int) -> float:
    shown = word if len(word) <= 30 else f"{word[:30]}…"
    try:
        value = float(word.replace("\u2212", "-"))
    except ValueError:
        raise SettingsError(
            f"Number {place} is '{shown}', which is not a number; write it as 0.5 or 5e-1."
        ) from None
    if math.isnan(value) or "inf" in word.lower():
        raise SettingsError(
            f"Number {place} is '{shown}', and 4 bits hold neither NaN nor infinity; "
            "give a finite number."
        )
    try:
        rounded = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        rounded = math.inf
    if math.isinf(rounded):
        raise SettingsError(
            f"Number {place} is '{shown}', beyond fp32, which all formats start from; "
            "give one up to 3.4e38."
        )
    if value and abs(value) < _SMALLEST:
        raise SettingsError(
            f"Number {place} is '{shown}', below the normal numbers of fp32, which all formats "
            "start from; give 0, or 1.2e-38 and more."
        )
    return rounded


def _wrong_count(count: int) -> str:
    if count > MOST:
        return f"There are {count} numbers, and at most {MOST} are shown; take some away."
    below = count // BLOCK * BLOCK
    more = below + BLOCK - count
    less = f", or take {count - below} away" if below else ""
    return (
        f"There {'is' if count == 1 else 'are'} {count or 'no'} number{'s' * (count != 1)}, but a "
        f"block has {BLOCK}: add {more}{less}."
    )


def _gaussian(count: int, deviation: float, seed: int) -> list[float]:
    draw = random.Random(seed)
    return [float(f"{draw.gauss(0, deviation):.3g}") for _ in range(count)]


def _outlier() -> list[float]:
    """32 numbers like a layer's weights, one of them 25 times as large as the rest."""
    numbers = _gaussian(32, 0.02, 11)
    numbers[21] = 0.5
    return numbers


EXAMPLES: dict[str, list[float]] = {
    "gaussian": _gaussian(32, 0.02, 5),
    "outlier": _outlier(),
    "equal": [0.7] * 16,
    "small": _gaussian(32, 1e-6, 7),
}
"""Numbers to begin with, by name."""
