"""Our loop against plain peft + transformers' ``Trainer``: losses, throughput, memory, in one run.

    python -m benchmarks.bench_trainer [--steps 6] [--rounds 2] [--json benchmarks/trainer.json]

Both fine-tune SmolLM2-135M in fp32 from the same adapter, with the same rows in the same batches,
the same AdamW (fused) and the same learning rates. The rows are of mixed lengths: the Trainer pads
them with transformers' own collator, to the longest of a batch; our loop runs uneven rows in parts,
as it does in every run on a CPU. Sides take turns, each in a process of its own, so that neither
inherits the other's caches or heap.

    loss        of each step; the largest difference between the sides
    tokens/s    tokens that are no padding, over the time between the ends of two steps, so that
                whatever either does between steps counts; the first steps are left out. The same by
                processor time, for a machine that does other things too
    peak        the process's highest resident memory from the first step on, less what was resident
                with the model, the adapter and the data loaded, just before it
    whole peak  the same with the model and the libraries
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from benchmarks.harness import device_name, versions
from playground.catalog import resolve_dataset, resolve_model
from playground.config import RunConfig, parse_config
from playground.data.split import load_split
from playground.data.tokenise import Example, tokenise
from playground.presets import defaults

WARM_UP = 2
BOUNDS = {"loss_difference": 1e-3, "tokens_per_s_ratio": 1.1, "peak_ratio": 0.8}
SIDES = ("trainer", "ours")


@dataclass
class Measured:
    """One side in one process. Memory in MiB; None where Linux does not tell it."""

    side: str
    losses: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    padded_tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)
    loaded_mib: float | None = None
    whole_peak_mib: float | None = None

    @property
    def tokens_per_s(self) -> float:
        return sum(self.tokens[WARM_UP:]) / sum(self.seconds[WARM_UP:])

    @property
    def tokens_per_processor_s(self) -> float:
        return sum(self.tokens[WARM_UP:]) / sum(self.processor_seconds[WARM_UP:])

    @property
    def peak_mib(self) -> float | None:
        if self.whole_peak_mib is None or self.loaded_mib is None:
            return None
        return self.whole_peak_mib - self.loaded_mib

    def start(self) -> None:
        """Everything is loaded; the first step comes next."""
        gc.collect()
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(0)  # what loading freed is not resident any more
            Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
        self.loaded_mib = _resident("VmRSS")
        self._last, self._last_cpu = time.perf_counter(), time.process_time()

    def step(self) -> None:
        now, cpu = time.perf_counter(), time.process_time()
        self.seconds.append(now - self._last)
        self.processor_seconds.append(cpu - self._last_cpu)
        self._last, self._last_cpu = now, cpu

    def end(self) -> None:
        self.whole_peak_mib = _resident("VmHWM")


def main() -> None:
    given = _arguments()
    if given.side:
        config = _config(given)
        found = {"ours": _ours, "trainer": _trainer}[given.side](config)
        Path(given.out).write_text(json.dumps(asdict(found)))
        return
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        given.rows = str(_write_rows(Path(folder), given))
        given.model_folder = str(_write_model(Path(folder) / "model", given))
        for number in range(given.rounds):
            order = SIDES if number % 2 == 0 else SIDES[::-1]
            rounds.append({side: _in_a_process(side, given, Path(folder)) for side in order})
            print(_line(number, rounds[-1]), flush=True)
    report = _report(rounds, given)
    print(_summary(report))
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--steps", type=int, default=6, help=f"timed steps, after {WARM_UP}")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each side")
    parser.add_argument("--rows-a-step", type=int, default=4)
    parser.add_argument("--longest", type=int, default=384, help="tokens")
    parser.add_argument("--json", type=Path, help="write the result here")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--rows", help=argparse.SUPPRESS)
    parser.add_argument("--model-folder", help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    return parser.parse_args()


def _write_rows(folder: Path, given: argparse.Namespace) -> Path:
    """Rows of one to six bundled sentences each: about 80 to 330 tokens."""
    bundled = resolve_dataset("sentences-to-json").train_files[0]
    assert bundled is not None
    lines = iter([json.loads(line) for line in bundled.read_text().splitlines()])
    draw, path = random.Random(0), folder / "rows.jsonl"
    with path.open("w") as out:
        for _ in range((WARM_UP + given.steps) * given.rows_a_step + 4):
            some = [next(lines) for _ in range(draw.randint(1, 6))]
            joined = {key: "\n".join(row[key] for row in some) for key in ("prompt", "completion")}
            out.write(json.dumps(joined) + "\n")
    return path


def _write_model(folder: Path, given: argparse.Namespace) -> Path:
    """The model as plain fp32 files: the Trainer refuses to train what was read from a GGUF."""
    from playground.training.pretrained import load_checkpoint

    read, tokenizer, _ = load_checkpoint(resolve_model(given.model), given.longest, torch.float32)
    if hasattr(read.config, "quantization_config"):
        del read.config.quantization_config
    model = type(read)(read.config)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _config(given: argparse.Namespace) -> RunConfig:
    values = defaults() | {"model": given.model_folder, "dataset": given.rows, "precision": "fp32"}
    values["data"] |= {"max_seq_len": given.longest, "eval_rows": 4}
    values["training"] |= {
        "max_steps": WARM_UP + given.steps,
        "micro_batch_size": given.rows_a_step,
        "checkpoint_every": 0,
    }
    return parse_config(values)


def _in_a_process(side: str, given: argparse.Namespace, folder: Path) -> Measured:
    out = folder / f"{side}.json"
    settings = ("steps", "rows_a_step", "longest", "rows", "model_folder")
    command = [sys.executable, "-m", "benchmarks.bench_trainer", "--side", side, "--out", str(out)]
    for name in settings:
        command += [f"--{name.replace('_', '-')}", str(getattr(given, name))]
    # As a worker of ours sets it, for both: threads that spin while they wait slow each other.
    environment = os.environ | {"OMP_WAIT_POLICY": "PASSIVE", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"The side '{side}' failed:\n{done.stderr[-3000:]}")
    return Measured(**json.loads(out.read_text()))


def _ours(config: RunConfig) -> Measured:
    from playground.events import Stage, Status, Step
    from playground.training.loop import train

    found = Measured("ours")
    with tempfile.TemporaryDirectory() as folder:
        for event in train(config, folder=Path(folder) / "run"):
            if isinstance(event, Stage) and event.name == "training":
                found.start()
            elif isinstance(event, Step):
                found.step()
                found.losses.append(event.loss)
                found.tokens.append(event.tokens)
                found.padded_tokens.append(event.padded_tokens)
                if event.step == config.training.max_steps:
                    found.end()
            elif isinstance(event, Status) and event.status != "finished":
                sys.exit(f"{event.status}: {event.error}")
    return found


def _trainer(config: RunConfig) -> Measured:
    """transformers' Trainer as one would use it with peft; the loss is only listened to."""
    from torch.utils.data import SequentialSampler
    from transformers import DataCollatorForSeq2Seq, Trainer, TrainerCallback, TrainingArguments

    from playground.training.adapter import add_adapter, trainable
    from playground.training.optimise import learning_rate_share
    from playground.training.pretrained import load_checkpoint

    settings = config.training
    torch.manual_seed(settings.seed)
    checkpoint = load_checkpoint(
        resolve_model(config.model), config.data.max_seq_len, torch.float32
    )
    model = add_adapter(checkpoint.model.requires_grad_(False), config.lora, settings.seed)
    model.config.use_cache = False
    rows = _rows_in_order(config, checkpoint.tokenizer)
    optimizer = torch.optim.AdamW(
        trainable(model).values(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda updates: learning_rate_share(updates, settings)
    )
    found = Measured("trainer")

    class InOrder(Trainer):
        """The rows in the given order, and an ear for each step's loss."""

        def _get_train_sampler(self, *_: Any) -> Any:
            return SequentialSampler(self.train_dataset)

        def training_step(self, model: Any, inputs: Any, *rest: Any) -> Any:
            real = int(inputs["attention_mask"].sum())
            found.tokens.append(real)
            found.padded_tokens.append(inputs["input_ids"].numel() - real)
            loss = super().training_step(model, inputs, *rest)
            found.losses.append(float(loss))
            return loss

    class Listen(TrainerCallback):
        def on_train_begin(self, *_: Any, **__: Any) -> None:
            # Weights are mapped from their file: read once, as our evaluation before training does,
            # they count as loaded and not as part of the peak.
            for weight in model.parameters():
                weight.sum()
            found.start()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            found.step()

    with tempfile.TemporaryDirectory() as folder:
        InOrder(
            model=model,
            args=TrainingArguments(
                output_dir=folder,
                max_steps=settings.max_steps,
                per_device_train_batch_size=settings.micro_batch_size,
                max_grad_norm=settings.max_grad_norm,
                use_cpu=True,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=rows,
            data_collator=DataCollatorForSeq2Seq(checkpoint.tokenizer, label_pad_token_id=-100),
            optimizers=(optimizer, schedule),
            callbacks=[Listen()],
        ).train()
        found.end()
    return found


def _rows_in_order(config: RunConfig, tokenizer: Any) -> list[dict[str, list[int]]]:
    """The rows as our loop takes them in its first pass."""
    split = load_split(resolve_dataset(config.dataset), config)
    examples: list[Example] = tokenise(
        split.train,
        tokenizer,
        max_seq_len=config.data.max_seq_len,
        learn_from=config.data.learn_from,
        what="the rows",
    ).examples
    order = torch.randperm(
        len(examples), generator=torch.Generator().manual_seed(config.training.seed)
    )
    return [
        {
            "input_ids": examples[i].input_ids,
            "attention_mask": [1] * len(examples[i].input_ids),
            "labels": examples[i].labels,
        }
        for i in order.tolist()
    ]


def _report(rounds: list[dict[str, Measured]], given: argparse.Namespace) -> dict[str, Any]:
    def ratio(of: str) -> float:
        """Median over the rounds of ours to the Trainer's."""
        return statistics.median(getattr(r["ours"], of) / getattr(r["trainer"], of) for r in rounds)

    pairs = [zip(r["ours"].losses, r["trainer"].losses, strict=True) for r in rounds]
    result = {
        "loss_difference": max(abs(a - b) for pair in pairs for a, b in pair),
        "tokens_per_s_ratio": ratio("tokens_per_s"),
        "tokens_per_processor_s_ratio": ratio("tokens_per_processor_s"),
        "peak_ratio": ratio("peak_mib") if rounds[0]["ours"].peak_mib else None,
        "whole_peak_ratio": ratio("whole_peak_mib") if rounds[0]["ours"].peak_mib else None,
    }
    rows = [
        asdict(found)
        | {"round": number, "tokens_per_s": found.tokens_per_s, "peak_mib": found.peak_mib}
        for number, sides in enumerate(rounds)
        for found in sides.values()
    ]
    names = ("model", "steps", "rows_a_step", "longest")
    return {
        "benchmark": "ours against transformers' Trainer, LoRA in fp32",
        "device": device_name(),
        "versions": versions(),
        "settings": {name: getattr(given, name) for name in names},
        "result": result,
        "bounds": BOUNDS,
        "rows": rows,
    }


def _line(number: int, sides: dict[str, Measured]) -> str:
    parts = [
        f"{side}: {m.tokens_per_s:.1f} tokens/s, peak {m.peak_mib or float('nan'):.0f} MiB above "
        f"{m.loaded_mib or float('nan'):.0f}"
        for side, m in sides.items()
    ]
    return f"round {number + 1}: " + "; ".join(parts)


def _summary(report: dict[str, Any]) -> str:
    result = report["result"]
    by_processor = result["tokens_per_processor_s_ratio"]
    lines = [
        f"{report['device']}; {report['versions']}",
        f"tokens/s by processor time: {by_processor:.3g} times the Trainer's",
    ]
    for name, bound in BOUNDS.items():
        side = "at least" if name == "tokens_per_s_ratio" else "at most"
        value = result[name]
        met = value is not None and (value >= bound if side == "at least" else value <= bound)
        shown = "not measured" if value is None else f"{value:.3g}"
        lines.append(f"{name:20} {shown:>12}   {side} {bound:g}: {'met' if met else 'MISSED'}")
    return "\n".join(lines)


def _resident(key: str) -> float | None:
    if sys.platform != "linux":
        return None
    found = re.search(rf"^{key}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found else None


if __name__ == "__main__":
    main()
