"""Arms by precision and seed, and which of their rows may be held against each other."""

from __future__ import annotations

import math

import pytest

from playground.compare import arms, compare_arms, verdict
from tests.compare.arms import arm


def _pair(**candidate):
    return compare_arms(
        *arms(
            [arm("fp16", row_losses=[1.0, 2.0]), arm("nvfp4", row_losses=[1.5, 2.5], **candidate)]
        )
    )


def test_runs_are_gathered_by_precision_in_the_order_of_the_group() -> None:
    records = [arm(p, seed=s) for s in (42, 43) for p in ("nvfp4", "fp16")]
    found = arms(records)
    assert [a.precision for a in found] == ["nvfp4", "fp16"]
    assert [[r.seed for r in a.runs] for a in found] == [[42, 43], [42, 43]]
    assert found[0].eval_loss("after") == 0.5 and found[0].eval_spread() == 0


def test_differences_are_taken_within_a_seed() -> None:
    records = [
        arm("fp16", after=1.0), arm("nvfp4", after=1.01),
        arm("fp16", after=2.0, seed=43), arm("nvfp4", after=2.03, seed=43),
    ]  # fmt: skip
    found = compare_arms(*arms(records))
    assert found.loss_delta == pytest.approx(0.02) and found.seeds == (42, 43)
    # d = 0.01, 0.03: mean 0.02, standard deviation 0.01414, t 12.706, over sqrt(2)
    assert found.noise == pytest.approx(0.12706, abs=1e-4)
    assert found.within_noise is True


def test_both_intervals_are_added_in_quadrature() -> None:
    records = [
        arm("fp16", row_losses=[1.0, 1.0]), arm("nvfp4", row_losses=[1.0, 2.0]),
        arm("fp16", row_losses=[1.0, 1.0], seed=43), arm("nvfp4", row_losses=[1.0, 1.5], seed=43),
    ]  # fmt: skip
    found = compare_arms(*arms(records))
    # Rows: 0 and 0.75 nats over 10 tokens each, so 0 to 0.075. Seeds: 0.05 and 0.025.
    assert (found.rows.low, found.rows.high) == (0, pytest.approx(0.075))
    between = 12.7062 * 0.0125  # half the distance of two values is sqrt(2)/2 of their deviation
    assert found.seeds_half_width == pytest.approx(between)
    assert found.noise == pytest.approx(math.hypot(between, 0.0375))


def test_one_seed_has_an_interval_over_the_rows_and_no_noise() -> None:
    found = _pair()
    assert found.noise is None and found.within_noise is None
    assert (found.interval.low, found.interval.high) == (pytest.approx(0.05), pytest.approx(0.05))


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        ({"eval_sha256": "f" * 64}, "the held-out rows were not the same"),
        ({"eval_sha256": None}, "the losses of the single rows were not kept"),
        ({"row_tokens": [10, 11]}, "the held-out rows had other tokens to predict"),
    ],
)
def test_rows_that_are_not_the_same_are_not_paired_and_that_is_said(
    candidate: dict, why: str
) -> None:
    found = _pair(**candidate)
    assert found.rows is None and found.unpaired == why
    records = [
        arm(p, seed=s, row_losses=[1.0, 2.0], **(candidate if p == "nvfp4" else {}))
        for s in (42, 43)
        for p in ("fp16", "nvfp4")
    ]
    assert f"over the held-out rows it was not measured: {why}." in verdict(records).text


def test_a_single_row_has_no_spread() -> None:
    records = [arm(p, row_losses=[1.0]) for p in ("fp16", "nvfp4")]
    assert compare_arms(*arms(records)).unpaired == "one held-out row has no spread"


def test_a_seed_that_one_arm_did_not_finish_is_left_out_of_both() -> None:
    records = [arm(p, seed=s, after=0.5 + s / 100) for s in (1, 2, 3) for p in ("fp16", "nvfp4")]
    records[5] = arm("nvfp4", seed=3, after=None, status="failed")
    found = compare_arms(*arms(records))
    assert found.seeds == (1, 2)
    assert found.baseline_loss == pytest.approx(0.515)


def test_a_loss_of_zero_is_a_loss() -> None:
    records = [arm("fp16", after=0.0), arm("nvfp4", after=0.25)]
    assert compare_arms(*arms(records)).loss_delta == 0.25
