"""A comparison is controlled only if the hashes agree and the precision alone differs."""

from __future__ import annotations

import pytest

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


class TestSeeds:
    """With repetitions, hashes agree within a seed, differ between seeds, and the seed is none."""

    def _grid(self, **changes) -> list:
        return [arm(p, seed=s, **changes) for s in (42, 43) for p in ("fp16", "nvfp4")]

    def test_a_seed_is_no_difference(self) -> None:
        fair = fairness(self._grid())
        assert (fair.same_batches, fair.same_adapter_init, fair.seeds_differ) == (True, True, True)
        assert fair.only_difference == ["precision"] and fair.problem is None

    def test_a_second_difference_is_still_named(self) -> None:
        runs = self._grid()
        runs[3] = arm("nvfp4", seed=43, settings={"dataset": "other"})
        assert fairness(runs).only_difference == ["dataset", "precision"]

    def test_other_batches_in_one_seed_are_found(self) -> None:
        runs = self._grid()
        runs[3] = arm("nvfp4", seed=43, batches_sha256="c" * 64)
        assert fairness(runs).same_batches is False

    @pytest.mark.parametrize("field", ["batches_sha256", "adapter_init_sha256"])
    def test_seeds_that_change_nothing_are_a_fault(self, field: str) -> None:
        fair = fairness(self._grid(**{field: "d" * 64}))
        assert fair.seeds_differ is False
        assert "two seeds trained on the same batches or from the same adapter" in fair.problem

    def test_a_seed_alone_is_compared_with_nothing(self) -> None:
        assert fairness([arm("fp16"), arm("nvfp4")]).seeds_differ is None
        assert fairness(self._grid()[:3]).same_batches is True  # of seed 43 one arm is known

    def test_arms_of_different_seeds_are_no_comparison(self) -> None:
        fair = fairness([arm("fp16", seed=1), arm("nvfp4", seed=2)])
        assert fair.problem.endswith("the arms were run with different seeds.")
        assert fair.only_difference == ["precision"]


def test_other_held_out_rows_are_no_comparison() -> None:
    fair = fairness([arm("fp16"), arm("nvfp4", eval_sha256="f" * 64)])
    assert "different held-out rows" in fair.problem


@pytest.mark.parametrize(
    "name",
    ["attention", "compile", "tf32", "loss_kernel", "optimizer", "packing", "batches", "threads"],
)
def test_whatever_a_run_records_of_its_surroundings_is_compared(name: str) -> None:
    fair = fairness([arm("fp16", environment={name: "a"}), arm("nvfp4", environment={name: "b"})])
    assert fair.only_difference == ["precision", f"environment.{name}"]
    assert fair.problem == f"Not a controlled comparison: environment.{name} differ as well."


def test_the_16_bit_type_that_comes_with_a_precision_is_no_difference_of_its_own() -> None:
    fp16, nvfp4 = ({"compute_dtype": name} for name in ("float16", "bfloat16"))
    fair = fairness([arm("fp16", environment=fp16), arm("nvfp4", environment=nvfp4)])
    assert fair.only_difference == ["precision"] and fair.problem is None
