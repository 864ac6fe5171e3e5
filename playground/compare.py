"""Runs side by side: rows of steps in, curves, fairness and a verdict out.

Pure functions over what the store holds, so the page, the terminal and the report say the same.
The verdict speaks of speed and peak memory only when both arms ran for real: an emulated run
takes part in the loss comparison and in nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any, Literal

from playground.config import PRECISIONS, RunConfig
from playground.events import Eval, Facts, Step

XAxis = Literal["step", "tokens", "time"]
YAxis = Literal["loss", "tokens_per_s", "memory_mib", "grad_norm", "learning_rate", "loss_scale"]


@dataclass(frozen=True)
class RunRecord:
    """One arm of a comparison, as the store remembers it."""

    id: str
    config: RunConfig
    status: str
    error: str | None
    facts: Facts
    steps: Sequence[Step]
    evals: Sequence[Eval]

    @property
    def label(self) -> str:
        """The precision's short name: the effective one, once it is known."""
        return PRECISIONS[self.facts.effective or self.config.precision].label

    def eval_loss(self, when: str) -> float | None:
        """Held-out loss ``before`` or ``after`` training; None if it was not taken."""
        return next((e.loss for e in reversed(self.evals) if e.when == when), None)

    def exact_match(self, when: str) -> float | None:
        """Share of held-out rows answered exactly, ``before`` or ``after``; None if not asked."""
        return next((e.exact_match for e in reversed(self.evals) if e.when == when), None)

    @property
    def timed_steps(self) -> list[Step]:
        """The steps that count for throughput: warm-up left out."""
        return [s for s in self.steps if not s.warmup]


@dataclass(frozen=True)
class Curve:
    """One line of a chart. NaN and inf become ``marks``; no line is drawn across them.

    x, y: the same length; y is None where there is nothing to draw.
    marks: (x, kind), kind ``not finite`` or ``skipped update``.
    """

    run_id: str
    label: str
    how: str | None
    x: list[float]
    y: list[float | None]
    marks: list[tuple[float, str]]


def curve(record: RunRecord, y: YAxis, *, x: XAxis = "step", smoothing: float = 0.0) -> Curve:
    """The line of one run.

    Args:
        smoothing: weight of the past in an exponential average, 0 (none) to below 1.
            Bias-corrected, so the first points are not pulled towards zero.
    """
    if not 0 <= smoothing < 1:
        raise ValueError(f"smoothing is {smoothing}; it must be at least 0 and below 1")
    xs = list(_positions(record.steps, x))
    ys: list[float | None] = []
    marks: list[tuple[float, str]] = []
    past, weight = 0.0, 0.0
    for at, step in zip(xs, record.steps, strict=True):
        value = getattr(step, y)
        if value is not None and not math.isfinite(value):
            marks.append((at, "not finite"))
            value = None
        elif step.skipped:
            marks.append((at, "skipped update"))
        if value is not None:
            past = smoothing * past + (1 - smoothing) * value
            weight = smoothing * weight + (1 - smoothing)
            value = past / weight
        ys.append(value)
    return Curve(record.id, record.label, record.facts.how, xs, ys, marks)


def _positions(steps: Sequence[Step], x: XAxis) -> Iterable[float]:
    if x == "step":
        yield from (s.step for s in steps)
        return
    total = 0.0
    for step in steps:
        total += step.tokens if x == "tokens" else step.step_ms / 1000
        yield total


@dataclass(frozen=True)
class Fairness:
    """Whether the arms differ in the precision and in nothing else. None: not known yet."""

    same_batches: bool | None
    same_adapter_init: bool | None
    only_difference: list[str]

    @property
    def problem(self) -> str | None:
        """One sentence when the comparison is not a controlled one."""
        if self.same_batches is False:
            return "Not a controlled comparison: the arms saw different batches."
        if self.same_adapter_init is False:
            return "Not a controlled comparison: the adapters started from different values."
        others = [d for d in self.only_difference if d != "precision"]
        if others:
            return f"Not a controlled comparison: {', '.join(others)} differ as well."
        return None


def fairness(records: Sequence[RunRecord]) -> Fairness:
    """Compares the hashes, the settings and the recorded environments of a group's runs."""
    flat = [_flatten(r.config.model_dump()) for r in records]
    surroundings = [
        {f"environment.{k}": v for k, v in _flatten(r.facts.environment).items()}
        for r in records
        if r.facts.environment is not None
    ]
    complete = [r for r in records if r.status == "finished"]
    return Fairness(
        same_batches=_agree([r.facts.batches_sha256 for r in complete]),
        same_adapter_init=_agree([r.facts.adapter_init_sha256 for r in records]),
        only_difference=_differing(flat) + _differing(surroundings),
    )


def _flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _differing(tables: Sequence[dict[str, Any]]) -> list[str]:
    keys = dict.fromkeys(key for table in tables for key in table)
    return [k for k in keys if any(t.get(k) != tables[0].get(k) for t in tables)]


def _agree(values: Sequence[str | None]) -> bool | None:
    known = [v for v in values if v is not None]
    return len(set(known)) == 1 if len(known) > 1 else None


@dataclass(frozen=True)
class Verdict:
    """What the comparison found, in words and in numbers.

    loss_delta: candidate's final held-out loss minus the baseline's, nats.
    loss_delta_noise: half-width of the noise band, nats; None when it was not measured.
    speed_ratio: candidate's tokens per second over the baseline's; None unless both ran for real.
    memory_ratio: candidate's peak memory over the baseline's; None unless both ran for real.
    """

    text: str
    loss_delta: float | None = None
    loss_delta_noise: float | None = None
    speed_ratio: float | None = None
    memory_ratio: float | None = None


def verdict(records: Sequence[RunRecord]) -> Verdict:
    """Says what the lower precision cost and what it bought, against the group's first arm.

    With more than two arms the numbers are those of the one with the fewest bits a weight, and the
    text names each.
    """
    unfinished = [r for r in records if r.status != "finished"]
    if unfinished:
        return Verdict(_unfinished_text(records, unfinished))
    if len(records) < 2:
        return Verdict(_single_text(records[0]) if records else "Nothing has run yet.")
    baseline, *others = records
    candidate = min(others, key=lambda r: PRECISIONS[r.config.precision].storage_bits)
    fair = fairness(records).problem
    sentences = [fair] if fair else []
    sentences += [_loss_sentence(baseline, other) for other in others]
    sentences.append(_cost_sentence(baseline, candidate))
    sentences.append("One run of each: the spread between seeds was not measured.")
    return Verdict(
        text=" ".join(sentences),
        loss_delta=_difference(candidate.eval_loss("after"), baseline.eval_loss("after")),
        speed_ratio=_speed_ratio(baseline, candidate),
        memory_ratio=_memory_ratio(baseline, candidate),
    )


def _unfinished_text(records: Sequence[RunRecord], unfinished: Sequence[RunRecord]) -> str:
    waiting = [r for r in unfinished if r.status in ("queued", "running")]
    if waiting:
        done = len(records) - len(unfinished)
        return f"Still running: {done} of {len(records)} done."
    words = {
        "stopped": "was stopped",
        "failed": "failed",
        "diverged": "diverged",
        "interrupted": "was interrupted",
    }
    parts = []
    for run in unfinished:
        at = f" at step {run.steps[-1].step}" if run.steps else " before its first step"
        why = f" ({run.error.rstrip('.')})" if run.error else ""
        parts.append(f"{run.label} {words.get(run.status, run.status)}{at}{why}.")
    return " ".join([*parts, "No final losses to compare."])


def _single_text(run: RunRecord) -> str:
    before, after = run.eval_loss("before"), run.eval_loss("after")
    if before is None or after is None:
        return f"{run.label} finished; no held-out loss was taken."
    return (
        f"{run.label} took the held-out loss from {before:.3f} to {after:.3f}. "
        "One arm only: nothing to compare it with."
    )


def _loss_sentence(baseline: RunRecord, other: RunRecord) -> str:
    a, b = baseline.eval_loss("after"), other.eval_loss("after")
    if a is None or b is None:
        return f"{other.label} and {baseline.label} finished without a held-out loss to compare."
    if not (math.isfinite(a) and math.isfinite(b)):
        return f"A final held-out loss is not finite ({baseline.label} {a}, {other.label} {b})."
    delta = b - a
    share = f" ({abs(delta) / a:.1%})" if a > 0 else ""
    sign = "above" if delta > 0 else "below"
    if round(abs(delta), 4) == 0:
        return f"{other.label} ends at the same held-out loss as {baseline.label}, {b:.4f}."
    return (
        f"{other.label} ends at a held-out loss of {b:.4f}, "
        f"{abs(delta):.4f} nats{share} {sign} {baseline.label}'s {a:.4f}."
    )


def _cost_sentence(baseline: RunRecord, candidate: RunRecord) -> str:
    emulated = [r.label for r in (baseline, candidate) if r.facts.how == "emulated"]
    if emulated:
        parts = [
            f"Speed and peak memory are not compared: {' and '.join(emulated)} ran emulated here."
        ]
        at_rest = _weights_at_rest(baseline, candidate)
        return " ".join([*parts, at_rest] if at_rest else parts)
    return f"{_speed_text(baseline, candidate)} {_memory_text(baseline, candidate)}".strip()


def _weights_at_rest(baseline: RunRecord, candidate: RunRecord) -> str | None:
    a, b = baseline.facts.converted_weights_mib, candidate.facts.converted_weights_mib
    bits = candidate.facts.bits_per_converted_weight
    if not a or not b or bits is None:
        return None
    return (
        f"{candidate.label}'s converted weights take {bits:.2f} bits each, {b / a:.1%} of "
        f"{baseline.label}'s ({b:.2f} against {a:.2f} MiB, counted from the tensors)."
    )


def tokens_per_s_median(record: RunRecord) -> float | None:
    """Median throughput over the timed steps, non-padding tokens per second."""
    return median(s.tokens_per_s for s in record.timed_steps) if record.timed_steps else None


def step_ms_median(record: RunRecord) -> float | None:
    """Median step time over the timed steps, milliseconds."""
    return median(s.step_ms for s in record.timed_steps) if record.timed_steps else None


def _real(*records: RunRecord) -> bool:
    return all(r.facts.how in ("native", "weight-only") for r in records)


def _speed_ratio(baseline: RunRecord, candidate: RunRecord) -> float | None:
    a, b = tokens_per_s_median(baseline), tokens_per_s_median(candidate)
    return b / a if _real(baseline, candidate) and a and b else None


def _memory_ratio(baseline: RunRecord, candidate: RunRecord) -> float | None:
    a, b = baseline.facts.peak_mib, candidate.facts.peak_mib
    return b / a if _real(baseline, candidate) and a and b else None


def _speed_text(baseline: RunRecord, candidate: RunRecord) -> str:
    ratio = _speed_ratio(baseline, candidate)
    if ratio is None:
        return "Speed was not measured."
    rates = [[s.tokens_per_s for s in r.timed_steps] for r in (baseline, candidate)]
    if _overlap(*rates):
        return (
            f"{candidate.label} is as fast as {baseline.label} within the spread of the steps "
            f"({ratio:.2f} times)."
        )
    word = "faster" if ratio > 1 else "slower"
    return f"{candidate.label} is {word}: {ratio:.2f} times {baseline.label}'s tokens per second."


def _overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether the middle halves of two samples overlap; too few steps to tell counts as overlap."""
    if min(len(a), len(b)) < 4:
        return True
    (low_a, _, high_a), (low_b, _, high_b) = quantiles(a, n=4), quantiles(b, n=4)
    return low_a <= high_b and low_b <= high_a


def _memory_text(baseline: RunRecord, candidate: RunRecord) -> str:
    ratio = _memory_ratio(baseline, candidate)
    if ratio is None:
        return "Peak memory was not measured."
    word = "less" if ratio < 1 else "more"
    if round(ratio, 2) == 1:
        return f"It peaks at the same memory as {baseline.label}."
    return f"It takes {word} memory: {ratio:.2f} times {baseline.label}'s peak."


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


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
        "step_ms_median": step_ms_median(record),
        "tokens_per_s_median": tokens_per_s_median(record),
        "warmup_steps": sum(s.warmup for s in record.steps),
        "skipped_updates": sum(s.skipped for s in record.steps),
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
