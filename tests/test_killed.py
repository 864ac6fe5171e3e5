"""kill -9 at any moment: no committed step is lost, no checkpoint is half there, and resumed to its
end the run is what it would have been.

The longer loop, with a launcher and kills from outside: ``python -m benchmarks.kill_loop``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.kill_loop import damage, held
from playground.config import RunConfig
from playground.failures import from_exit_code
from playground.store import RunStore
from tests.killing import worker_process
from tests.training.conftest import configure, dataset_file, model_folder  # noqa: F401

OWNER = "1:1.0"
KILLS = 6


def claimed(store: RunStore, config: RunConfig) -> str:
    (run_id,) = store.create_group("quick", "t", [config], OWNER).run_ids
    assert store.claim_next(OWNER)
    return run_id


def settle_and_requeue(store: RunStore, run_id: str, code: int) -> None:
    """What the launcher does, and a person who presses Resume."""
    end = from_exit_code(code)
    store.settle(run_id, end.status, end.error, owner=OWNER, cause=end.cause)
    assert store.get_run(run_id).cause == "killed"
    store.requeue(run_id, owner=OWNER)
    assert store.claim_next(OWNER)


@pytest.fixture
def config(configure: Callable[..., RunConfig]) -> RunConfig:  # noqa: F811
    return configure(
        precision="nvfp4-2d", max_steps=9, checkpoint_every=2, eval_every=3, lora_dropout=0.2
    )


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again(
    config: RunConfig, store: RunStore, home: Path, tmp_path: Path
) -> None:
    whole_id = claimed(store, config)
    assert worker_process(whole_id, home, None, tmp_path / "ticks") == 0
    store.settle(whole_id, "failed", None, owner=OWNER)
    assert store.get_run(whole_id).status == "finished"
    whole, ticks = held(store, whole_id), int((tmp_path / "ticks").read_text())

    run_id, committed = claimed(store, config), set()
    draw = random.Random(1)
    for _ in range(KILLS):
        # A fifth of the ticks lead to the first step. What is left is less at each attempt.
        left = 1 - len(committed) / config.training.max_steps
        moment = int(ticks * (0.2 + draw.uniform(0, 0.5) * left))
        code = worker_process(run_id, home, moment, tmp_path / "never")
        assert code == -9, f"it was over before tick {moment} of {ticks}"
        assert damage(store, run_id, whole, committed) == []
        committed = {step.step for step in store.steps(run_id)}
        settle_and_requeue(store, run_id, code)
    assert worker_process(run_id, home, None, tmp_path / "ticks") == 0
    assert store.get_run(run_id).status == "finished"
    assert held(store, run_id) == whole
    assert [path.name for path in store.run_folder(run_id).iterdir()] == ["adapter"]
