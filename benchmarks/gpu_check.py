"""Everything that only a GPU can tell, in under five minutes, in one JSON: ``make gpu-check``.

    python -m benchmarks.gpu_check [--json gpu-check.json] [--allow-cpu]

GPU tests, the kernels' self-test, the benchmarks, and a short comparison, each in a process of its
own: one that crashes takes no other down. Exits 1 if any stage failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks import harness

ROOT = Path(__file__).parents[1]
LIMIT_S = 290
TAIL = 4000  # characters of a failed stage's output that are kept


@dataclass(frozen=True)
class Stage:
    """One command, and the JSON it leaves, if any."""

    name: str
    command: list[str]
    report: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a stage.

    Attributes:
        returncode: None if it ran out of time.
        output: the end of what it printed, where it failed.
        report: the JSON it left.
    """

    name: str
    returncode: int | None
    seconds: float
    output: str = ""
    report: Any = None


def stages(folder: Path) -> list[Stage]:
    """What is run, the most telling first."""
    python = sys.executable
    tested, compared, rows = (folder / f"{n}.json" for n in ("selftest", "compare", "rows"))
    comparison = ["compare", "quick", "--set", "max_steps=10", "--json", str(compared)]
    return [
        Stage("self-test", [python, "-m", "kernels.selftest", "--json", str(tested)], tested),
        Stage("benchmarks", [python, "-m", "benchmarks", "--json", str(rows)], rows),
        Stage("comparison", [python, "-m", "playground", *comparison], compared),
        Stage(
            "gpu tests",
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/kernels"]
            + ["tests/training/test_gpu.py", "-m", "gpu or not slow"],
        ),
    ]


def run(stage: Stage, folder: Path, seconds: float) -> Outcome:
    """Runs one stage, stopped when its time is over."""
    start = time.monotonic()
    environment = {**os.environ, "PLAYGROUND_HOME": str(folder / "home")}
    environment.pop("TRITON_INTERPRET", None)
    try:
        done = subprocess.run(
            stage.command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=max(seconds, 1),
        )
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        code, output = None, (late.stdout or b"").decode(errors="replace")
    spent = round(time.monotonic() - start, 1)
    report = None
    if stage.report is not None and stage.report.exists():
        report = json.loads(stage.report.read_text())
    return Outcome(stage.name, code, spent, "" if code == 0 else output[-TAIL:], report)


def check(todo: list[Stage], folder: Path, limit_s: float = LIMIT_S) -> dict[str, Any]:
    """Runs stages one after another within a limit; what is left over when it is up is not run."""
    end = time.monotonic() + limit_s
    outcomes = []
    for stage in todo:
        left = end - time.monotonic()
        if left > 1:
            outcomes.append(run(stage, folder, left))
        else:
            outcomes.append(Outcome(stage.name, None, 0.0, "no time was left for it"))
        print(f"{stage.name:12} {'passed' if outcomes[-1].returncode == 0 else 'FAILED'}")
    return {
        "device": harness.device_name(),
        "versions": harness.versions(),
        "passed": all(outcome.returncode == 0 for outcome in outcomes),
        "stages": [asdict(outcome) for outcome in outcomes],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("gpu-check.json"))
    parser.add_argument("--allow-cpu", action="store_true", help="run what a CPU can, too")
    arguments = parser.parse_args()
    if not torch.cuda.is_available() and not arguments.allow_cpu:
        parser.error("no CUDA device is visible; run this on a machine with a GPU, or --allow-cpu")
    with tempfile.TemporaryDirectory() as folder:
        result = check(stages(Path(folder)), Path(folder))
    arguments.json.write_text(json.dumps(result, indent=1))
    print(f"written to {arguments.json}")
    sys.exit(not result["passed"])


if __name__ == "__main__":
    main()
