"""What the store holds of comparisons and runs, as ``--json`` writes it."""

from __future__ import annotations

from typing import Any

from playground import hardware
from playground.compare import RunRecord, group_json
from playground.store import Group, Run, RunStore


def record(store: RunStore, run: Run) -> RunRecord:
    """An arm with everything that was measured of it, of its steps the figures."""
    return RunRecord.of(
        run,
        store.step_figures(run.id),
        store.evals(run.id),
        eval_rows=store.eval_rows(run.id),
        cross=store.cross_evals(run.id),
        layer_errors=store.layer_errors(run.id, newest=True),
    )


def group_result(store: RunStore, group: Group) -> dict[str, Any]:
    """The JSON of ``compare``."""
    return group_json(
        group=group.id,
        preset=group.preset,
        device=hardware.detect().to_dict(),
        records=[record(store, r) for r in group.runs],
    )


def brief(group: Group) -> dict[str, Any]:
    """One entry of the JSON of ``list``."""
    return {
        "id": group.id,
        "preset": group.preset,
        "title": group.title,
        "note": group.note,
        "created_at": group.created_at,
        "runs": [
            {
                "id": r.id,
                "requested": r.precision,
                "seed": r.config.training.seed,
                "status": r.status,
                "error": r.error,
                "cause": r.cause,
            }
            for r in group.runs
        ],
    }
