"""A comparison as JSON: the contract that scripts outside rely on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from playground.compare.fairness import fairness
from playground.compare.records import RunRecord
from playground.compare.verdict import verdict


def run_json(record: RunRecord) -> dict[str, Any]:
    """One entry of ``runs`` in the JSON of ``compare``; what was not measured is None."""
    facts = record.facts
    return {
        "id": record.id,
        "requested": record.config.precision,
        "effective": facts.effective,
        "how": facts.how,
        "how_reason": facts.how_reason,
        "status": record.status,
        "error": record.error,
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
        "memory": {
            "weights_mib": facts.weights_mib,
            "adapters_mib": facts.adapters_mib,
            "optimizer_mib": facts.optimizer_mib,
            "peak_mib": facts.peak_mib,
            "source": facts.memory_source,
        },
        "bits_per_converted_weight": facts.bits_per_converted_weight,
        "batches_sha256": facts.batches_sha256,
        "adapter_init_sha256": facts.adapter_init_sha256,
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
            "only_difference": fair.only_difference,
        },
        "verdict": {
            "text": found.text,
            "loss_delta": _finite(found.loss_delta),
            "loss_delta_noise": found.loss_delta_noise,
            "speed_ratio": found.speed_ratio,
            "memory_ratio": found.memory_ratio,
        },
    }
