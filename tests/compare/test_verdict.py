"""The verdict: the numbers, the sentence, and what it must not claim."""

from __future__ import annotations

import math

import pytest

from playground.compare import verdict
from tests.compare.arms import EMULATED, arm, step


def _steps(rate: float) -> list:
    return [step(n, tokens_per_s=rate * (1 + n / 1000)) for n in range(1, 10)]


def test_the_loss_difference_is_said_in_nats_and_in_perplexity() -> None:
    found = verdict([arm("fp16", after=0.5), arm("nvfp4", after=0.51)])
    assert found.loss_delta == pytest.approx(0.01)
    assert "0.0100 nats above FP16's 0.5000 (perplexity 1.0% higher)" in found.text


def test_better_is_said_in_the_same_voice() -> None:
    found = verdict([arm("fp16", after=0.5), arm("nvfp4", after=0.4)])
    assert "below FP16's 0.5000 (perplexity 9.5% lower)" in found.text


def test_emulation_claims_no_speed_and_no_peak() -> None:
    arms = [
        arm("fp16", steps=_steps(500), peak_mib=100, converted_weights_mib=16.0, **EMULATED),
        arm(
            "nvfp4",
            steps=_steps(900),
            peak_mib=50,
            converted_weights_mib=4.5,
            bits_per_converted_weight=4.5,
            **EMULATED,
        ),
    ]
    found = verdict(arms)
    assert (found.speed_ratio, found.memory_ratio) == (None, None)
    assert "not compared: FP16 and NVFP4 ran emulated" in found.text
    assert "4.50 bits each, 28.1% of FP16's" in found.text
    assert "faster" not in found.text and "slower" not in found.text


def test_every_emulated_arm_is_named() -> None:
    arms = [arm("fp32"), arm("fp16", **EMULATED), arm("bf16", **EMULATED), arm("nvfp4", **EMULATED)]
    assert "FP16, BF16 and NVFP4 ran emulated" in verdict(arms).text


def test_the_whole_model_shrinks_by_less_than_its_converted_weights() -> None:
    sizes = {"converted_weights_mib": 16.0, "weights_mib": 20.0}
    small = {"converted_weights_mib": 4.5, "weights_mib": 8.5, "bits_per_converted_weight": 4.5}
    text = verdict([arm("fp16", **EMULATED, **sizes), arm("nvfp4", **EMULATED, **small)]).text
    assert "all weights, 42.5% (8.50 against 20.00 MiB)" in text


def test_how_much_the_losses_rest_on_is_said() -> None:
    text = verdict([arm("fp16", rows={"eval": 3}), arm("nvfp4", rows={"eval": 3})]).text
    assert "judged on 10 held-out tokens of 3 rows" in text


def test_skipped_updates_are_named() -> None:
    skipping = [step(n, skipped=n < 3) for n in range(1, 10)]
    assert "FP16 skipped 2 of 9 updates" in verdict([arm("fp16", steps=skipping), arm("bf16")]).text


def test_one_emulated_arm_is_enough_to_claim_nothing() -> None:
    found = verdict([arm("fp32", peak_mib=100), arm("nvfp4", peak_mib=50, **EMULATED)])
    assert (found.speed_ratio, found.memory_ratio) == (None, None)


@pytest.mark.parametrize(
    ("rate", "words"),
    [(1000, "faster: 2.00"), (250, "slower: 0.50"), (500, "within the spread of the steps")],
)
def test_native_speed_is_said_as_it_is(rate: float, words: str) -> None:
    found = verdict([arm("fp16", steps=_steps(500)), arm("nvfp4", steps=_steps(rate))])
    assert words in found.text


@pytest.mark.parametrize(("peak", "words"), [(60, "less memory: 0.60"), (120, "more memory: 1.20")])
def test_native_memory_is_said_as_it_is(peak: float, words: str) -> None:
    found = verdict([arm("fp16", peak_mib=100), arm("nvfp4", peak_mib=peak)])
    assert words in found.text
    assert found.memory_ratio == pytest.approx(peak / 100)


def test_warm_up_steps_do_not_count_for_speed() -> None:
    slow_start = [step(1, tokens_per_s=1.0), *_steps(500)[1:]]
    found = verdict([arm("fp16", steps=_steps(500)), arm("nvfp4", steps=slow_start)])
    assert found.speed_ratio == pytest.approx(1.0)


def test_a_failure_is_a_result_with_its_step_and_reason() -> None:
    failed = arm("nvfp4", after=None, status="failed", error="Out of memory", steps=[step(7)])
    found = verdict([arm("fp16"), failed])
    assert "NVFP4 failed at step 7 (Out of memory)." in found.text
    assert found.loss_delta is None


def test_an_arm_that_finished_is_not_forgotten_when_another_did_not() -> None:
    stopped = arm("nvfp4", after=None, status="stopped", steps=[step(3)])
    text = verdict([arm("fp16", after=0.5), stopped]).text
    assert "FP16 finished at a held-out loss of 0.5000. NVFP4 was stopped at step 3." in text


def test_a_divergence_does_not_pass_its_last_loss_off_as_a_result() -> None:
    found = verdict([arm("fp16"), arm("nvfp4", after=None, status="diverged", steps=[step(7)])])
    assert "NVFP4 diverged at step 7." in found.text
    assert found.loss_delta is None


def test_a_final_loss_that_is_not_finite_is_named() -> None:
    assert "not finite" in verdict([arm("fp16"), arm("nvfp4", after=math.nan)]).text


def test_unfair_comes_first() -> None:
    found = verdict([arm("fp16"), arm("nvfp4", batches_sha256="c" * 64)])
    assert found.text.startswith("Not a controlled comparison")


def test_still_running_and_alone() -> None:
    assert "1 of 2 done" in verdict([arm("fp16"), arm("nvfp4", status="queued")]).text
    waiting = [arm(p, status="queued", steps=[], after=None) for p in ("fp16", "nvfp4")]
    assert verdict(waiting).text == "Waiting for its turn."
    assert "nothing to compare" in verdict([arm("fp16")]).text


def test_with_three_arms_the_numbers_are_the_smallest_ones() -> None:
    found = verdict([arm("fp32", after=0.5), arm("nvfp4", after=0.6), arm("fp16", after=0.5)])
    assert found.loss_delta == pytest.approx(0.1)
    assert "FP16 ends at the same held-out loss as FP32" in found.text


def test_seeds_were_not_measured_and_that_is_said() -> None:
    found = verdict([arm("fp16"), arm("nvfp4")])
    assert found.loss_delta_noise is None
    assert "spread between seeds was not measured" in found.text
