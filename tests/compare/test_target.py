"""Time to a target loss: steps, tokens, seconds and joules, and what is not compared."""

from __future__ import annotations

import pytest

from playground.compare import RunRecord, run_json, time_to_target, verdict
from playground.presets import defaults
from tests.compare.arms import EMULATED, arm, step

MEASURE = defaults()["measure"]


def _arm(precision: str, target: float | None = 1.0, every: int = 3, **changes) -> RunRecord:
    settings = {
        "measure": MEASURE | {"target_loss": target},
        "training": defaults()["training"] | {"eval_every": every},
    }
    return arm(precision, settings=settings, **{"during": {3: 1.4, 6: 0.9}, **changes})


def test_the_first_evaluation_at_or_below_the_target_counts() -> None:
    found = time_to_target(_arm("fp16"))
    assert (found.steps, found.tokens, found.loss, found.since_step) == (6, 600, 0.9, 3)
    assert time_to_target(_arm("fp16", target=1.4)).steps == 3  # at the target is reached
    assert time_to_target(_arm("fp16", target=0.5)).steps == 9  # by the evaluation after the last


def test_a_target_reached_before_training_took_nothing() -> None:
    found = time_to_target(_arm("fp16", target=3.0))
    assert (found.steps, found.tokens, found.seconds, found.since_step) == (0, 0, 0, None)


def test_never_reached_and_never_asked_are_none() -> None:
    assert time_to_target(_arm("fp16", target=0.1)) is None
    assert time_to_target(_arm("fp16", target=None)) is None


def test_warm_up_counts_as_an_ordinary_step() -> None:
    steps = [step(1, step_ms=60_000.0), *(step(n, step_ms=100.0) for n in range(2, 10))]
    assert time_to_target(_arm("fp16", steps=steps)).seconds == pytest.approx(0.6)
    only = [step(1, step_ms=60_000.0)]  # no other to take the measure from
    assert time_to_target(_arm("fp16", steps=only, during={1: 0.9})).seconds == 60


def test_joules_are_a_sum_in_which_a_step_without_a_tick_is_in_the_next() -> None:
    steps = [step(n, energy_j=2.0) for n in range(1, 10)]
    assert time_to_target(_arm("fp16", steps=steps)).joules == 12
    steps[3:5] = [step(4), step(5, energy_j=4.0)]
    assert time_to_target(_arm("fp16", steps=steps)).joules == 12
    assert time_to_target(_arm("fp16")).joules is None


def test_warm_up_counts_for_joules_as_an_ordinary_step() -> None:
    steps = [step(1, energy_j=900.0), *(step(n, energy_j=2.0) for n in range(2, 10))]
    assert time_to_target(_arm("fp16", steps=steps)).joules == 12


def test_the_sentence_gives_everything_where_all_ran_for_real() -> None:
    steps = [step(n, energy_j=2.0) for n in range(1, 10)]
    text = verdict([_arm("fp16", steps=steps), _arm("nvfp4", steps=steps, during={3: 0.8})]).text
    assert (
        "To a held-out loss of 1 (looked at every 3 steps): FP16 6 steps, 600 tokens, 1.2 s, 12 J; "
        "NVFP4 3 steps, 300 tokens, 0.6 s, 6 J (0.50 times FP16's steps, 0.50 times its seconds, "
        "0.50 times its joules)." in text
    )


def test_emulated_seconds_are_not_compared() -> None:
    text = verdict([_arm("fp32"), _arm("nvfp4", during={3: 0.8}, **EMULATED)]).text
    assert (
        "FP32 6 steps, 600 tokens; NVFP4 3 steps, 300 tokens (0.50 times FP32's steps). "
        "Seconds and joules are not compared where a run was emulated." in text
    )


def test_arms_that_took_the_same_are_told_together() -> None:
    runs = [_arm("fp32"), _arm("fp16", **EMULATED), _arm("nvfp4", during={3: 0.8}, **EMULATED)]
    assert (
        "FP32 and FP16 6 steps, 600 tokens; NVFP4 3 steps, 300 tokens (0.50 times FP32's steps)."
        in verdict(runs).text
    )


def test_never_coming_there_is_said() -> None:
    text = verdict([_arm("fp16", every=0), _arm("nvfp4", after=1.5, during={}, every=0)]).text
    assert "(looked at before and after training only): FP16 6 steps" in text
    assert "NVFP4 never came to it." in text
    assert (
        "To a held-out loss" not in verdict([_arm("fp16", target=None), _arm("nvfp4", None)]).text
    )


def test_seeds_are_averaged_and_counted() -> None:
    runs = [
        _arm("fp16"), _arm("nvfp4"),
        _arm("fp16", seed=43, during={3: 0.9}), _arm("nvfp4", seed=43, during={}, after=1.5),
    ]  # fmt: skip
    text = verdict(runs).text
    assert "FP16 4.5 steps, 450 tokens" in text
    assert "NVFP4 6 steps, 600 tokens, 1.2 s in 1 of 2 seeds" in text
    assert "times FP16's" not in text  # another set of seeds is no comparison


def test_the_json_has_it_for_each_run() -> None:
    found = run_json(_arm("fp16"))
    assert found["target_loss"] == 1.0
    assert found["time_to_target"] == {
        "target_loss": 1.0, "loss": 0.9, "steps": 6, "tokens": 600,
        "seconds": pytest.approx(1.2), "joules": None, "since_step": 3,
    }  # fmt: skip
    assert run_json(_arm("fp16", target=0.1))["time_to_target"] is None


def test_energy_of_a_run_and_of_its_tokens() -> None:
    steps = [step(1, energy_j=900.0), step(2), *(step(n, energy_j=4.0) for n in (3, 4))]
    found = run_json(_arm("fp16", steps=steps))
    assert found["energy_j"] == 908
    assert found["joules_per_token"] == pytest.approx(8 / 300)  # warm-up left out
    assert found["tokens_per_joule"] == pytest.approx(300 / 8)
    unmeasured = run_json(_arm("fp16"))
    keys = ("energy_j", "joules_per_token", "tokens_per_joule")
    assert [unmeasured[key] for key in keys] == [None, None, None]
