"""A comparison that was really trained, kept as a worker would have kept it, without a process."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from playground.config import RunConfig, parse_config, setting_path
from playground.presets import defaults
from playground.processes import ProcessId
from playground.store import Group, RunStore

SETTINGS: dict[str, Any] = {
    "model": "tiny",
    "dataset": "iso-dates",
    "max_seq_len": 64,
    "train_rows": 64,
    "eval_rows": 8,
    "exact_match_rows": 6,
    "max_steps": 12,
    "micro_batch_size": 16,
    "learning_rate": 3e-3,
    "lora_r": 4,
}
"""The bundled model learns how an ISO date looks, and gets some of them right."""


def configured(precision: str, **changes: Any) -> RunConfig:
    values = defaults()
    for name, value in {**SETTINGS, "precision": precision, **changes}.items():
        *section, leaf = setting_path(name)
        (values[section[0]] if section else values)[leaf] = value
    return parse_config(values)


def train_into(store: RunStore, *configs: RunConfig, title: str = "Trained") -> Group:
    """Trains one run after another, here and now, and stores all that they say."""
    from playground.training.loop import train

    owner = str(ProcessId.of())
    group = store.create_group("quick", title, list(configs), owner)
    for _ in configs:
        run = store.claim_next(owner)
        for event in train(run.config, folder=store.run_folder(run.id)):
            store.append(run.id, event)
        store.settle(run.id, "failed", "It did not say how it ended.", owner=owner)
    return store.get_group(group.id)


def copied(home: Path, to: Path) -> RunStore:
    """A home of one's own that holds what ``home`` does."""
    shutil.copytree(home, to)
    return RunStore(to)
