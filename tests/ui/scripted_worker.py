"""A worker that trains nothing: it streams a made-up loss curve into the store, as fast as it may.

A launcher runs it like the real one, ``python -m tests.ui.scripted_worker RUN_ID --home HOME``.
A test holds it with a gate, ``home/gate`` with the last step that may be taken, and gives it a part
to play in ``home/script.json``, such as ``{"nan_at": [7], "how": "native", "diverge_at": 9}``.
What a real run is asked to measure in its settings, it makes up as well.
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
from playground.events import (
    Coverage,
    CrossEval,
    Eval,
    EvalRows,
    Event,
    Facts,
    LayerError,
    Message,
    Skipped,
    Stage,
    Status,
    Step,
)
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
        config: RunConfig, *, folder: Path, should_stop: Callable[[], bool], resume: bool = False
    ) -> Iterator[Event]:
        bits = PRECISIONS[config.precision].storage_bits
        position = folder / "position"  # all of its checkpoint
        done = int(position.read_text()) if resume and position.exists() else 0
        yield Stage(name="loading", detail=f"model {config.model}")
        yield Message(level="info", text=f"{config.dataset}: 2 000 rows read, all kept.")
        yield facts(config, bits, script.get("how", "emulated"))
        if done:
            yield Facts(resumed_at_step=done + 1)
        else:
            yield Eval(step=0, when="before", loss=4.2, tokens=4000)
        total = config.training.max_steps
        for number in range(done + 1, total + 1):
            wait_for_gate(home, number, should_stop)
            if should_stop():
                position.write_text(str(number - 1))
                yield Status(status="stopped")
                return
            if number == done + 1:
                yield Stage(name="training")
            yield from trouble(script, config, number)
            yield step(config, number, bits, script)
            if number == script.get("diverge_at"):
                yield Status(
                    status="diverged",
                    error=f"The loss was NaN at step {number}; try a lower learning_rate.",
                    cause="not finite",
                )
                return
            if config.training.eval_every and number % config.training.eval_every == 0:
                yield held_out(config, number, bits, "during")
            time.sleep(script.get("step_s", 0.0))
        judged = held_out(config, total, bits, "after")
        losses = tuple(judged.loss * 32 * (1 + 0.3 * math.sin(row)) for row in range(1, 126))
        yield judged
        yield EvalRows(step=total, when="after", losses=losses, tokens=(32,) * 125)
        yield from after(config, total, bits)
        yield Status(status="finished")

    return train


def trouble(script: dict, config: RunConfig, number: int) -> Iterator[Event]:
    """What befalls a run before a step; ``only`` and ``seed`` name the runs that are meant."""
    if script.get("only", config.precision) != config.precision:
        return
    if script.get("seed", config.training.seed) != config.training.seed:
        return
    if number == script.get("heal_at"):
        yield Facts(healed_at_step=number, healed_to=config.quantization.heal_to)
    if number == script.get("memory_ends_at"):
        raise MemoryError("Unable to allocate 2.00 GiB")
    if number == script.get("fail_at"):
        raise SettingsError(script["error"])


def held_out(config: RunConfig, number: int, bits: float, when: str) -> Eval:
    luck = 1.04 + 0.02 * math.sin(config.training.seed * bits)
    return Eval(step=number, when=when, loss=curve(number, bits) * luck, tokens=4000)


def after(config: RunConfig, total: int, bits: float) -> Iterator[Event]:
    """The looks at the finished adapter and at rounding errors that were asked for."""
    own = held_out(config, total, bits, "after").loss
    bases = config.measure.cross_precisions
    for base in () if bases == "none" else bases:
        if base != config.precision:
            worse = 0.004 if PRECISIONS[base].storage_bits < 16 else -0.001
            yield CrossEval(base=base, merged=False, loss=own + worse, tokens=4000)
    if config.measure.merge_check:
        for base in ("fp16", config.precision):
            yield CrossEval(base=base, merged=True, loss=own + 0.02 / bits, tokens=4000)
    for number in range(config.measure.probe_every, total + 1, config.measure.probe_every or total):
        for layer in ("layers.0.q_proj", "layers.0.down_proj", "layers.3.down_proj"):
            for tensor, error in (("weight", 0.095), ("activation", 0.11), ("gradient", 0.13)):
                off = error * (1 + 0.2 * math.sin(len(layer) * number)) * 4 / bits
                yield LayerError(
                    step=number, layer=f"model.{layer}", tensor=tensor,
                    relative_error=off, zeroed_share=off / 4,
                )  # fmt: skip


def curve(number: int, bits: float) -> float:
    return 3.6 * math.exp(-number / 14) + 0.42 + 0.01 * (16 - min(bits, 16)) / 11.5


def step(config: RunConfig, number: int, bits: float, script: dict) -> Step:
    luck = config.training.seed - 42  # each repetition goes its own way
    wobble = 0.06 * math.sin(number * 2.3 + luck) + 0.05 * math.sin(number * 0.71 + 2 * luck)
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
        gradients_mib=0.38,
        activations_mib=1.9 + bits / 20,
        peak_mib=340 + bits,
        memory_source="made-up numbers of a scripted run",
        eval_sha256="e1" * 32,
        batches_sha256=f"{config.training.seed + 0x31:02x}" * 32,  # 5b for seed 42
        adapter_init_sha256=f"{config.training.seed + 0x77:02x}" * 32,
        rows={"read": 2000, "kept": 2000, "train": 2000, "eval": 128},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("run_id")
    parser.add_argument("--home", type=Path, required=True)
    args = parser.parse_args()
    sys.exit(main(args.run_id, args.home, train=train_in(args.home)))
