"""Typed numbers: read as fp32, or one sentence with the value, the reason and the remedy."""

from __future__ import annotations

import struct

import pytest

from playground.config import SettingsError
from playground.formats import EXAMPLES, read_numbers, written

FIFTEEN = " ".join(["1"] * 15)


@pytest.mark.parametrize("between", [" ", ",", ", ", "; ", "\n", "\t", " ,\n "])
def test_any_usual_separator(between: str) -> None:
    assert read_numbers(between.join(["0.5", "-1e-3"] * 8)) == pytest.approx([0.5, -1e-3] * 8)


def test_brackets_and_a_typographic_minus() -> None:
    assert read_numbers(f"[{', '.join(['−2.5'] * 16)}]") == [-2.5] * 16


def test_numbers_are_those_of_fp32() -> None:
    assert read_numbers(f"{FIFTEEN} 0.1")[-1] == struct.unpack("f", struct.pack("f", 0.1))[0]
    assert read_numbers(f"{FIFTEEN} 3.4028235e38")[-1] > 3.4e38


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "There are no numbers, but a block has 16: add 16."),
        ("1", "There is 1 number, but a block has 16: add 15."),
        (FIFTEEN, "There are 15 numbers, but a block has 16: add 1."),
        (f"{FIFTEEN} 1 1", "There are 17 numbers, but a block has 16: add 15, or take 1 away."),
        (" ".join(["1"] * 80), "There are 80 numbers, and at most 64 are shown; take some away."),
        (f"{FIFTEEN} abc", "Number 16 is 'abc', which is not a number; write it as 0.5 or 5e-1."),
        (f"nan {FIFTEEN}", "Number 1 is 'nan', and 4 bits hold neither NaN nor infinity;"),
        (f"{FIFTEEN} -inf", "Number 16 is '-inf', and 4 bits hold neither"),
        (f"{FIFTEEN} 1e39", "Number 16 is '1e39', beyond fp32"),
        (f"{FIFTEEN} 1e999", "Number 16 is '1e999', beyond fp32"),
        (f"{FIFTEEN} 1e-45", "Number 16 is '1e-45', below the normal numbers of fp32"),
        (f"{FIFTEEN} {'9' * 200}x", f"Number 16 is '{'9' * 30}…', which is not a number"),
        ("1 " * 5000, "The text is 10,000 characters long"),
        (f"{FIFTEEN} <b>", "Number 16 is '<b>', which is not a number"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(typed: str, said: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_numbers(typed)
    sentence = str(error.value)
    assert sentence.startswith(said) and sentence.endswith(".") and "\n" not in sentence


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_can_be_typed(name: str) -> None:
    assert read_numbers(written(EXAMPLES[name])) == pytest.approx(EXAMPLES[name], rel=1e-3)
