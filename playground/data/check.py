"""Refuse files that cannot be learned from before a run exists, not once in every run."""

from __future__ import annotations

from playground.catalog.datasets import DatasetEntry
from playground.config import RunConfig
from playground.data.split import load_split


def check_rows(entry: DatasetEntry, config: RunConfig) -> None:
    """Reads and divides the rows of local files as the run will; about a second, at most.

    What is wrong further down in a large file than the shortest of runs reads, the run says.

    Raises:
        SettingsError: what the run itself would say: no rows, unknown columns, a row in error.
    """
    if entry.train_files:
        load_split(entry, _shortest(config))


def _shortest(config: RunConfig) -> RunConfig:
    one_step = {"max_steps": 1, "micro_batch_size": 1, "grad_accum_steps": 1}
    training = config.training.model_copy(update=one_step)
    return config.model_copy(update={"training": training})
