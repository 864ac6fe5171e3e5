"""A GPU that torch cannot use is said to be one, and the run goes on without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from playground.catalog.models import TINY, ModelEntry
from playground.config import RunConfig, parse_config
from playground.events import Event, Facts, Message
from playground.hardware import Device
from playground.presets import defaults
from playground.training import prepare as preparing
from playground.training.environment import (
    busy_device,
    compute_device,
    environment,
    pin_numerics,
)
from playground.training.loss import choose_loss_kernel
from tests.tiny import tiny_llama
from tests.training.prepared import facts

GPU = Device("NVIDIA Test", "cuda", 0, 8192, "12.0", True, "600.0", "It is there.", 2)


def test_a_gpu_without_support_in_torch_leads_to_the_cpu_and_a_true_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_kernel(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: no kernel image is available for execution\nmore")

    monkeypatch.setattr(torch, "ones", no_kernel)
    device, told = compute_device(GPU)
    assert device == torch.device("cpu")
    assert (told.kind, told.name, told.fp4_native, told.index) == ("cpu", "CPU", False, None)
    assert told.reason == (
        "torch cannot use NVIDIA Test (CUDA error: no kernel image is available for execution), "
        "so every format but FP32 is emulated."
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a torch without CUDA")
def test_a_torch_built_for_cpus_says_so() -> None:
    device, told = compute_device(GPU)
    assert device.type == "cpu"
    assert "torch cannot use NVIDIA Test (" in told.reason


def test_a_cpu_stays_a_cpu() -> None:
    cpu = Device("CPU", "cpu", None, None, None, False, None, "No GPU.", 2)
    assert compute_device(cpu) == (torch.device("cpu"), cpu)


def gpu(kind: str = "cuda") -> Device:
    return Device("NVIDIA Any", kind, 0, 8192, "9.0", False, "580", "Because.", 2)


def test_a_busy_gpu_is_warned_of_and_nothing_else() -> None:
    assert busy_device(gpu(), 2048.0) == (
        "2,048 MiB of NVIDIA Any's memory were in use by others when this run began. They are not "
        "counted as its own, but whoever holds them may slow it down and adds to the power that "
        "is measured."
    )
    assert busy_device(gpu(), 300.0) is None  # a desktop
    assert busy_device(gpu(), None) is None  # cannot be told
    assert busy_device(gpu("cpu"), 2048.0) is None  # not the device that is used


def test_memory_in_use_is_asked_before_the_run_takes_any(
    configure: Callable[..., RunConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def in_use() -> float:
        asked.append("in use")
        return 4096.0

    def take_device(detected: Device) -> tuple[torch.device, Device]:
        asked.append("taken")
        return torch.device("cpu"), gpu()

    monkeypatch.setattr(preparing.hardware, "memory_in_use_mib", in_use)
    monkeypatch.setattr(preparing, "compute_device", take_device)
    events = preparing.prepare(configure(), lambda: None)
    device, warning = next(events), next(events)
    assert asked == ["in use", "taken"]
    assert isinstance(device, Facts) and isinstance(warning, Message)
    assert warning.level == "warning" and warning.text.startswith("4,096 MiB of NVIDIA Any")


def test_whatever_could_differ_between_arms_is_recorded() -> None:
    pin_numerics(0)
    model = tiny_llama().requires_grad_(False)
    config = defaults() | {"model": "tiny", "dataset": "rows"}
    choose_loss_kernel(model)
    said = environment(
        model, parse_config(config | {"precision": "fp32"}), torch.device("cpu"), "off: as set"
    )
    assert said["attention"] == "sdpa" and said["optimizer"] == "AdamW (torch, fused)"
    assert said["loss_kernel"] == "chunked cross-entropy in fp32, logits never whole"
    assert (said["compile"], said["tf32"], said["packing"]) == ("off: as set", False, False)
    assert said["gradient_checkpointing"] is False and said["deterministic"] is True
    assert said["batches"] == "uneven rows in parts"
    assert said["torch"] and said["transformers"] and said["peft"]


def test_the_hubs_commit_of_the_model_is_recorded(
    tmp_path: Path, configure: Callable[..., RunConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same id may mean other weights tomorrow; so it shows among what differs."""
    folder = tmp_path / "snapshots" / "c0ffee"
    folder.parent.mkdir()
    folder.symlink_to(TINY.path)

    def fetched(entry: ModelEntry, check: Callable[[], None]) -> Iterator[Event]:
        yield from ()
        return entry.changed(hub_id="a/tiny", path=folder)

    assert "model_revision" not in recorded(configure())  # the bundled model has none
    monkeypatch.setattr(preparing, "fetched", fetched)
    assert recorded(configure())["model_revision"] == "c0ffee"


def recorded(config: RunConfig) -> dict[str, Any]:
    return facts(list(preparing.prepare(config, lambda: None)))["environment"]
