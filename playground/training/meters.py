"""Time, throughput and memory, measured the same way for every precision."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from playground.data.batches import MicroBatch
from playground.precision.linear import FrozenLinear

MIB = 2**20

WARMUP_STEPS = {"cpu": 2, "cuda": 5}
"""Steps left out of throughput: the first ones pay for caches, allocators and compilation."""


class Memory(NamedTuple):
    """MiB in use after a step, and the highest since the start of the run."""

    memory_mib: float
    peak_mib: float


def stored_bytes(tensors: Iterable[Tensor], seen: set[int] | None = None) -> int:
    """Bytes of the storages behind ``tensors``, each counted once however many views it has.

    Args:
        seen: storages already counted elsewhere; those found here are added to it.
    """
    seen = set() if seen is None else seen
    total = 0
    for tensor in tensors:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in seen:
            seen.add(storage.data_ptr())
            total += storage.nbytes()
    return total


class WeightFacts(NamedTuple):
    """Memory at rest, from real tensor bytes, and the values that a packed weight stands for."""

    parameters: int
    weights_mib: float
    converted_weights_mib: float
    bits_per_converted_weight: float
    adapters_mib: float


def weigh(model: nn.Module) -> WeightFacts:
    """Weighs the base model (buffers included), its converted Linears, and the adapter."""
    converted = [m for m in model.modules() if isinstance(m, FrozenLinear)]
    packed = stored_bytes(t for m in converted for t in m.weight_tensors())
    values = sum(m.in_features * m.out_features for m in converted)
    adapter = stored_bytes(p for p in model.parameters() if p.requires_grad)
    everything = stored_bytes([*model.parameters(), *model.buffers()])
    return WeightFacts(
        # A packed weight has no float parameter, but the model is no smaller for it.
        parameters=sum(p.numel() for p in model.parameters())
        + sum(m.in_features * m.out_features for m in converted if m.weight is None),
        weights_mib=(everything - adapter) / MIB,
        converted_weights_mib=packed / MIB,
        bits_per_converted_weight=8 * packed / values,
        adapters_mib=adapter / MIB,
    )


class StepTimer:
    """Wall time of a step with the device's queue drained before and after."""

    def __init__(
        self, device: torch.device, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._device, self._clock = device, clock
        self.step_ms = 0.0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        start = self._now()
        yield
        self.step_ms = (self._now() - start) * 1000

    def _now(self) -> float:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return self._clock()


class CudaMemory:
    """What CUDA's allocator reports, less what was in use when this was made."""

    source = "CUDA allocator"

    def __init__(self, device: torch.device) -> None:
        self._device = device
        torch.cuda.reset_peak_memory_stats(device)
        self._at_start = torch.cuda.memory_allocated(device)

    @contextmanager
    def watch(self, batch: MicroBatch) -> Iterator[None]:
        yield

    def read(self, optimizer_state: list[Tensor]) -> Memory:
        used = torch.cuda.memory_allocated(self._device) - self._at_start
        peak = torch.cuda.max_memory_allocated(self._device) - self._at_start
        return Memory(used / MIB, peak / MIB)


class CountedMemory:
    """On a CPU: bytes of weights, adapter, optimizer, gradients, and what autograd saved.

    The process's own memory would mostly tell how large torch is. Activations are counted for the
    largest micro-batch so far, because counting takes time and a smaller one cannot need more.
    Short-lived work space (a decoded weight, for example) is not counted.
    """

    source = "counted tensor bytes (CPU)"

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._largest_batch = 0
        self._activations = 0

    @contextmanager
    def watch(self, batch: MicroBatch) -> Iterator[None]:
        """Counts what the forward pass inside saves for its backward pass."""
        if batch.input_ids.numel() <= self._largest_batch:
            yield
            return
        self._largest_batch = batch.input_ids.numel()
        seen: set[int] = set()
        stored_bytes(self._at_rest(), seen)
        count = 0

        def counted(tensor: Tensor) -> Tensor:
            nonlocal count
            count += stored_bytes([tensor], seen)
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(counted, lambda tensor: tensor):
            yield
        self._activations = max(self._activations, count)

    def read(self, optimizer_state: list[Tensor]) -> Memory:
        used = stored_bytes([*self._at_rest(), *optimizer_state])
        gradients = stored_bytes(p for p in self._model.parameters() if p.requires_grad)
        return Memory(used / MIB, (used + gradients + self._activations) / MIB)

    def _at_rest(self) -> list[Tensor]:
        return [*self._model.parameters(), *self._model.buffers()]
