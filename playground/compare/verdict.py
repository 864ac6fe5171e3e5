"""What a comparison found: "slower" and "within noise" in the same voice as "faster".

Speed and peak memory are spoken of only when both arms ran for real: an emulated run takes part in
the loss comparison and in nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from playground.compare.fairness import fairness
from playground.compare.records import RunRecord
from playground.config import PRECISIONS


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
    sentences += _exact_match_sentence(records)
    sentences += [_skipped_sentence(r) for r in records if r.skipped_updates]
    sentences.append(_cost_sentence(records, baseline, candidate))
    sentences.append(_basis_sentence(baseline))
    return Verdict(
        text=" ".join(sentences),
        loss_delta=_difference(candidate.eval_loss("after"), baseline.eval_loss("after")),
        speed_ratio=_speed_ratio(baseline, candidate),
        memory_ratio=_memory_ratio(baseline, candidate),
    )


def _unfinished_text(records: Sequence[RunRecord], unfinished: Sequence[RunRecord]) -> str:
    live = [r for r in unfinished if r.status in ("queued", "running")]
    if live:
        if all(r.status == "queued" for r in records):
            return "Waiting for its turn."
        return f"Still running: {len(records) - len(live)} of {len(records)} done."
    words = {
        "stopped": "was stopped",
        "failed": "failed",
        "diverged": "diverged",
        "interrupted": "was interrupted",
    }
    parts = [
        f"{r.label} finished at a held-out loss of {r.eval_loss('after'):.4f}."
        for r in records
        if r.status == "finished" and r.eval_loss("after") is not None
    ]
    for run in unfinished:
        at = f" at step {run.steps[-1].step}" if run.steps else " before its first step"
        why = f" ({run.error.rstrip('.')})" if run.error else ""
        parts.append(f"{run.label} {words.get(run.status, run.status)}{at}{why}.")
    return " ".join([*parts, "No two final losses to compare."])


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
    # A share of the loss would say little where the loss is near zero; perplexity is exp(loss).
    sign, word = ("above", "higher") if delta > 0 else ("below", "lower")
    if round(abs(delta), 4) == 0:
        return f"{other.label} ends at the same held-out loss as {baseline.label}, {b:.4f}."
    return (
        f"{other.label} ends at a held-out loss of {b:.4f}, "
        f"{abs(delta):.4f} nats {sign} {baseline.label}'s {a:.4f} "
        f"(perplexity {abs(math.expm1(delta)):.1%} {word})."
    )


def _exact_match_sentence(records: Sequence[RunRecord]) -> list[str]:
    parts = [
        f"{r.label} {r.exact_match('before'):.0%} to {r.exact_match('after'):.0%}"
        for r in records
        if r.exact_match("before") is not None and r.exact_match("after") is not None
    ]
    return [f"Answers exactly right: {', '.join(parts)}."] if parts else []


def _skipped_sentence(run: RunRecord) -> str:
    skipped, steps = run.skipped_updates, len(run.steps)
    return f"{run.label} skipped {skipped} of {steps} updates: its scaled gradients overflowed."


def _basis_sentence(run: RunRecord) -> str:
    """How much the losses rest on: a difference over three rows is not one over a thousand."""
    last = next((e for e in reversed(run.evals) if e.when == "after"), None)
    rows = (run.facts.rows or {}).get("eval")
    over = f" of {rows} rows" if rows else ""
    tokens = f", judged on {last.tokens} held-out tokens{over}" if last else ""
    return f"One run of each{tokens}: the spread between seeds was not measured."


def _cost_sentence(records: Sequence[RunRecord], baseline: RunRecord, candidate: RunRecord) -> str:
    if not _real(baseline, candidate):
        emulated = [r.label for r in records if r.facts.how == "emulated"]
        parts = [f"Speed and peak memory are not compared: {_and(emulated)} ran emulated here."]
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
        f"{baseline.label}'s ({b:.2f} against {a:.2f} MiB, counted from the tensors)"
        f"{_all_weights(baseline, candidate)}."
    )


def _all_weights(baseline: RunRecord, candidate: RunRecord) -> str:
    """Embeddings, norms and the head stay as they are, so the whole model shrinks by less."""
    a, b = baseline.facts.weights_mib, candidate.facts.weights_mib
    return f"; all weights, {b / a:.1%} ({b:.2f} against {a:.2f} MiB)" if a and b else ""


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _real(*records: RunRecord) -> bool:
    return all(r.facts.how in ("native", "weight-only") for r in records)


def _speed_ratio(baseline: RunRecord, candidate: RunRecord) -> float | None:
    a, b = baseline.tokens_per_s_median, candidate.tokens_per_s_median
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
