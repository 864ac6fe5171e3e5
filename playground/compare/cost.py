"""Speed, memory and energy: spoken of only when both arms ran for real."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import quantiles

from playground.compare.arms import Arm
from playground.compare.words import joined
from playground.events import Facts


def cost_sentences(finished: Sequence[Arm], baseline: Arm, candidate: Arm) -> list[str]:
    """What the candidate costs and buys beside the loss."""
    if not (baseline.real and candidate.real):
        emulated = [a.label for a in finished if any(r.facts.how == "emulated" for r in a.finished)]
        at_rest = _weights_at_rest(baseline, candidate)
        said = f"Speed and peak memory are not compared: {joined(emulated)} ran emulated here."
        return [said, *([at_rest] if at_rest else [])]
    energy = _energy_text(baseline, candidate)
    return [
        _speed_text(baseline, candidate),
        _memory_text(baseline, candidate),
        *([energy] if energy else []),
    ]


def speed_ratio(baseline: Arm, candidate: Arm) -> float | None:
    """Candidate's tokens per second over the baseline's, medians; None unless both were real."""
    a, b = baseline.tokens_per_s_median, candidate.tokens_per_s_median
    return b / a if baseline.real and candidate.real and a and b else None


def memory_ratio(baseline: Arm, candidate: Arm) -> float | None:
    """Candidate's peak memory over the baseline's; None unless both ran for real."""
    a, b = baseline.peak_mib, candidate.peak_mib
    return b / a if baseline.real and candidate.real and a and b else None


def energy_ratio(baseline: Arm, candidate: Arm) -> float | None:
    """Candidate's joules per token over the baseline's; None unless both ran for real."""
    a, b = baseline.joules_per_token, candidate.joules_per_token
    return b / a if baseline.real and candidate.real and a and b else None


def _weights_at_rest(baseline: Arm, candidate: Arm) -> str | None:
    # Counted from the tensors, so the same in every seed, and true however the run ran.
    one, other = baseline.finished[0].facts, candidate.finished[0].facts
    a, b, bits = (
        one.converted_weights_mib,
        other.converted_weights_mib,
        other.bits_per_converted_weight,
    )
    if not a or not b or bits is None:
        return None
    whole = ""  # embeddings, norms and the head stay, so the whole model shrinks by less
    if one.weights_mib and other.weights_mib:
        share = other.weights_mib / one.weights_mib
        whole = (
            f"; all weights, {share:.1%} "
            f"({other.weights_mib:.2f} against {one.weights_mib:.2f} MiB)"
        )
    said = f"{candidate.label}'s converted weights take {bits:.2f} bits each"
    here, there = _converted(other), _converted(one)
    if here != there:  # layers that were kept in 16 bits make no format smaller
        return f"{said}, in {here} layers against {there} of {baseline.label}'s{whole}."
    return (
        f"{said}, {b / a:.1%} of {baseline.label}'s "
        f"({b:.2f} against {a:.2f} MiB, counted from the tensors){whole}."
    )


def _converted(facts: Facts) -> int | None:
    return facts.coverage.converted if facts.coverage else None


def _speed_text(baseline: Arm, candidate: Arm) -> str:
    ratio = speed_ratio(baseline, candidate)
    if ratio is None:
        return "Speed was not measured."
    if _overlap(baseline.tokens_per_s, candidate.tokens_per_s):
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


def _memory_text(baseline: Arm, candidate: Arm) -> str:
    ratio = memory_ratio(baseline, candidate)
    if ratio is None:
        return "Peak memory was not measured."
    if round(ratio, 2) == 1:
        return f"It peaks at the same memory as {baseline.label}."
    word = "less" if ratio < 1 else "more"
    return f"It takes {word} memory: {ratio:.2f} times {baseline.label}'s peak."


def _energy_text(baseline: Arm, candidate: Arm) -> str | None:
    ratio = energy_ratio(baseline, candidate)
    if ratio is None:
        return None
    a, b = baseline.joules_per_token, candidate.joules_per_token
    used = f"{b:.3g} against {a:.3g} joules a token"
    if round(ratio, 2) == 1:
        return f"It uses the same energy as {baseline.label} ({used})."
    word = "less" if ratio < 1 else "more"
    return f"It uses {word} energy: {ratio:.2f} times {baseline.label}'s ({used})."
