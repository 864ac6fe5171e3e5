"""One training step of SmolLM2-135M in each precision, as ratios to FP32 within one run.

    python -m benchmarks.bench_step [--steps 5] [--tokens 512] [--cpu-time] [--json FILE] [name ...]

Every precision gets a copy of the same model and the same batch, and they take turns, so that
whatever else the machine does falls on all of them alike. On a CPU all are emulated: the ratio says
what the emulation costs, nothing about the format's speed on hardware. An NVFP4 step is to take at
most 1.4 times an FP32 step.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch

from benchmarks.harness import as_a_worker, versions
from playground import hardware
from playground.catalog import resolve_model
from playground.config import parse_config
from playground.data.batches import MicroBatch, collate
from playground.data.tokenise import Example
from playground.precision.convert import convert
from playground.precision.registry import recipe_of
from playground.presets import defaults
from playground.training.adapter import add_adapter, trainable
from playground.training.environment import compute_device, pin_numerics
from playground.training.loss import choose_loss_kernel, summed_loss
from playground.training.meters import StepTimer
from playground.training.model import load_checkpoint
from playground.training.optimise import Optimiser

BASE = "fp32"
ROWS = 4
BOUNDS = {"nvfp4": 1.4}
"""Of an emulated step's time to FP32's, on a CPU."""


class Arm(NamedTuple):
    """One precision's model, ready to step."""

    model: torch.nn.Module
    optimiser: Optimiser
    times_ms: list[float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("precisions", nargs="*", default=["fp16", "nvfp4"], metavar="name")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--steps", type=int, default=5, help="timed steps of each precision")
    parser.add_argument("--tokens", type=int, default=512, help="tokens of a step, in four rows")
    parser.add_argument(
        "--cpu-time", action="store_true", help="on a busy CPU: one thread, processor time"
    )
    parser.add_argument("--json", type=Path, help="write the result here")
    given = parser.parse_args()
    if given.cpu_time:
        torch.set_num_threads(1)
    names = list(dict.fromkeys([BASE, *given.precisions]))
    device, detected = compute_device(hardware.detect())
    pin_numerics(0)
    arms = make_arms(names, given.model, device)
    batch = random_batch(given.tokens)
    timer = StepTimer(device, clock=time.process_time if given.cpu_time else time.perf_counter)
    # One warm-up round: after it allocators and thread pools are as they stay.
    for number in range(1 + given.steps):
        for arm in arms.values():
            with timer():
                arm.optimiser.step([batch.to(device)], lambda b, arm=arm: summed_loss(arm.model, b))
            if number:
                arm.times_ms.append(timer.step_ms)
    report(arms, detected, given)
    if given.json:
        given.json.write_text(json.dumps(result(arms, detected, given), indent=1) + "\n")


def make_arms(names: list[str], model: str, device: torch.device) -> dict[str, Arm]:
    """The same checkpoint, loaded once, in each precision with the same adapter."""
    config = parse_config(defaults() | {"model": model, "dataset": "iso-dates", "precision": BASE})
    checkpoint = load_checkpoint(resolve_model(model), 512, torch.float32).model
    arms = {}
    for name in names:
        recipe = recipe_of(config.with_precision(name))
        base = copy.deepcopy(checkpoint)
        convert(base, recipe, device)
        adapted = add_adapter(base, config.lora, seed=0).to(device).train()
        choose_loss_kernel(adapted)
        optimiser = Optimiser(
            list(trainable(adapted).values()),
            config.training,
            scales_loss=recipe.scales_loss,
            device=device,
        )
        arms[name] = Arm(adapted, optimiser, [])
    return arms


def random_batch(tokens: int) -> MicroBatch:
    """Four rows without padding, a third of each supervised, as an answer would be."""
    draw = torch.Generator().manual_seed(0)
    length = tokens // ROWS
    rows = []
    for _ in range(ROWS):
        ids = torch.randint(0, 1000, (length,), generator=draw).tolist()
        prompt = length * 2 // 3
        rows.append(Example(ids, [-100] * prompt + ids[prompt:], [], None))
    return collate(rows, pad_id=0)


def result(
    arms: dict[str, Arm], detected: hardware.Device, given: argparse.Namespace
) -> dict[str, Any]:
    """Times and ratios as plain values, with what they were measured on."""
    base = arms[BASE].times_ms
    return {
        "benchmark": f"one training step, emulated formats to {BASE}",
        "device": detected.name,
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "settings": {"model": given.model, "tokens": given.tokens, "cpu_time": given.cpu_time},
        "bounds": BOUNDS,
        "rows": [
            {
                "precision": name,
                "step_ms": arm.times_ms,
                "ratio_of_medians": statistics.median(arm.times_ms) / statistics.median(base),
                "ratio_of_minima": min(arm.times_ms) / min(base),
            }
            for name, arm in arms.items()
        ],
    }


def report(arms: dict[str, Arm], detected: hardware.Device, given: argparse.Namespace) -> None:
    threads = torch.get_num_threads()
    clock = "processor" if given.cpu_time else "wall"
    print(
        f"{given.model}, {given.tokens} tokens a step, {detected.name}, {threads} threads, "
        f"torch {torch.__version__}, {clock} time"
    )
    print(f"{'':8} {'min':>8} {'median':>8} {'max':>8} ms   ratio of medians, of minima to {BASE}")
    base = arms[BASE].times_ms
    for name, arm in arms.items():
        times = arm.times_ms
        of_medians = statistics.median(times) / statistics.median(base)
        print(
            f"{name:8} {min(times):8.0f} {statistics.median(times):8.0f} {max(times):8.0f}      "
            f"{of_medians:.2f}, {min(times) / min(base):.2f}{_verdict(name, of_medians)}"
        )


def _verdict(name: str, ratio: float) -> str:
    if name not in BOUNDS:
        return ""
    return f"   at most {BOUNDS[name]}: {'met' if ratio <= BOUNDS[name] else 'MISSED'}"


if __name__ == "__main__":
    as_a_worker("benchmarks.bench_step")
    main()
