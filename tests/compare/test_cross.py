"""Adapters on other bases, and what merging loses."""

from __future__ import annotations

import pytest

from playground.compare import arms, run_json, verdict
from playground.compare.cross import cross_losses
from playground.events import CrossEval
from tests.compare.arms import arm


def _cross(base: str, loss: float, merged: bool = False) -> CrossEval:
    return CrossEval(base=base, merged=merged, loss=loss, tokens=10)


FP16 = [_cross("nvfp4", 0.56)]
NVFP4 = [_cross("fp16", 0.53), _cross("bf16", 0.521, True), _cross("nvfp4", 0.9, True)]


def _records(**changes) -> list:
    return [arm("fp16", cross=FP16, **changes), arm("nvfp4", after=0.52, cross=NVFP4, **changes)]


def test_the_adapter_on_its_own_base_is_the_run_s_own_evaluation() -> None:
    assert cross_losses(arms(_records())[0]) == {("fp16", False): 0.5, ("nvfp4", False): 0.56}
    assert cross_losses(arms([arm("fp16")])[0]) == {}


def test_seeds_are_averaged() -> None:
    records = [
        arm("fp16", cross=[_cross("nvfp4", 0.5)]),
        arm("fp16", cross=[_cross("nvfp4", 0.7)], seed=43),
    ]
    assert cross_losses(arms(records)[0])[("nvfp4", False)] == pytest.approx(0.6)


def test_the_verdict_tells_the_bases_and_what_merging_loses() -> None:
    text = verdict(_records()).text
    assert "FP16's adapter on other bases: 0.5600 on NVFP4, 0.5000 on its own." in text
    assert "NVFP4's adapter on other bases: 0.5300 on FP16, 0.5200 on its own." in text
    assert (
        "NVFP4's adapter apart has 0.5200; merged into BF16 it loses 0.0010 nats (0.5210), "
        "into NVFP4's 4-bit weights it loses 0.3800 nats (0.9000)." in text
    )


def test_a_merge_that_helps_is_said_in_the_same_voice() -> None:
    better = [arm("fp16"), arm("nvfp4", after=0.52, cross=[_cross("nvfp4", 0.51, True)])]
    assert "into NVFP4's 4-bit weights it gains 0.0100 nats" in verdict(better).text


def test_nothing_is_said_where_nothing_was_asked() -> None:
    text = verdict([arm("fp16"), arm("nvfp4")]).text
    assert "merged" not in text and "other bases" not in text


def test_the_json_has_every_one() -> None:
    assert run_json(_records()[1])["cross"][0] == {"base": "fp16", "merged": False, "loss": 0.53}
