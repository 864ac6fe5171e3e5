"""The proof that a comparison is a controlled experiment: hashes and settings, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playground.compare.records import RunRecord


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
