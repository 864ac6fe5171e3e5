"""What can be asked, and what is said of what cannot."""

from __future__ import annotations

import pytest

from playground.config import SettingsError
from playground.generate import Sampling, parse_sampling
from playground.generate.question import LONGEST_PROMPT, check_prompt


def test_numbers_as_a_person_types_them() -> None:
    typed = {"temperature": "0.7", "top_p": " 0.9 ", "max_new_tokens": "64", "seed": "7"}
    assert parse_sampling(typed) == Sampling(temperature=0.7, top_p=0.9, max_new_tokens=64, seed=7)
    assert parse_sampling({}).temperature == 0  # the likeliest token unless told otherwise


@pytest.mark.parametrize(
    "name, value",
    [
        ("temperature", "-1"),
        ("temperature", "nan"),
        ("temperature", "inf"),
        ("temperature", "0,7"),
        ("temperature", ""),
        ("top_p", "0"),
        ("top_p", "1.1"),
        ("max_new_tokens", "0"),
        ("max_new_tokens", "1e400"),
        ("max_new_tokens", "1.5"),
        ("seed", "-1"),
        ("seed", str(2**63)),
    ],
)
def test_what_cannot_be_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as refused:
        parse_sampling({name: value})
    said = str(refused.value)
    assert said.startswith(f"{name} is '{value}'; it must be ") and said.count(".") < 4


@pytest.mark.parametrize("prompt", ["", " \n\t", "x" * (LONGEST_PROMPT + 1)])
def test_a_question_that_is_none(prompt: str) -> None:
    with pytest.raises(SettingsError, match=r"^The question "):
        check_prompt(prompt)
    assert check_prompt("  kept as typed \n") == "  kept as typed \n"
