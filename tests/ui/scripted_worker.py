"""A worker that trains nothing: it streams a made-up loss curve into the store, as fast as it may.

A launcher runs it like the real one, ``python -m tests.ui.scripted_worker RUN_ID --home HOME``.
A test holds it with a gate, ``home/gate`` with the last step that may be taken, and gives it a part
to play in ``home/script.json``, such as ``{"nan_at": [7], "how": "native", "diverge_at": 9}``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from playground.config import PRECISIONS, RunConfig, SettingsError
from playground.events import Coverage, Eval, Event, Facts, Message, Skipped, Stage, Status, Step
from playground.worker import main


def wait_for_gate(home: Path, step: int, should_stop: Callable[[], bool]) -> None:
    """Returns once ``step`` may be taken; without a gate that is at once."""
    gate = home / "gate"
    while gate.exists() and int(gate.read_text() or 0) < step and not should_stop():
        time.sleep(0.01)


def train_in(home: Path) -> Callable[..., Iterator[Event]]:
    """A ``train`` whose curve depends on the config alone."""
    path = home / "script.json"
    script = json.loads(path.read_text()) if path.exists() else {}

    def train(
        config: RunConfig, *, folder: Path, should_stop: Callable[[], bool]
    ) -> Iterator[Event]:
        bits = PRECISIONS[config.precision].storage_bits
        yield Stage(name="loading", detail=f"model {config.model}")
        yield Message(level="info", text=f"{config.dataset}: 2 000 rows read, all kept.")
        yield facts(config, bits, script.get("how", "emulated"))
        yield Eval(step=0, when="before", loss=4.2, tokens=4000)
        total = config.training.max_steps
        for number in range(1, total + 1):
            wait_for_gate(home, number, should_stop)
            if should_stop():
                yield Status(status="stopped")
                return
            if number == 1:
                yield Stage(name="training")
            if number == script.get("fail_at"):
                raise SettingsError(script["error"])
            yield step(config, number, bits, script)
            if number == script.get("diverge_at"):
                yield Status(status="diverged", error=f"The loss was NaN at step {number}.")
                return
            if config.training.eval_every and number % config.training.eval_every == 0:
                yield Eval(step=number, when="during", loss=curve(number, bits) * 1.04, tokens=4000)
            time.sleep(script.get("step_s", 0.0))
        yield Eval(step=total, when="after", loss=curve(total, bits) * 1.04, tokens=4000)
        yield Status(status="finished")

    return train


def curve(number: int, bits: float) -> float:
    return 3.6 * math.exp(-number / 14) + 0.42 + 0.01 * (16 - min(bits, 16)) / 11.5


def step(config: RunConfig, number: int, bits: float, script: dict) -> Step:
    wobble = 0.06 * math.sin(number * 2.3) + 0.05 * math.sin(number * 0.71)
    loss = curve(number, bits) * (1 + wobble)
    if number in script.get("nan_at", []) and config.precision == "nvfp4":
        loss = math.nan
    ms = 210 + 24 * (16 / bits) ** 0.5 + 15 * math.sin(number * 1.7)
    tokens = 1400 + int(120 * math.sin(number))
    return Step(
        step=number,
        loss=loss,
        grad_norm=1.2,
        learning_rate=config.training.learning_rate,
        skipped=number in script.get("skipped_at", []) and config.precision == "fp16",
        tokens=tokens,
        padded_tokens=90,
        supervised_tokens=600,
        step_ms=ms,
        tokens_per_s=tokens / ms * 1000,
        warmup=number <= 3,
        memory_mib=310 + bits * 1.9 + 2 * math.sin(number / 3),
        peak_mib=360.0,
    )


def facts(config: RunConfig, bits: float, how: str) -> Facts:
    kept = Skipped(name="lm_head", reason="the head stays in the compute type")
    return Facts(
        effective=config.precision,
        how=how,
        how_reason="no NVIDIA GPU was found, so formats are rounded in software",
        coverage=Coverage(converted=28, skipped=(kept,), share_of_linear_weights=0.89),
        total_parameters=1_197_440,
        trainable_parameters=98_304,
        weights_mib=2.2 * bits / 16 + 0.6,
        converted_weights_mib=2.2 * bits / 16,
        bits_per_converted_weight=bits,
        adapters_mib=0.38,
        optimizer_mib=0.75,
        peak_mib=340 + bits,
        memory_source="made-up numbers of a scripted run",
        batches_sha256="5b" * 32,
        adapter_init_sha256="a1" * 32,
        rows={"read": 2000, "kept": 2000, "train": 2000, "eval": 128},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("run_id")
    parser.add_argument("--home", type=Path, required=True)
    args = parser.parse_args()
    sys.exit(main(args.run_id, args.home, train=train_in(args.home)))
