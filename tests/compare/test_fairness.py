"""A comparison is controlled only if the hashes agree and the precision alone differs."""

from __future__ import annotations

from playground.compare import fairness
from tests.compare.arms import arm


def test_two_precisions_of_one_config_are_fair() -> None:
    fair = fairness([arm("fp16"), arm("nvfp4")])
    assert (fair.same_batches, fair.same_adapter_init) == (True, True)
    assert fair.only_difference == ["precision"]
    assert fair.problem is None


def test_other_batches_are_named() -> None:
    fair = fairness([arm("fp16"), arm("nvfp4", batches_sha256="c" * 64)])
    assert fair.same_batches is False
    assert "different batches" in fair.problem


def test_another_adapter_start_is_named() -> None:
    fair = fairness([arm("fp16"), arm("nvfp4", adapter_init_sha256="c" * 64)])
    assert "adapters started" in fair.problem


def test_a_second_difference_is_named() -> None:
    fair = fairness([arm("fp16"), arm("nvfp4", settings={"dataset": "other"})])
    assert fair.only_difference == ["dataset", "precision"]
    assert "dataset differ" in fair.problem


def test_a_library_upgraded_in_between_is_named() -> None:
    fair = fairness([arm("fp16"), arm("nvfp4", environment={"torch": "2.14.0"})])
    assert "environment.torch" in fair.problem


def test_unknown_is_not_the_same_as_different() -> None:
    fair = fairness([arm("fp16"), arm("nvfp4", batches_sha256=None, environment=None)])
    assert fair.same_batches is None
    assert fair.problem is None


def test_a_stopped_run_has_seen_fewer_batches_and_is_not_held_against_the_rest() -> None:
    stopped = arm("nvfp4", status="stopped", batches_sha256="c" * 64)
    assert fairness([arm("fp16"), stopped]).same_batches is None
