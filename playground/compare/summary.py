"""A comparison as JSON: the contract that scripts outside rely on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from playground.compare.fairness import fairness
from playground.compare.losses import perplexity_change, perplexity_interval, under_claim
from playground.compare.noise import Interval
from playground.compare.paired import Comparison
from playground.compare.predicted import PARTS
from playground.compare.records import RunRecord
from playground.compare.target import time_to_target
from playground.compare.verdict import verdict


def run_json(record: RunRecord) -> dict[str, Any]:
    """One entry of ``runs`` in the JSON of ``compare``; what was not measured is None."""
    facts, reached = record.facts, time_to_target(record)
    per_token = record.joules_per_token
    return {
        "id": record.id,
        "requested": record.config.precision,
        "seed": record.seed,
        "effective": facts.effective,
        "how": facts.how,
        "how_reason": facts.how_reason,
        "status": record.status,
        "error": record.error,
        "cause": record.cause,
        "steps": len(record.steps),
        "tokens": sum(s.tokens for s in record.steps),
        "padded_tokens": sum(s.padded_tokens for s in record.steps),
        "train_loss_first": _finite(record.steps[0].loss) if record.steps else None,
        "train_loss_last": _finite(record.steps[-1].loss) if record.steps else None,
        "eval_loss_before": _finite(record.eval_loss("before")),
        "eval_loss_after": _finite(record.eval_loss("after")),
        "exact_match_before": record.exact_match("before"),
        "exact_match_after": record.exact_match("after"),
        "step_ms_median": record.step_ms_median,
        "tokens_per_s_median": record.tokens_per_s_median,
        "warmup_steps": sum(s.warmup for s in record.steps),
        "skipped_updates": record.skipped_updates,
        "energy_j": record.energy_j,
        "joules_per_token": per_token,
        "tokens_per_joule": 1 / per_token if per_token else None,
        "target_loss": record.config.measure.target_loss,
        "time_to_target": reached.to_dict() if reached else None,
        "healed_at_step": facts.healed_at_step,
        "healed_to": facts.healed_to,
        "cross": [
            {"base": c.base, "merged": c.merged, "loss": _finite(c.loss)} for c in record.cross
        ],
        "memory": {
            "weights_mib": facts.weights_mib,
            "adapters_mib": facts.adapters_mib,
            "optimizer_mib": facts.optimizer_mib,
            "peak_mib": facts.peak_mib,
            "source": facts.memory_source,
        },
        "predicted": {f"{part}_mib": getattr(facts, f"predicted_{part}_mib") for part in PARTS},
        "bits_per_converted_weight": facts.bits_per_converted_weight,
        "batches_sha256": facts.batches_sha256,
        "adapter_init_sha256": facts.adapter_init_sha256,
        "eval_sha256": facts.eval_sha256,
        "coverage": facts.coverage.model_dump(mode="json") if facts.coverage else None,
        "rows": facts.rows,
        "environment": facts.environment,
    }


def _finite(value: float | None) -> float | None:
    # JSON has no NaN; a loss that is not finite shows in the status and on the chart.
    return value if value is not None and math.isfinite(value) else None


def group_json(
    *, group: str, preset: str, device: dict[str, Any], records: Sequence[RunRecord]
) -> dict[str, Any]:
    """The JSON of ``compare``: the group's runs, the proof of fairness and the verdict.

    Args:
        device: where this was run, as ``hardware.Device.to_dict()`` says it; what a run itself
            recorded wins over it.
    """
    fair, found = fairness(records), verdict(records)
    recorded = next((r.facts.device for r in records if r.facts.device), device)
    return {
        "group": group,
        "preset": preset,
        "device": recorded,
        "runs": [run_json(r) for r in records],
        "fair": {
            "same_batches": fair.same_batches is True,
            "same_adapter_init": fair.same_adapter_init is True,
            "same_eval_rows": fair.same_eval_rows,  # None: not known
            "seeds_differ": fair.seeds_differ,  # None: there is but one
            "only_difference": fair.only_difference,
        },
        "verdict": {
            "text": found.text,
            "headline": found.headline,
            "loss_delta": _finite(found.loss_delta),
            "loss_delta_noise": found.loss_delta_noise,
            "speed_ratio": found.speed_ratio,
            "memory_ratio": found.memory_ratio,
            "comparisons": [_comparison_json(c) for c in found.comparisons],
        },
    }


def _comparison_json(found: Comparison) -> dict[str, Any]:
    """A candidate against the baseline.

    Every interval is of 95 % and in nats a token, the perplexity's a share. With one seed the
    perplexity's is that of the held-out rows alone, and ``loss_delta_noise`` is None.
    """
    band = perplexity_interval(found)
    return {
        "baseline": found.baseline.precision,
        "candidate": found.candidate.precision,
        "seeds": list(found.seeds),
        "loss_delta": found.loss_delta,
        "loss_delta_noise": found.noise,
        "within_noise": found.within_noise,
        "seeds_half_width": found.seeds_half_width,
        "rows_interval": _bounds(found.rows),
        "rows_unpaired": found.unpaired,
        "perplexity_change": None
        if found.loss_delta is None
        else _finite(perplexity_change(found.loss_delta)),
        "perplexity_interval": [_finite(bound) for bound in band] if band else None,
        "costs_under_1_percent": under_claim(found),
    }


def _bounds(interval: Interval | None) -> list[float] | None:
    return [interval.low, interval.high] if interval else None
