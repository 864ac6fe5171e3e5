"""The verdict: the numbers, the sentence, and what it must not claim."""

from __future__ import annotations

import math

import pytest

from playground.compare import verdict
from playground.events import Coverage
from tests.compare.arms import EMULATED, arm, step


def _steps(rate: float) -> list:
    return [step(n, tokens_per_s=rate * (1 + n / 1000)) for n in range(1, 10)]


def _covered(layers: int) -> Coverage:
    return Coverage(converted=layers, skipped=(), share_of_linear_weights=layers / 36)


def test_the_loss_difference_is_said_in_nats_and_in_perplexity() -> None:
    found = verdict([arm("fp16", after=0.5), arm("nvfp4", after=0.51)])
    assert found.loss_delta == pytest.approx(0.01)
    assert "0.0100 nats above FP16's 0.5000." in found.text
    assert found.headline == "NVFP4 ends at 1.0% higher perplexity than FP16 (one seed)."
    assert found.text.startswith(found.headline)


def test_better_is_said_in_the_same_voice() -> None:
    found = verdict([arm("fp16", after=0.5), arm("nvfp4", after=0.4)])
    assert "0.1000 nats below FP16's 0.5000." in found.text
    assert found.headline == "NVFP4 ends at 9.5% lower perplexity than FP16 (one seed)."


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


def test_layers_kept_in_16_bits_are_not_credited_to_the_format() -> None:
    whole = {"converted_weights_mib": 16.0, "coverage": _covered(35)}
    part = {
        "converted_weights_mib": 3.6,
        "bits_per_converted_weight": 4.5,
        "coverage": _covered(28),
    }
    text = verdict([arm("fp16", **EMULATED, **whole), arm("nvfp4", **EMULATED, **part)]).text
    assert "take 4.50 bits each, in 28 layers against 35 of FP16's." in text
    assert "22.5%" not in text


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
    assert "Only FP16 finished, at a held-out loss of 0.5000.\nNVFP4 was stopped at step 3." in text


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
    assert "cannot be told from one seed; repeat with --seeds 3." in found.text


def test_one_seed_has_the_interval_of_its_rows() -> None:
    found = verdict([arm("fp16", row_losses=[5, 5]), arm("nvfp4", row_losses=[5.1, 5.3])])
    assert found.headline == (
        "NVFP4 ends at 2.0% higher perplexity than FP16 "
        "(95% over the held-out rows: 1.0% to 3.0%; one seed)."
    )
    assert (
        "0.0200 nats above FP16's 0.5000 (95% over the held-out rows: 0.0100 to 0.0300 nats)."
        in found.text
    )
    assert found.loss_delta_noise is None


def test_one_seed_whose_rows_disagree_is_not_passed_off_as_a_finding() -> None:
    records = [arm("fp16", row_losses=[5, 5]), arm("nvfp4", row_losses=[4.8, 5.1])]
    assert verdict(records).headline == (
        "NVFP4 ends at 0.50% lower perplexity than FP16, which may be chance "
        "(95% over the held-out rows: −2.0% to 1.0%; one seed)."
    )
    records.append(arm("mxfp4", row_losses=[5.1, 5.3]))
    assert verdict(records).headline == (
        "Perplexity against FP16's over one seed: NVFP4 too close to tell; MXFP4 2.0% higher."
    )


class TestSeeds:
    """Differences that are noise and differences that are not, in one voice."""

    def _arms(self, *deltas: float, precision: str = "nvfp4", base: float = 0.5) -> list:
        records = []
        for seed, delta in enumerate(deltas, 42):
            records += [
                arm("fp16", after=base + seed / 1000, seed=seed, eval_sha256=None),
                arm(precision, after=base + seed / 1000 + delta, seed=seed, eval_sha256=None),
            ]
        return records

    def test_within_noise(self) -> None:
        found = verdict(self._arms(0.001, -0.001, 0.0012))
        assert found.headline == (
            "NVFP4 is within noise of FP16: 0.04% higher perplexity "
            "(95%: −0.26% to 0.34%; 3 seeds)."
        )
        assert "0.0004 nats above FP16's 0.5430 and within noise (95%: " in found.text
        # mean 0.0004, deviation 0.001217, t 4.3027, over sqrt(3)
        assert found.loss_delta_noise == pytest.approx(0.003022, abs=1e-6)

    def test_above_and_below_noise(self) -> None:
        found = verdict(self._arms(0.0201, 0.02, 0.0199))
        assert found.headline == (
            "NVFP4 ends at 2.0% higher perplexity than FP16 (95%: 2.0% to 2.0%; 3 seeds)."
        )
        assert "within noise" not in found.text
        lower = verdict(self._arms(-0.0201, -0.02, -0.0199))
        assert "ends at 2.0% lower perplexity than FP16" in lower.headline

    def test_the_same_result_in_every_seed(self) -> None:
        found = verdict(self._arms(0.0, 0.0, precision="bf16"))
        assert found.headline.startswith("BF16 is within noise of FP16: the same perplexity")
        assert found.loss_delta_noise == 0

    @pytest.mark.parametrize(
        ("deltas", "said"),
        [
            ((0.001, -0.001, 0.0012), "yes for NVFP4 (at most 0.34%)."),
            ((0.0201, 0.02, 0.0199), "no for NVFP4 (at least 2.0%)."),
            ((0.004, 0.012, 0.008), "open for NVFP4 (−0.19% to 1.8%)."),
            ((-0.0201, -0.02, -0.0199), "yes for NVFP4 (at most −2.0%)."),
        ],
    )
    def test_under_one_percent_is_answered(self, deltas: tuple, said: str) -> None:
        claim = "Does it cost under 1%, as is often claimed? In perplexity, at 95%: "
        assert claim + said in verdict(self._arms(*deltas)).text

    def test_sixteen_bits_are_not_asked_for_the_claim(self) -> None:
        assert "under 1%" not in verdict(self._arms(0.0, 0.001, precision="bf16")).text

    def test_the_difference_as_a_share_of_the_loss(self) -> None:
        text = verdict(self._arms(0.002, 0.002, base=-0.033)).text  # baselines of 0.009 and 0.01
        assert (
            "NVFP4's loss itself is 21.1% higher (95%: 21.1% to 21.1%), a share of a loss near zero"
            in text
        )
        assert "near zero" not in verdict(self._arms(0.002, 0.002)).text

    def test_what_it_rests_on(self) -> None:
        rows = [
            arm(p, seed=s, row_losses=[5.0, 5.0 + (p == "nvfp4") * s / 100], rows={"eval": 2})
            for s in (42, 43)
            for p in ("fp16", "nvfp4")
        ]
        text = verdict(rows).text
        assert "Seeds 42 and 43 of each, judged on 10 held-out tokens of 2 rows; " in text
        assert "NVFP4's noise at 95% is ±0.0032 nats between seeds and ±0.0212 over the" in text

    def test_many_arms_make_one_sentence(self) -> None:
        records = [
            arm(p, after=0.5 + d + d * s / 100, seed=42 + s)
            for s in (0, 1, 2)
            for p, d in (("fp32", 0.0), ("bf16", 0.0), ("fp16", 0.0), ("mxfp4", 0.02))
        ]
        found = verdict(records)
        assert found.headline == (
            "Perplexity against FP32's over 3 seeds: BF16 and FP16 within noise; MXFP4 2.0% higher."
        )
        assert "nats above FP32's 0.5000 (perplexity 2.0% higher; 95%: " in found.text
        assert [c.candidate.label for c in found.comparisons] == ["BF16", "FP16", "MXFP4"]
        one = verdict([r for r in records if r.seed == 42])
        assert one.headline == (
            "Perplexity against FP32's over one seed: BF16 the same; FP16 the same; "
            "MXFP4 2.0% higher."
        )

    def test_one_precision_says_how_far_its_seeds_lie_apart(self) -> None:
        text = verdict([arm("fp16", after=0.5), arm("fp16", after=0.6, seed=43)]).text
        assert "from 2.000 to 0.550 ± 0.0707 (standard deviation over 2 seeds)" in text


class TestUnfinished:
    """What has finished is compared; what has not is told."""

    def test_a_failed_arm_does_not_silence_the_others(self) -> None:
        failed = arm(
            "mxfp4", after=None, status="failed", cause="out of memory", error="2 GiB.",
            steps=[step(4)],
        )  # fmt: skip
        found = verdict([arm("fp16"), failed, arm("nvfp4", after=0.51)])
        assert found.loss_delta == pytest.approx(0.01)
        assert found.headline == "NVFP4 ends at 1.0% higher perplexity than FP16 (one seed)."
        assert "MXFP4 failed at step 4, out of memory (2 GiB)." in found.text

    def test_without_the_yardstick_the_next_is_taken_and_that_is_said(self) -> None:
        failed = arm("fp32", after=None, status="interrupted", cause="killed", steps=[])
        found = verdict([failed, arm("fp16"), arm("nvfp4", after=0.51)])
        assert "NVFP4 ends at 1.0% higher perplexity than FP16" in found.headline
        assert "FP32 did not finish, so the others are held against FP16." in found.text
        assert "FP32 was interrupted before its first step, killed." in found.text

    def test_a_seed_that_failed_is_named_and_left_out(self) -> None:
        records = [arm(p, seed=s) for s in (42, 43, 44) for p in ("fp16", "nvfp4")]
        records[3] = arm("nvfp4", seed=43, after=None, status="diverged", cause="not finite",
                         error="At step 7 the loss became nan.", steps=[step(7)])  # fmt: skip
        text = verdict(records).text
        assert "NVFP4 (seed 43) diverged at step 7 (At step 7 the loss became nan)." in text
        assert "Seeds 42 and 44 of each" in text

    def test_no_seed_in_common(self) -> None:
        records = [
            arm("fp16"), arm("nvfp4", after=None, status="stopped"),
            arm("fp16", seed=43, after=None, status="failed"), arm("nvfp4", seed=43),
        ]  # fmt: skip
        found = verdict(records)
        assert "NVFP4 and FP16 finished no seed in common." in found.text
        assert found.loss_delta is None

    def test_nothing_finished(self) -> None:
        records = [arm(p, after=None, status="paused", steps=[step(3)]) for p in ("fp16", "nvfp4")]
        found = verdict(records)
        assert found.headline == "FP16 was paused at step 3."
        assert found.text.endswith("No two final losses to compare.")

    def test_what_two_arms_say_already_is_told_while_others_run(self) -> None:
        records = [arm("fp16"), arm("nvfp4", after=0.51), arm("fp16", seed=43, status="running")]
        found = verdict(records)
        assert found.headline == "Still running: 2 of 3 done."
        assert "So far: NVFP4 ends at a held-out loss of 0.5100, 0.0100 nats above" in found.text
        assert found.loss_delta is None


def test_healing_is_told() -> None:
    healed = arm("nvfp4", healed_at_step=6, healed_to="bf16")
    text = verdict([arm("fp16"), healed]).text
    assert "NVFP4 was healed: from step 6 on it ran in BF16, and its speed and memory are" in text
    assert text.startswith("Healed NVFP4 ends at the same perplexity as FP16")
    many = verdict([arm("fp16"), healed, arm("nf4")]).headline
    assert many.endswith("over one seed: healed NVFP4 the same; NF4 the same.")


def test_energy_is_said_where_both_ran_for_real() -> None:
    def joules(n: float) -> list:
        return [step(i, energy_j=n) for i in range(1, 10)]

    records = [arm("fp16", steps=joules(50.0)), arm("nvfp4", steps=joules(20.0))]
    assert "It uses less energy: 0.40 times FP16's (0.2 against 0.5 joules a token)." in (
        verdict(records).text
    )
    emulated = [arm("fp16", steps=joules(5.0)), arm("nvfp4", steps=joules(2.0), **EMULATED)]
    assert "energy" not in verdict(emulated).text
