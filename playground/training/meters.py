"""Time, throughput and memory, measured the same way for every precision."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from playground.data.batches import MicroBatch
from playground.events import Facts
from playground.hardware import MIB
from playground.precision.linear import FrozenLinear

WARMUP_STEPS = {"cpu": 2, "cuda": 5}
"""Steps left out of throughput: the first ones pay for caches, allocators and compilation."""


class Memory(NamedTuple):
    """MiB in use after a step, the highest since the start of the run, and what the allocator
    holds; None where there is no such allocator."""

    memory_mib: float
    peak_mib: float
    reserved_mib: float | None


def stored_bytes(tensors: Iterable[Tensor], seen: set[int] | None = None) -> int:
    """Bytes of the storages behind ``tensors``, each counted once however many views it has.

    Args:
        seen: storages already counted elsewhere; those found here are added to it.
    """
    seen = set() if seen is None else seen
    total = 0
    for tensor in tensors:
        storage = tensor.untyped_storage()
        if storage._cdata not in seen:  # its identity, which tensors without memory have too
            seen.add(storage._cdata)
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
    converted = [m for m in model.modules() if isinstance(m, FrozenLinear) and not m.kept]
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
    """What CUDA's allocator reports, less what it held when this was made.

    Allocated is what tensors occupy, work space of every operation included; reserved is what the
    allocator has taken from the device for them.
    """

    source = "CUDA allocator"

    def __init__(self, device: torch.device) -> None:
        self._device = device
        torch.cuda.reset_peak_memory_stats(device)
        self._at_start = {kind: now for kind, (now, _) in self._in_use().items()}
        self._peaks = {"allocated_bytes": 0, "reserved_bytes": 0}
        self._largest_batch = self._activations = 0

    @contextmanager
    def watch(self, batch: MicroBatch) -> Iterator[None]:
        """Sees what is left of the forward pass inside: what its backward pass will read."""
        if batch.input_ids.numel() <= self._largest_batch:
            yield
            return
        self._largest_batch = batch.input_ids.numel()
        before = self._in_use()["allocated_bytes"][0]
        yield
        left = self._in_use()["allocated_bytes"][0] - before
        self._activations = max(self._activations, left)

    def recount(self, optimizer_state: Iterable[Tensor] = ()) -> None:
        """Nothing to do: the allocator counts by itself."""

    def read(self) -> Memory:
        used = self._in_use()
        for kind, (_, peak) in used.items():
            self._peaks[kind] = max(self._peaks[kind], peak - self._at_start[kind])
        allocated, reserved = (used[kind][0] - self._at_start[kind] for kind in self._peaks)
        return Memory(allocated / MIB, self._peaks["allocated_bytes"] / MIB, reserved / MIB)

    def facts(self) -> Facts:
        self.read()
        peak, reserved = (peak / MIB for peak in self._peaks.values())
        activations = self._activations / MIB if self._largest_batch else None
        return Facts(peak_mib=peak, peak_reserved_mib=reserved, activations_mib=activations)

    def peaks(self) -> dict[str, int]:
        """The highest so far, for a run that goes on in another process."""
        self.read()
        seen = {"largest_batch": self._largest_batch, "activations": self._activations}
        return self._peaks | seen

    def load_peaks(self, peaks: dict[str, int]) -> None:
        self._largest_batch, self._activations = peaks["largest_batch"], peaks["activations"]
        # None of them where the run began on a CPU.
        self._peaks = {kind: max(peak, peaks.get(kind, 0)) for kind, peak in self._peaks.items()}

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is allocated inside counts towards no peak."""
        self.read()
        try:
            yield
        finally:
            torch.cuda.reset_peak_memory_stats(self._device)

    def _in_use(self) -> dict[str, tuple[int, int]]:
        """Bytes now and at the most, by kind. torch gathers all its figures to tell any one."""
        stats = torch.cuda.memory_stats_as_nested_dict(self._device)
        kinds = ("allocated_bytes", "reserved_bytes")
        return {k: (stats[k]["all"]["current"], stats[k]["all"]["peak"]) for k in kinds}


class Saved:
    """Bytes of what autograd saved, each storage once.

    Args:
        at_rest: tensors that are there anyway and count for nothing.
    """

    def __init__(self, at_rest: Iterable[Tensor]) -> None:
        self.total = 0
        self._seen: set[int] = set()
        stored_bytes(at_rest, self._seen)

    def keep(self, tensor: Tensor) -> Tensor:
        """To be called with each tensor that is saved."""
        self.total += stored_bytes([tensor], self._seen)
        return tensor


class CountedMemory:
    """On a CPU: bytes of weights, adapter, optimizer, gradients, and what autograd saved.

    The process's own memory would mostly tell how large torch is. Activations are what the forward
    pass keeps for the backward pass, the loss's share included, counted for the largest micro-batch
    so far, because counting takes time and a smaller one cannot need more. The peak is the sum of
    all kinds: in truth the last gradients come when most activations are gone. Not counted is what
    lives inside one operation only: a decoded weight, a rounded operand, a chunk of logits (16 MiB
    at most, where the loss is chunked), the gradient on its way back. In a step of the bundled
    model that is a thirtieth of what torch's allocator gives out at the most in fp32, and a tenth
    in NVFP4, whose emulation decodes weights and rounds in fp32: work that no GPU has with it.
    """

    source = "counted tensor bytes (CPU)"

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._largest_batch = 0
        self._activations = 0
        self.recount()

    @contextmanager
    def watch(self, batch: MicroBatch) -> Iterator[Saved | None]:
        """Counts what the forward pass inside saves for its backward pass.

        Yields the count, which grows meanwhile; None where a batch as large was counted before.
        """
        if batch.input_ids.numel() <= self._largest_batch:
            yield None
            return
        self._largest_batch = batch.input_ids.numel()
        saved = Saved(self._at_rest())
        with torch.autograd.graph.saved_tensors_hooks(saved.keep, lambda tensor: tensor):
            yield saved
        self._activations = max(self._activations, saved.total)

    def recount(self, optimizer_state: Iterable[Tensor] = ()) -> None:
        """To be called when what is at rest has changed: the optimizer got its state, or the base
        another precision. Walking a thousand tensors at every step would show in its time.
        """
        self._used = stored_bytes([*self._at_rest(), *optimizer_state])
        self._gradients = stored_bytes(p for p in self._model.parameters() if p.requires_grad)

    def read(self) -> Memory:
        peak = self._used + self._gradients + self._activations
        return Memory(self._used / MIB, peak / MIB, None)

    def facts(self) -> Facts:
        return Facts(
            gradients_mib=self._gradients / MIB,
            activations_mib=self._activations / MIB if self._largest_batch else None,
            peak_mib=self.read().peak_mib,
        )

    def peaks(self) -> dict[str, int]:
        """The highest so far, for a run that goes on in another process."""
        return {"largest_batch": self._largest_batch, "activations": self._activations}

    def load_peaks(self, peaks: dict[str, int]) -> None:
        self._largest_batch, self._activations = peaks["largest_batch"], peaks["activations"]

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Nothing to do: only what is watched is counted."""
        yield

    def _at_rest(self) -> list[Tensor]:
        return [*self._model.parameters(), *self._model.buffers()]
