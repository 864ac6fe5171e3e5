"""The proof that a comparison is a controlled experiment: hashes and settings, compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from playground.compare import sentences as say
from playground.compare.arms import arms
from playground.compare.differences import differing, flatten, setting_differences
from playground.compare.records import RunRecord

_SEED = "training.seed"
_OF_THE_PRECISION = "environment.compute_dtype"
"""On a GPU a recipe brings the 16-bit type of norms, attention and head: no second cause."""


@dataclass(frozen=True)
class Fairness:
    """Whether the arms differ in the precision and in nothing else. None: not known yet.

    Attributes:
        same_batches / same_adapter_init: within every seed.
        same_eval_rows: in all runs, whatever the seed.
        seeds_differ: no two seeds had the same batches or the same adapter at the start.
        only_difference: settings and surroundings that differ; the seed is never one of them.
        unequal_seeds: the precisions were not run with the same seeds.
    """

    same_batches: bool | None
    same_adapter_init: bool | None
    only_difference: list[str]
    same_eval_rows: bool | None = None
    seeds_differ: bool | None = None
    unequal_seeds: bool = False

    @property
    def problem(self) -> str | None:
        """One sentence when the comparison is not a controlled one."""
        others = [d for d in self.only_difference if d != "precision"]
        found = {
            say.OTHER_BATCHES: self.same_batches is False,
            say.OTHER_START: self.same_adapter_init is False,
            say.OTHER_ROWS: self.same_eval_rows is False,
            say.OTHER_SEEDS: self.unequal_seeds,
            say.SAME_SEEDS: self.seeds_differ is False,
            say.DIFFER_AS_WELL.format(names=say.COMMA.join(others)): bool(others),
        }
        wrong = next((words for words, so in found.items() if so), None)
        return say.UNFAIR.format(why=wrong) if wrong else None


def fairness(records: Sequence[RunRecord]) -> Fairness:
    """Compares the hashes, the settings and the recorded environments of a group's runs."""
    surroundings = [
        {f"environment.{k}": v for k, v in flatten(r.facts.environment).items()}
        for r in records
        if r.facts.environment is not None
    ]
    complete = [r for r in records if r.status == "finished"]
    found = [d.name for d in (*setting_differences(records), *differing(surroundings))]
    seeds = [{r.seed for r in arm.runs} for arm in arms(records)]
    return Fairness(
        same_batches=_within_seeds(complete, _batches),
        same_adapter_init=_within_seeds(records, _adapter),
        only_difference=[name for name in found if name not in (_SEED, _OF_THE_PRECISION)],
        same_eval_rows=_agree([r.facts.eval_sha256 for r in records]),
        seeds_differ=_both(_across_seeds(complete, _batches), _across_seeds(records, _adapter)),
        unequal_seeds=any(s != seeds[0] for s in seeds),
    )


_Hash = Callable[[RunRecord], str | None]


def _batches(record: RunRecord) -> str | None:
    return record.facts.batches_sha256


def _adapter(record: RunRecord) -> str | None:
    return record.facts.adapter_init_sha256


def _within_seeds(records: Sequence[RunRecord], hash_of: _Hash) -> bool | None:
    """Whether the runs of each seed agree; True only if there was something to compare."""
    found = [_agree([hash_of(r) for r in records if r.seed == s]) for s in _seeds(records)]
    return False if False in found else (True if True in found else None)


def _across_seeds(records: Sequence[RunRecord], hash_of: _Hash) -> bool | None:
    """Whether no two seeds share a hash; None with fewer than two seeds that are known."""
    by_seed = [{hash_of(r) for r in records if r.seed == s} - {None} for s in _seeds(records)]
    known = [hashes for hashes in by_seed if hashes]
    if len(known) < 2:
        return None
    return len(set.union(*known)) == sum(map(len, known))


def _seeds(records: Sequence[RunRecord]) -> list[int]:
    return list(dict.fromkeys(r.seed for r in records))


def _both(a: bool | None, b: bool | None) -> bool | None:
    known = [value for value in (a, b) if value is not None]
    return all(known) if known else None


def _agree(values: Sequence[str | None]) -> bool | None:
    known = [v for v in values if v is not None]
    return len(set(known)) == 1 if len(known) > 1 else None
