"""What is said of held-out losses: how far apart, whether that is noise, on what it rests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from playground.compare.arms import Arm
from playground.compare.noise import Interval
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
    change = _change(one)
    if one.within_noise:
        return f"{b} is within noise of {a}: {change} perplexity ({_band(one)})."
    doubt = ", which may be chance" if change != "the same" and one.undecided else ""
    return f"{b} ends at {change} perplexity {_than(one)} {a}{doubt} ({_band(one)})."


def _headline_of_many(found: Sequence[Comparison]) -> str:
    told = [c for c in found if c.loss_delta is not None]
    if not told:
        return f"No final losses to hold against {found[0].baseline.label}'s."
    seeds = max(len(c.seeds) for c in told)
    within = [_as_it_ended(c.candidate) for c in told if c.within_noise]
    open_ = [_as_it_ended(c.candidate) for c in told if c.undecided]
    apart = [
        f"{_as_it_ended(c.candidate)} {_change(c)}"
        for c in told
        if not (c.within_noise or c.undecided)
    ]
    parts = [f"{joined(within)} within noise"] if within else []
    parts += [f"{joined(open_)} too close to tell"] if open_ else []
    over = plural(seeds, "seed") if seeds > 1 else "one seed"
    against = _as_it_ended(told[0].baseline)
    return f"Perplexity against {against}'s over {over}: {'; '.join(parts + apart)}."


def loss_sentence(found: Comparison, *, with_perplexity: bool = False) -> str:
    """Two final held-out losses, their difference, its band, and whether that is noise."""
    a, b = found.baseline, found.candidate
    if found.loss_delta is None:
        return _no_losses(found)
    delta, base, other = found.loss_delta, found.baseline_loss, found.candidate_loss
    band = f"95%{_over(found)}: {_nats(found.interval)}" if found.interval else None
    if round(abs(delta), 4) == 0:
        said = f" ({band})" if band and found.interval.half_width >= 5e-5 else ""
        return f"{b.label} ends at the same held-out loss as {a.label}, {other:.4f}{said}."
    notes = [f"perplexity {_change(found)}"] if with_perplexity else []
    notes += [band] if band else []
    beside = f" ({'; '.join(notes)})" if notes else ""
    side = "above" if delta > 0 else "below"
    within = " and within noise" if found.within_noise else ""
    return (
        f"{b.label} ends at a held-out loss of {other:.4f}, "
        f"{abs(delta):.4f} nats {side} {a.label}'s {base:.4f}{within}{beside}."
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
        reach = {"yes": f"at most {high}", "no": f"at least {low}", "open": f"{low} to {high}"}
        answers[answer].append(f"{comparison.candidate.label} ({reach[answer]})")
    parts = [f"{word} for {joined(names)}" for word, names in answers.items() if names]
    if not parts:
        return (
            "Whether it costs under 1%, as is often claimed, cannot be told from one seed; "
            "repeat with --seeds 3."
        )
    asked = "Does it cost under 1%, as is often claimed? In perplexity, at 95%"
    return f"{asked}: {'; '.join(parts)}."


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
        band = f" (95%{_over(found)}: {signed_percent(low)} to {signed_percent(high)})"
    near_zero = ", a share of a loss near zero" if base < 0.1 else ""
    word = "higher" if change > 0 else "lower"
    label = found.candidate.label
    return f"{label}'s loss itself is {percent(change)} {word}{band}{near_zero}."


def exact_match_sentence(all_arms: Sequence[Arm]) -> str | None:
    parts = [
        f"{arm.label} {before:.0%} to {after:.0%}"
        for arm in all_arms
        if (before := arm.exact_match("before")) is not None
        and (after := arm.exact_match("after")) is not None
    ]
    return f"Answers exactly right: {', '.join(parts)}." if parts else None


def basis_sentence(found: Comparison, comparisons: int) -> str:
    """How much the losses rest on: a difference over three rows is not one over a thousand."""
    run = found.baseline.finished[0]
    last = next((e for e in reversed(run.evals) if e.when == "after"), None)
    rows = (run.facts.rows or {}).get("eval")
    over = f" of {rows} rows" if rows else ""
    judged = f", judged on {last.tokens} held-out tokens{over}" if last else ""
    if len(found.seeds) < 2:
        return f"One run of each{judged}: the spread between seeds was not measured."
    seeds = joined([str(seed) for seed in found.seeds])
    label, between = found.candidate.label, found.seeds_half_width
    if found.rows:
        rest = f" and ±{found.rows.half_width:.4f} over the held-out rows, paired"
    else:
        rest = f"; over the held-out rows it was not measured: {found.unpaired or 'not finite'}"
    chance = (
        f" Of {comparisons} comparisons at 95%, one may well look different by chance."
        if comparisons >= _MANY
        else ""
    )
    return (
        f"Seeds {seeds} of each{judged}; {label}'s noise at 95% is ±{between:.4f} nats between "
        f"seeds{rest}.{chance}"
    )


def _as_it_ended(arm: Arm) -> str:
    """A headline must not credit a format with what a wider one brought about."""
    return f"healed {arm.label}" if arm.healed else arm.label


def _no_losses(found: Comparison) -> str:
    a, b = found.baseline, found.candidate
    for arm in (a, b):
        loss = arm.eval_loss("after")
        if loss is not None and not math.isfinite(loss):
            ends = [f"{x.label} {x.eval_loss('after')}" for x in (a, b)]
            return f"A final held-out loss is not finite ({', '.join(ends)})."
    if a.judged and b.judged:
        return f"{b.label} and {a.label} finished no seed in common."
    return f"{b.label} and {a.label} finished without a held-out loss to compare."


def _change(found: Comparison) -> str:
    """``0.21% higher``: perplexity is exp(loss), so a share of it needs no loss to stand on."""
    change = perplexity_change(found.loss_delta)
    if percent(change) == percent(0):
        return "the same"
    return f"{percent(change)} {'higher' if change > 0 else 'lower'}"


def _than(found: Comparison) -> str:
    return "as" if _change(found) == "the same" else "than"


def _band(found: Comparison) -> str:
    over = f"{len(found.seeds)} seeds" if len(found.seeds) > 1 else "one seed"
    if found.interval is None:
        return over
    low, high = map(signed_percent, perplexity_interval(found))
    return f"95%{_over(found)}: {low} to {high}; {over}"


def _over(found: Comparison) -> str:
    """One seed says nothing about others: its band is that of the rows."""
    return " over the held-out rows" if found.noise is None else ""


def _nats(interval: Interval) -> str:
    return f"{signed(interval.low)} to {signed(interval.high)} nats"
