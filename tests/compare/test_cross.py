"""Adapters on other bases, and what merging costs."""

from __future__ import annotations

import math

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


def test_the_verdict_tells_the_bases_and_what_merging_costs() -> None:
    text = verdict(_records()).text
    assert (
        "On another base: FP16's adapter has 0.5600 on NVFP4 (0.5000 on its own); "
        "NVFP4's adapter has 0.5300 on FP16 (0.5200 on its own)." in text
    )
    assert (
        "Merging, against the adapter kept apart: NVFP4's into BF16 costs 0.0010 nats (0.5210; "
        "kept apart on NVFP4 it has 0.5200); NVFP4's into NVFP4 costs 0.3800 nats (0.9000; "
        "kept apart on NVFP4 it has 0.5200)." in text
    )


def test_merging_is_held_against_the_same_base_where_it_can_be() -> None:
    cross = [_cross("nvfp4", 0.56), _cross("nvfp4", 0.55, True), _cross("fp16", 0.5, True)]
    text = verdict([arm("fp16", cross=cross), arm("nvfp4")]).text
    assert "FP16's into NVFP4 saves 0.0100 nats (0.5500; kept apart on NVFP4 it has 0.5600)" in text
    assert "FP16's into FP16 costs nothing (0.5000; kept apart on FP16 it has 0.5000)" in text


def test_of_very_many_only_the_largest_changes_are_told() -> None:
    names = ("fp32", "bf16", "fp8", "mxfp4", "nf4", "nvfp4", "nvfp4-2d", "nvfp4-weight-only")
    small = [_cross(base, 0.5 + n / 1000) for n, base in enumerate(names)]
    records = [arm("fp16", cross=small), arm("nvfp4", cross=[_cross("fp16", 0.9)])]
    text = verdict(records).text
    assert "FP16's adapter has 0.5010 on BF16" in text and "on FP32" not in text
    assert "NVFP4's adapter has 0.9000 on FP16 (0.5000 on its own); the other 1 differ" not in text
    assert "NVFP4's adapter has 0.9000 on FP16 (0.5000 on its own); another differs by less" in text
    more = [arm("fp16", cross=small), arm("nvfp4", cross=[*small[:5], *small[6:]])]
    assert "; the other 7 differ by less." in verdict(more).text


def test_nothing_is_said_where_nothing_was_asked() -> None:
    text = verdict([arm("fp16"), arm("nvfp4")]).text
    assert "Merging" not in text and "another base" not in text


def test_the_json_has_every_one() -> None:
    assert run_json(_records()[1])["cross"][0] == {"base": "fp16", "merged": False, "loss": 0.53}


def test_a_merge_into_nothing_finite_is_said() -> None:
    lost = [arm("fp16"), arm("nvfp4", cross=[_cross("nvfp4", math.nan, True)])]
    assert "NVFP4's into NVFP4 is not finite." in verdict(lost).text
    assert run_json(lost[1])["cross"][0]["loss"] is None


def test_a_healed_run_s_own_base_is_what_it_healed_to() -> None:
    healed = arm(
        "nvfp4", after=0.4, healed_at_step=5, healed_to="bf16", cross=[_cross("nvfp4", 0.6)]
    )
    assert cross_losses(arms([healed])[0]) == {("bf16", False): 0.4, ("nvfp4", False): 0.6}
    assert (
        "NVFP4's adapter has 0.6000 on NVFP4 (0.4000 on its own)"
        in verdict([arm("fp16"), healed]).text
    )
