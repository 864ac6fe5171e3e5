"""What is not the same in several runs: settings, and what they ran in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playground.compare.records import RunRecord


@dataclass(frozen=True)
class Difference:
    """A dotted name, such as ``training.max_steps``, and its value in each run, in their order.

    None: the run has none, or it was not recorded.
    """

    name: str
    values: tuple[Any, ...]


def setting_differences(records: Sequence[RunRecord]) -> list[Difference]:
    """The settings that are not the same in all runs, in the order of the config."""
    return differing([flatten(r.config.model_dump()) for r in records])


def environment_differences(records: Sequence[RunRecord]) -> list[Difference]:
    """What was recorded around them and is not the same: versions, device, kernels."""
    return differing(
        [
            {f"device.{k}": v for k, v in flatten(r.facts.device or {}).items()}
            | {f"environment.{k}": v for k, v in flatten(r.facts.environment or {}).items()}
            for r in records
        ]
    )


def differing(tables: Sequence[dict[str, Any]]) -> list[Difference]:
    """The entries that are not the same in all tables, one that is missing included."""
    keys = dict.fromkeys(key for table in tables for key in table)
    rows = [Difference(key, tuple(table.get(key) for table in tables)) for key in keys]
    return [row for row in rows if any(value != row.values[0] for value in row.values)]


def flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as one with dotted names."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
