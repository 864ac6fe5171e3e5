"""What is said of held-out losses: how far apart, whether that is noise, on what it rests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from playground.compare import sentences as say
from playground.compare.arms import Arm
from playground.compare.paired import Comparison
from playground.compare.words import joined, percent, plural, signed, signed_percent

CLAIM = 0.01
"""The cost of 4 bits that is often quoted: under 1 %."""

_MANY = 5  # comparisons, from which on one of them may well look different by chance


def headline(found: Sequence[Comparison]) -> str:
    """One sentence: how each candidate stands to the baseline, in perplexity."""
    if len(found) > 1:
        return _headline_of_many(found)
    [one] = found
    a, b = _as_it_ended(one.baseline), _as_it_ended(one.candidate)
    if one.loss_delta is None:
        return loss_sentence(one)
    b = b[0].upper() + b[1:]
    told = {"a": a, "b": b, "change": _change(one), "band": _band(one)}
    if one.within_noise:
        return say.WITHIN_NOISE.format(**told)
    if _is_the_same(one):
        return say.ENDS_SAME.format(**told)
    return say.ENDS_AT.format(**told, doubt=say.MAY_BE_CHANCE if one.undecided else "")


def _headline_of_many(found: Sequence[Comparison]) -> str:
    told = [c for c in found if c.loss_delta is not None]
    if not told:
        return say.NO_FINAL.format(baseline=found[0].baseline.label)
    seeds = max(len(c.seeds) for c in told)
    within = [_as_it_ended(c.candidate) for c in told if c.within_noise]
    open_ = [_as_it_ended(c.candidate) for c in told if c.undecided]
    apart = [
        say.CHANGED.format(label=_as_it_ended(c.candidate), change=_change(c))
        for c in told
        if not (c.within_noise or c.undecided)
    ]
    parts = [say.ARE_WITHIN.format(labels=joined(within))] if within else []
    parts += [say.ARE_OPEN.format(labels=joined(open_))] if open_ else []
    return say.OF_MANY.format(
        baseline=_as_it_ended(told[0].baseline),
        over=plural(seeds, "seed") if seeds > 1 else say.ONE_SEED,
        parts=joined(parts + apart, ";"),
    )


def loss_sentence(found: Comparison, *, with_perplexity: bool = False) -> str:
    """Two final held-out losses, their difference, its band, and whether that is noise."""
    a, b = found.baseline, found.candidate
    if found.loss_delta is None:
        return _no_losses(found)
    delta, base, other = found.loss_delta, found.baseline_loss, found.candidate_loss
    band = _nats(found) if found.interval else None
    if round(abs(delta), 4) == 0:
        wide = band and found.interval.half_width >= 5e-5
        noted = say.NOTED.format(notes=band) if wide else ""
        return say.SAME_LOSS.format(a=a.label, b=b.label, loss=other, noted=noted)
    notes = [say.PERPLEXITY.format(change=_change(found))] if with_perplexity else []
    notes += [band] if band else []
    return (say.LOSS_ABOVE if delta > 0 else say.LOSS_BELOW).format(
        a=a.label,
        b=b.label,
        loss=other,
        base=base,
        delta=abs(delta),
        within=say.AND_WITHIN if found.within_noise else "",
        noted=say.NOTED.format(notes=joined(notes, ";")) if notes else "",
    )


def claim_sentence(found: Sequence[Comparison]) -> str | None:
    """Whether each candidate below 16 bits costs under 1 %, as far as the noise lets one tell."""
    small = [c for c in found if c.candidate.storage_bits < 16 and c.loss_delta is not None]
    if not small:
        return None
    answers: dict[str, list[str]] = {"yes": [], "no": [], "open": []}
    for comparison in small:
        answer = under_claim(comparison)
        if answer is None:
            continue
        low, high = map(signed_percent, perplexity_interval(comparison))
        label = comparison.candidate.label
        answers[answer].append(say.CLAIM_REACH[answer].format(label=label, low=low, high=high))
    parts = [
        say.CLAIM_ANSWERS[answer].format(names=joined(names))
        for answer, names in answers.items()
        if names
    ]
    if not parts:
        return say.CLAIM_ONE_SEED
    return say.CLAIM.format(parts=joined(parts, ";"))


def under_claim(found: Comparison) -> Literal["yes", "no", "open"] | None:
    """Whether the cost in perplexity lies under 1 % with its whole band; None for one seed."""
    if found.noise is None:
        return None
    low, high = perplexity_interval(found)
    return "yes" if high < CLAIM else "no" if low > CLAIM else "open"


def perplexity_interval(found: Comparison) -> tuple[float, float] | None:
    """The change of ``exp(loss)`` as a share, with its band as ``Comparison.interval``'s."""
    if found.interval is None:
        return None
    return perplexity_change(found.interval.low), perplexity_change(found.interval.high)


def perplexity_change(nats: float) -> float:
    """By what share ``exp(loss)`` changes; inf where that is beyond a float, from 710 nats on."""
    try:
        return math.expm1(nats)
    except OverflowError:
        return math.inf


def share_sentence(found: Comparison) -> str | None:
    """The difference as a share of the baseline's loss, which is taken as exact."""
    base = found.baseline_loss
    if found.loss_delta is None or not base or round(abs(found.loss_delta), 4) == 0:
        return None
    change = found.loss_delta / base
    band = ""
    if found.interval:
        low, high = found.interval.low / base, found.interval.high / base
        band = say.NOTED.format(notes=_between(found, low, high))
    return say.SHARE.format(
        label=found.candidate.label,
        change=_risen(change),
        band=band,
        near_zero=say.NEAR_ZERO if base < 0.1 else "",
    )


def exact_match_sentence(all_arms: Sequence[Arm]) -> str | None:
    parts = [
        say.EXACT_OF.format(label=arm.label, before=before, after=after)
        for arm in all_arms
        if (before := arm.exact_match("before")) is not None
        and (after := arm.exact_match("after")) is not None
    ]
    return say.EXACT.format(parts=say.COMMA.join(parts)) if parts else None


def basis_sentence(found: Comparison, comparisons: int) -> str:
    """How much the losses rest on: a difference over three rows is not one over a thousand."""
    run = found.baseline.finished[0]
    last = next((e for e in reversed(run.evals) if e.when == "after"), None)
    rows = (run.facts.rows or {}).get("eval")
    over = say.OF_ROWS.format(rows=rows) if rows else ""
    judged = say.JUDGED.format(tokens=last.tokens, over=over) if last else ""
    if len(found.seeds) < 2:
        return say.BASIS_ONE.format(judged=judged)
    seeds = joined([str(seed) for seed in found.seeds])
    label, between = found.candidate.label, found.seeds_half_width
    if found.rows:
        rest = say.PAIRED.format(half=found.rows.half_width)
    else:
        rest = say.UNPAIRED.format(why=found.unpaired or say.UNPAIRED_NOT_FINITE)
    chance = say.CHANCE.format(count=comparisons) if comparisons >= _MANY else ""
    return say.BASIS.format(
        seeds=seeds, judged=judged, label=label, between=between, rest=rest, chance=chance
    )


def _as_it_ended(arm: Arm) -> str:
    """A headline must not credit a format with what a wider one brought about."""
    return say.AS_HEALED.format(label=arm.label) if arm.healed else arm.label


def _no_losses(found: Comparison) -> str:
    a, b = found.baseline, found.candidate
    for arm in (a, b):
        loss = arm.eval_loss("after")
        if loss is not None and not math.isfinite(loss):
            ends = [f"{x.label} {x.eval_loss('after')}" for x in (a, b)]
            return say.NOT_FINITE.format(ends=say.COMMA.join(ends))
    said = say.NO_COMMON_SEED if a.judged and b.judged else say.UNJUDGED
    return said.format(a=a.label, b=b.label)


def _change(found: Comparison) -> str:
    """``0.21% higher``: perplexity is exp(loss), so a share of it needs no loss to stand on."""
    return say.THE_SAME if _is_the_same(found) else _risen(perplexity_change(found.loss_delta))


def _is_the_same(found: Comparison) -> bool:
    return percent(perplexity_change(found.loss_delta)) == percent(0)


def _risen(change: float) -> str:
    return (say.HIGHER if change > 0 else say.LOWER).format(percent=percent(change))


def _band(found: Comparison) -> str:
    seeds = len(found.seeds)
    over = plural(seeds, "seed") if seeds > 1 else say.ONE_SEED
    if found.interval is None:
        return over
    return joined([_between(found, *perplexity_interval(found)), over], ";")


def _between(found: Comparison, low: float, high: float) -> str:
    return say.BAND.format(over=_over(found), low=signed_percent(low), high=signed_percent(high))


def _over(found: Comparison) -> str:
    """One seed says nothing about others: its band is that of the rows."""
    return say.OVER_ROWS if found.noise is None else ""


def _nats(found: Comparison) -> str:
    low, high = signed(found.interval.low), signed(found.interval.high)
    return say.BAND_NATS.format(over=_over(found), low=low, high=high)
