"""The JSON contract: exactly these keys, nothing that JSON cannot hold."""

from __future__ import annotations

import json
import math

import pytest

from playground.compare import group_json
from tests.compare.arms import arm, step

RUN_KEYS = {
    "id requested effective how status error steps tokens train_loss_first train_loss_last "
    "eval_loss_before eval_loss_after step_ms_median tokens_per_s_median warmup_steps memory "
    "batches_sha256 adapter_init_sha256 coverage "
    "seed cause energy_j joules_per_token time_to_target cross predicted"
}


def _summary(*arms) -> dict:
    device = {"name": "Test CPU", "kind": "cpu"}
    return group_json(group="g1", preset="quick", device=device, records=list(arms))


def test_every_key_of_the_contract_is_there() -> None:
    out = _summary(arm("fp16"), arm("nvfp4"))
    assert set(out) == {"group", "preset", "device", "runs", "fair", "verdict"}
    for run in out["runs"]:
        assert set(" ".join(RUN_KEYS).split()) <= set(run)
        assert set(run["memory"]) == {
            "weights_mib",
            "adapters_mib",
            "optimizer_mib",
            "peak_mib",
            "source",
        }
        assert set(run["predicted"].values()) == {None}
    assert out["fair"] == {
        "same_batches": True,
        "same_adapter_init": True,
        "same_eval_rows": True,
        "seeds_differ": None,
        "only_difference": ["precision"],
    }
    assert set(out["verdict"]) == {
        "text",
        "headline",
        "comparisons",
        "loss_delta",
        "loss_delta_noise",
        "speed_ratio",
        "memory_ratio",
    }


def test_nan_does_not_reach_the_json() -> None:
    out = _summary(arm("fp16", steps=[step(1, math.nan)], after=math.nan), arm("nvfp4"))
    json.dumps(out, allow_nan=False)
    assert out["runs"][0]["train_loss_last"] is None


def test_a_perplexity_beyond_all_floats_is_told_and_is_no_number() -> None:
    arms = [
        arm(p, seed=s, row_losses=[5.0 + (p == "nvfp4") * (20_000 + s)] * 2)
        for s in (42, 43)
        for p in ("fp16", "nvfp4")
    ]
    verdict = _summary(*arms)["verdict"]
    json.dumps(verdict, allow_nan=False)
    [found] = verdict["comparisons"]
    assert found["loss_delta"] > 1000 and found["perplexity_change"] is None
    assert found["perplexity_interval"] == [None, None]
    assert verdict["headline"].startswith("NVFP4 ends at over 10,000% higher perplexity than FP16")


def test_steps_tokens_and_warm_up_are_counted() -> None:
    run = _summary(arm("fp16"))["runs"][0]
    assert (run["steps"], run["tokens"], run["warmup_steps"]) == (9, 900, 1)


def test_a_run_without_steps_has_no_numbers_rather_than_zeros() -> None:
    run = _summary(arm("fp16", steps=[], after=None, status="failed", error="No"))["runs"][0]
    assert run["train_loss_first"] is None and run["tokens_per_s_median"] is None
    assert run["error"] == "No"


def test_each_candidate_is_compared_in_numbers() -> None:
    arms = [
        arm(p, seed=s, row_losses=[5.0, 5.0 + (p == "nvfp4") * s / 1000])
        for s in (42, 43)
        for p in ("fp16", "nvfp4")
    ]
    [found] = _summary(*arms)["verdict"]["comparisons"]
    assert (found["baseline"], found["candidate"], found["seeds"]) == ("fp16", "nvfp4", [42, 43])
    assert found["loss_delta"] == pytest.approx(0.002125)
    assert found["rows_interval"] == [0.0, pytest.approx(0.00425)]
    assert found["loss_delta_noise"] == pytest.approx(
        math.hypot(found["seeds_half_width"], 0.002125)
    )
    low, high = found["perplexity_interval"]
    assert low < found["perplexity_change"] < high
    assert found["costs_under_1_percent"] == "yes"
    [one] = _summary(*arms[:2])["verdict"]["comparisons"]
    assert one["loss_delta_noise"] is None and one["costs_under_1_percent"] is None
    assert one["perplexity_interval"] == [0.0, pytest.approx(math.expm1(0.0042))]
