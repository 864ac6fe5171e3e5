"""Scripted runs: what a training would say, without torch, to drive all that stands around it.

``Launcher(store, worker_module="tests.fakes_worker")`` runs them in real processes; the run's
``dataset`` names the script. Each script is a ``train`` like the real one.
"""

from __future__ import annotations

import atexit
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from playground.config import RunConfig, SettingsError, parse_config
from playground.events import Coverage, Eval, Event, Facts, Message, Stage, Status, Step
from playground.presets import Preset
from playground.processes import ProcessId

ShouldStop = Callable[[], bool]


def preset(script: str, steps: int = 5, precisions: str = "fp16,nvfp4") -> Preset:
    """A comparison whose runs follow a script; its numbers stay when the presets are tuned."""
    names = tuple(precisions.split(","))
    training = {
        "max_steps": steps,
        "micro_batch_size": 16,
        "grad_accum_steps": 1,
        "learning_rate": 2e-3,
        "schedule": "cosine",
        "warmup_share": 0.05,
        "weight_decay": 0.0,
        "max_grad_norm": 1.0,
        "gradient_checkpointing": False,
        "compile": "off",
        "checkpoint_every": 0,
        "eval_every": 0,
        "seed": 42,
    }
    quantization = {
        "keep_last_blocks": 0,
        "keep_layers": "none",
        "weight_scale_rule": "search",
        "activation_scale_rule": "amax",
        "gradient_rounding": "stochastic",
        "fp8_gradients": "e5m2",
        "heal_after": 1.0,
        "heal_to": "bf16",
    }
    measure = {
        "probe_every": 0,
        "target_loss": None,
        "cross_precisions": "none",
        "merge_check": False,
    }
    values = {
        "model": "tiny",
        "dataset": script,
        "precision": names[0],
        "lora": {
            "lora_r": 16,
            "lora_alpha": 32,
            "lora_dropout": 0.0,
            "target_modules": "all-linear",
        },
        "data": {
            "max_seq_len": 128,
            "too_long": "cut",
            "columns": None,
            "learn_from": "answers",
            "train_rows": None,
            "eval_rows": 128,
            "split_seed": 42,
            "packing": False,
            "exact_match_rows": 32,
        },
        "training": training,
        "quantization": quantization,
        "measure": measure,
    }
    return Preset("quick", "Quick look", "Scripted.", "A curve.", names, parse_config(values))


def someone_else() -> str:
    """The owner of a queue that no launcher of this process takes from, and none takes over.

    A page that is served by the test's own process would claim what has that process for owner.
    """
    return str(ProcessId.of(os.getppid()))


def config(script: str = "steady", steps: int = 5, precision: str = "fp16") -> RunConfig:
    return preset(script, steps, precision).config


def step(number: int, loss: float | None = None, **changes: object) -> Step:
    """A step of a loss that falls from 4 towards 0.5."""
    values = {
        "step": number,
        "loss": 0.5 + 3.5 * math.exp(-number / 20) if loss is None else loss,
        "grad_norm": 1.0 / number,
        "learning_rate": 2e-4,
        "loss_scale": 65536.0,
        "tokens": 480,
        "padded_tokens": 32,
        "supervised_tokens": 200,
        "step_ms": 20.0,
        "tokens_per_s": 24_000.0,
        "warmup": number <= 2,
        "memory_mib": 20.0,
        "peak_mib": 24.0,
    }
    return Step.model_validate(values | changes)


def facts(config: RunConfig) -> Facts:
    """What a converted model reports; both precisions prove the same batches and adapter."""
    bits = 4.5 if config.precision == "nvfp4" else 16.0
    return Facts(
        effective=config.precision,
        how="emulated",
        how_reason="No GPU was found, so every format but FP32 is emulated on the CPU.",
        device={"name": "Scripted CPU", "kind": "cpu"},
        environment={"torch": "none"},
        total_parameters=1_000_000,
        trainable_parameters=50_000,
        adapted_modules=28,
        coverage=Coverage(converted=28, skipped=(), share_of_linear_weights=0.9),
        weights_mib=bits / 8,
        converted_weights_mib=bits / 8,
        bits_per_converted_weight=bits,
        adapters_mib=0.2,
        optimizer_mib=0.4,
        peak_mib=24.0,
        memory_source="tensor bytes",
        batches_sha256=f"{config.training.seed:b>64}",
        adapter_init_sha256=f"{config.training.seed:a>64}",
        rows={"read": 100, "dropped": 0, "cut": 0, "kept": 100, "train": 80, "eval": 20},
    )


def steady(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """Stages, facts, evaluations and ``max_steps`` steps, 20 ms each; honours Stop.

    Its checkpoint is ``folder/position``, written on Stop; it goes on from there.
    """
    position = folder / "position"
    done = int(position.read_text()) if position.exists() else 0
    yield Stage(name="loading", detail="the model")
    yield facts(config)
    if not done:
        yield Eval(
            step=0, when="before", loss=4.0, tokens=2000, exact_match=0.0, exact_match_rows=20
        )
    yield Stage(name="training")
    for number in range(done + 1, config.training.max_steps + 1):
        if should_stop():
            position.write_text(str(number - 1))
            yield Status(status="stopped")
            return
        time.sleep(0.02)
        yield step(number)
    last = config.training.max_steps
    yield Eval(step=last, when="after", loss=0.6, tokens=2000, exact_match=0.8, exact_match_rows=20)
    yield Message(level="info", text="Scripted run complete.")
    yield Status(status="finished")


def loading(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """Never gets to its first step."""
    for percent in range(1, 10_000):
        yield Stage(name="tokenising", detail=f"{percent} rows", progress=min(percent / 100, 1))
        if should_stop():
            return
        time.sleep(0.02)


def deaf(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """Ignores Stop and SIGTERM, and has a child that does too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _child()
    yield step(1)
    time.sleep(600)


def noisy(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """Prints 2 MB to stderr and 2 MB to stdout."""
    for stream in (sys.stderr, sys.stdout):
        for _ in range(2000):
            print("x" * 1023, file=stream, flush=True)
    yield step(1)


def raises(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """A surprise whose message names the home folder."""
    yield step(1)
    raise FileNotFoundError(2, "No such file", os.path.expanduser("~/data/rows.jsonl"))


def refuses(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """A setting that only the data could show to be wrong."""
    yield Stage(name="loading")
    raise SettingsError("lora target 'qproj' matches no layer. Did you mean 'q_proj'?")


def out_of_memory(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """As torch says it on a GPU."""

    class OutOfMemoryError(RuntimeError):
        pass

    yield step(1)
    raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 1.50 GiB.")


def segfault(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    yield step(1)
    os.kill(os.getpid(), signal.SIGSEGV)


def killed(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """As the system's out-of-memory killer does it, with a child left behind."""
    _child()
    yield step(1)
    os.kill(os.getpid(), signal.SIGKILL)


def leaves(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """Exits as a library that gives up would."""
    yield step(1)
    os._exit(3)


def hangs_at_exit(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """Says that it finished, and then does not go."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    atexit.register(time.sleep, 600)
    yield step(1)
    yield Status(status="finished")


def diverges(config: RunConfig, *, folder: Path, should_stop: ShouldStop) -> Iterator[Event]:
    """NaN at step 7."""
    for number in range(1, 7):
        yield step(number)
    yield step(7, math.nan, skipped=True)
    yield Status(status="diverged", error="The loss is not a number at step 7.", cause="not finite")


SCRIPTS = {
    "steady": steady,
    "loading": loading,
    "deaf": deaf,
    "noisy": noisy,
    "raises": raises,
    "refuses": refuses,
    "out-of-memory": out_of_memory,
    "segfault": segfault,
    "killed": killed,
    "leaves": leaves,
    "hangs-at-exit": hangs_at_exit,
    "diverges": diverges,
}


def train(
    config: RunConfig, *, folder: Path, should_stop: ShouldStop, resume: bool = False
) -> Iterator[Event]:
    """The script that the run's dataset names."""
    return SCRIPTS[config.dataset](config, folder=folder, should_stop=should_stop)


def _child() -> None:
    # Its command line carries our pid, so that a test can tell it from everybody else's.
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep(600)  # {os.getpid()}"])
