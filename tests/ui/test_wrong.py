"""Which field a sentence of refusal is about, and what a browser that kept the form may bring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.own_presets import save_preset
from playground.presets import load_preset
from playground.ui import form, remembered, wrong

QUICK = load_preset("quick")
WRONG = {
    "max_steps": "-1",
    "learning_rate": "0,0002",
    "seed": "true",
    "model": "tinny",
    "dataset": "",
    "seeds": "0",
    "precisions": [],
    "schedule": "round",
    "merge_check": "perhaps",
    "warmup_share": "nan",
}


@pytest.mark.parametrize("key", WRONG)
def test_each_sentence_is_told_beside_its_field(key: str) -> None:
    with pytest.raises(SettingsError) as refused:
        form.read("quick", form.values(QUICK) | {key: WRONG[key]})
    assert list(wrong.fields(str(refused.value))) == [key]


def test_several_are_told_apart() -> None:
    asked = form.values(QUICK) | {"max_steps": "-1", "grad_accum_steps": "x", "model": "tinny"}
    with pytest.raises(SettingsError) as refused:
        form.read("quick", asked)
    told = wrong.fields(str(refused.value))
    assert set(told) == {"max_steps", "grad_accum_steps", "model"}
    assert told["max_steps"].startswith("max_steps is '-1'") and told["model"].endswith("'tiny'?")
    notice = wrong.told(str(refused.value), "<b>")
    assert "<b>" not in notice and "&quot;training&quot;" in notice


def kept(base: str, **changes: object) -> str:
    return json.dumps([base, *(form.values(QUICK) | changes).values()])


def test_the_form_comes_back_as_it_was_typed(tmp_path: Path) -> None:
    preset, values = remembered.recalled(kept("smollm2", max_steps="0,5"), tmp_path)
    assert preset.name == "smollm2"
    assert dict(zip(form.KEYS, values, strict=True))["max_steps"] == "0,5"
    save_preset(QUICK, "mine", tmp_path)
    assert remembered.recalled(kept("mine"), tmp_path)[0].own


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "[]",
        "7",
        "[" * 5000,
        '["quick"]',
        kept("gone"),
        kept("/etc/passwd.yaml"),
        kept("quick", precisions="fp16"),
        kept("quick", max_steps=7),
        kept("quick", title="x" * 20_000),
    ],
)
def test_what_is_no_form_is_left(said: str, tmp_path: Path) -> None:
    assert remembered.recalled(said, tmp_path) is None
