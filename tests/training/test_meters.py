"""Bytes are counted once, and time is what the clock says."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from playground.data.batches import collate
from playground.data.tokenise import Example
from playground.precision.convert import convert
from playground.precision.registry import PRECISION_RECIPES
from playground.training.meters import MIB, CountedMemory, StepTimer, stored_bytes, weigh
from tests.tiny import tiny_llama

CPU = torch.device("cpu")


def test_a_storage_is_counted_once_and_in_full() -> None:
    a = torch.zeros(100)
    assert stored_bytes([a, a.view(10, 10), a[:3]]) == 400
    assert stored_bytes([a[:3]]) == 400
    assert stored_bytes([a, torch.zeros(2, dtype=torch.uint8)]) == 402
    seen: set[int] = set()
    stored_bytes([a], seen)
    assert stored_bytes([a[::2], torch.zeros(1)], seen) == 4


@pytest.mark.parametrize(("precision", "bits"), [("fp32", 32), ("fp16", 16), ("nvfp4", 4.5)])
def test_weights_are_weighed_from_their_bytes(precision: str, bits: float) -> None:
    model = tiny_llama()
    convert(model, PRECISION_RECIPES[precision], CPU)
    # q and o are 32x32, k and v 16x32, gate, up and down 32x64; twice, for two layers.
    values = 2 * (2 * 32 * 32 + 2 * 16 * 32 + 3 * 32 * 64)
    scales = 14 * 32 if precision == "nvfp4" else 0
    found = weigh(model)
    assert found.converted_weights_mib * MIB * 8 == values * bits + scales
    assert found.bits_per_converted_weight == pytest.approx(bits + scales / values)
    # The tied embedding is there once; beside it only norms and rotary frequencies.
    rest = found.weights_mib * MIB - found.converted_weights_mib * MIB
    assert 258 * 32 * 4 < rest < 258 * 32 * 4 + 2000
    assert found.adapters_mib == 0


def test_the_timer_reads_the_clock_around_the_step() -> None:
    times = iter([10.0, 10.25])
    timer = StepTimer(CPU, clock=lambda: next(times))
    with timer():
        pass
    assert timer.step_ms == 250


def batch_of(rows: int, length: int):  # type: ignore[no-untyped-def]
    return collate([Example([1] * length, [1] * length, [], None)] * rows, pad_id=0)


def test_activations_are_those_saved_by_the_largest_batch() -> None:
    model = nn.Linear(8, 8, bias=False)
    memory = CountedMemory(model)
    at_rest = 8 * 8 * 4

    def forward(rows: int) -> None:
        with memory.watch(batch_of(rows, 1)):
            x = torch.ones(rows, 8)
            model(x.exp())  # saves exp's result; the weight is at rest already

    assert memory.read([]).memory_mib * MIB == at_rest
    for rows, saved in [(4, 4), (16, 16), (2, 16)]:
        forward(rows)
        # Weight, its gradient, and the largest input so far; the optimizer's state comes on top.
        assert memory.read([]).peak_mib * MIB == 2 * at_rest + saved * 8 * 4
    assert memory.read([torch.zeros(5)]).memory_mib * MIB == at_rest + 20
