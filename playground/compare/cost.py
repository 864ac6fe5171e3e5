"""Speed, memory and energy: spoken of only when both arms ran for real."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import quantiles

from playground.compare import sentences as say
from playground.compare.arms import Arm
from playground.compare.words import joined
from playground.events import Facts


def cost_sentences(finished: Sequence[Arm], baseline: Arm, candidate: Arm) -> list[str]:
    """What the candidate costs and buys beside the loss."""
    if not (baseline.real and candidate.real):
        emulated = [a.label for a in finished if any(r.facts.how == "emulated" for r in a.finished)]
        at_rest = _weights_at_rest(baseline, candidate)
        said = say.NOT_COMPARED.format(labels=joined(emulated))
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
        whole = say.WHOLE.format(share=share, there=other.weights_mib, here=one.weights_mib)
    told = {"label": candidate.label, "bits": bits, "baseline": baseline.label, "whole": whole}
    layers, others = _converted(other), _converted(one)
    if layers != others:  # layers that were kept in 16 bits make no format smaller
        return say.AT_REST_KEPT.format(**told, layers=layers, others=others)
    return say.AT_REST.format(**told, share=b / a, there=b, here=a)


def _converted(facts: Facts) -> int | None:
    return facts.coverage.converted if facts.coverage else None


def _speed_text(baseline: Arm, candidate: Arm) -> str:
    ratio = speed_ratio(baseline, candidate)
    if ratio is None:
        return say.NO_SPEED
    alike = _overlap(baseline.tokens_per_s, candidate.tokens_per_s)
    said = say.AS_FAST if alike else say.FASTER if ratio > 1 else say.SLOWER
    return said.format(label=candidate.label, baseline=baseline.label, ratio=ratio)


def _overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether the middle halves of two samples overlap; too few steps to tell counts as overlap."""
    if min(len(a), len(b)) < 4:
        return True
    (low_a, _, high_a), (low_b, _, high_b) = quantiles(a, n=4), quantiles(b, n=4)
    return low_a <= high_b and low_b <= high_a


def _memory_text(baseline: Arm, candidate: Arm) -> str:
    ratio = memory_ratio(baseline, candidate)
    if ratio is None:
        return say.NO_MEMORY
    alike = round(ratio, 2) == 1
    said = say.SAME_MEMORY if alike else say.LESS_MEMORY if ratio < 1 else say.MORE_MEMORY
    return said.format(baseline=baseline.label, ratio=ratio)


def _energy_text(baseline: Arm, candidate: Arm) -> str | None:
    ratio = energy_ratio(baseline, candidate)
    if ratio is None:
        return None
    a, b = baseline.joules_per_token, candidate.joules_per_token
    alike = round(ratio, 2) == 1
    said = say.SAME_ENERGY if alike else say.LESS_ENERGY if ratio < 1 else say.MORE_ENERGY
    return said.format(baseline=baseline.label, ratio=ratio, used=say.USED.format(a=a, b=b))
