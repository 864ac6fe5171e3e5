"""What a comparison found: "slower" and "within noise" in the same voice as "faster".

Speed and peak memory are spoken of only when both arms ran for real: an emulated run takes part in
the loss comparison and in nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playground.compare import sentences as say
from playground.compare.arms import Arm, arms, several_seeds
from playground.compare.cost import cost_sentences, memory_ratio, speed_ratio
from playground.compare.cross import cross_sentences
from playground.compare.fairness import fairness
from playground.compare.losses import (
    basis_sentence,
    claim_sentence,
    exact_match_sentence,
    headline,
    loss_sentence,
    share_sentence,
)
from playground.compare.paired import Comparison, compare_arms
from playground.compare.records import RunRecord
from playground.compare.target import target_sentence
from playground.config import PRECISIONS


@dataclass(frozen=True)
class Verdict:
    """What the comparison found, in words and in numbers.

    headline: one sentence; text: that, and below it a line for each subject.
    loss_delta: candidate's final held-out loss minus the baseline's, nats, mean over the seeds.
    loss_delta_noise: half-width of the 95 % noise band, nats (``Comparison.noise``); None for one
        seed, where the spread between seeds was not measured.
    speed_ratio: candidate's tokens per second over the baseline's; None unless both ran for real.
    memory_ratio: candidate's peak memory over the baseline's; None unless both ran for real.
    comparisons: every candidate against the baseline, in the order of the arms.
    """

    text: str
    headline: str = ""
    loss_delta: float | None = None
    loss_delta_noise: float | None = None
    speed_ratio: float | None = None
    memory_ratio: float | None = None
    comparisons: tuple[Comparison, ...] = ()


def verdict(records: Sequence[RunRecord]) -> Verdict:
    """Says what the lower precision cost and what it bought, against the group's first arm.

    What has finished is compared; what has not is told with its step and cause. With more than two
    arms the numbers are those of the one with the fewest bits a weight, and the text names each.
    """
    if not records:
        return _said(say.NOTHING)
    if any(r.status in ("queued", "running") for r in records):
        return _said(_live_text(records), _failures(records), _so_far(records))
    all_arms = arms(records)
    finished = [arm for arm in all_arms if arm.finished]
    failures = _failures(records)
    if len(finished) < 2:
        return _too_few(all_arms, finished, failures)
    return _compared(records, all_arms, finished, failures)


def _compared(
    records: Sequence[RunRecord],
    all_arms: Sequence[Arm],
    finished: Sequence[Arm],
    failures: list[str],
) -> Verdict:
    baseline, *others = finished
    found = [compare_arms(baseline, other) for other in others]
    main = min(found, key=lambda c: c.candidate.storage_bits)
    first, *rest = [s for s in (fairness(records).problem, headline(found)) if s]
    losses = [loss_sentence(c, with_perplexity=len(found) > 1) for c in found]
    return _said(
        first,
        rest,
        failures + _other_yardstick(all_arms, baseline),
        *([said] for said in losses if said not in (first, *rest)),
        [share_sentence(main), claim_sentence(found), exact_match_sentence(finished)],
        [_skipped_sentence(arm) for arm in finished if arm.skipped_updates],
        [_healed_sentence(arm) for arm in finished],
        [target_sentence(finished)],
        cross_sentences(finished),
        cost_sentences(finished, baseline, main.candidate),
        [basis_sentence(main, len(found))],
        loss_delta=main.loss_delta,
        loss_delta_noise=main.noise,
        speed_ratio=speed_ratio(baseline, main.candidate),
        memory_ratio=memory_ratio(baseline, main.candidate),
        comparisons=tuple(found),
    )


def _said(first: str, *subjects: Sequence[str | None], **numbers: object) -> Verdict:
    """The headline, and below it a line for each subject there is something to say of."""
    lines = [say.BETWEEN.join(said for said in sentences if said) for sentences in subjects]
    text = "\n".join([first, *(line for line in lines if line)])
    return Verdict(text=text, headline=first, **numbers)


def _live_text(records: Sequence[RunRecord]) -> str:
    if all(r.status == "queued" for r in records):
        return say.WAITING
    done = sum(r.status not in ("queued", "running") for r in records)
    return say.RUNNING.format(done=done, count=len(records))


def _so_far(records: Sequence[RunRecord]) -> list[str]:
    """What the arms that share a finished seed say already."""
    baseline, *others = arms(records)
    found = [c for other in others if (c := compare_arms(baseline, other)).seeds]
    return [say.SO_FAR.format(said=loss_sentence(c)) for c in found]


def _too_few(all_arms: Sequence[Arm], finished: Sequence[Arm], failures: list[str]) -> Verdict:
    nothing = say.NO_TWO_LOSSES
    if not finished:
        first, *rest = failures
        return _said(first, rest, [nothing])
    [arm] = finished
    details = [_healed_sentence(arm)], [target_sentence([arm])], cross_sentences([arm])
    if len(all_arms) > 1:
        return _said(_finished_text(arm), failures, *details, [nothing])
    return _said(_single_text(arm), failures, *details)


def _finished_text(arm: Arm) -> str:
    after = arm.eval_loss("after")
    if after is None:
        return say.ONLY_ONE_UNJUDGED.format(label=arm.label)
    return say.ONLY_ONE.format(label=arm.label, loss=after, spread=_spread(arm))


def _single_text(arm: Arm) -> str:
    before, after = arm.eval_loss("before"), arm.eval_loss("after")
    if before is None or after is None:
        return say.SINGLE_UNJUDGED.format(label=arm.label)
    return say.SINGLE.format(label=arm.label, before=before, after=after, spread=_spread(arm))


def _spread(arm: Arm) -> str:
    spread, seeds = arm.eval_spread(), len(arm.finished)
    return say.SPREAD.format(spread=spread, seeds=seeds) if spread is not None else ""


def _other_yardstick(all_arms: Sequence[Arm], baseline: Arm) -> list[str]:
    first = all_arms[0]
    if first is baseline:
        return []
    return [say.YARDSTICK.format(first=first.label, baseline=baseline.label)]


def _failures(records: Sequence[RunRecord]) -> list[str]:
    """A sentence for each run that ended otherwise than finished: which, where and why."""
    told = several_seeds(records)
    return [_failure(r, told) for r in records if r.status in say.ENDED]


def _failure(run: RunRecord, with_seed: bool) -> str:
    last = run.steps[-1].step if run.steps else None
    # "not finite" is what diverging is, and "error" says no more than the sentence does.
    cause = None if run.cause in (None, "error", "not finite") else run.cause
    return say.FAILED.format(
        label=run.label,
        seed=say.FAILED_SEED.format(seed=run.seed) if with_seed else "",
        ended=say.ENDED[run.status],
        at=say.FAILED_BEFORE if last is None else say.FAILED_AT.format(step=last),
        kind=say.FAILED_KIND.format(kind=say.CAUSES.get(cause, cause)) if cause else "",
        why=say.FAILED_WHY.format(why=run.error.rstrip(".")) if run.error else "",
    )


def _skipped_sentence(arm: Arm) -> str:
    skipped, steps = arm.skipped_updates, sum(len(r.steps) for r in arm.finished)
    return say.SKIPPED.format(label=arm.label, skipped=skipped, steps=steps)


def _healed_sentence(arm: Arm) -> str | None:
    healed = next((r.facts for r in arm.finished if r.facts.healed_at_step is not None), None)
    if healed is None:
        return None
    to = PRECISIONS[healed.healed_to].label if healed.healed_to else say.HEALED_TO_HIGHER
    return say.HEALED.format(label=arm.label, step=healed.healed_at_step, to=to)
