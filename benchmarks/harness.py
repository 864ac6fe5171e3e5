"""One way of timing for every benchmark, so that two numbers may be compared.

Rivals take turns, so that whatever else the machine does falls on all of them alike; the device is
waited for around each run; the first runs are thrown away. A row keeps what it was measured on.
"""

from __future__ import annotations

import csv
import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch

from playground.processes import child_environment

WARM_UP, RUNS = 2, 9
LIBRARIES = ("torch", "triton", "torchao", "bitsandbytes")


def as_a_worker(module: str) -> None:
    """Starts ``python -m module`` again with a run's environment, unless it has it already.

    Its heap and its waiting threads are then those of a run: both are settled at its start.
    """
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        words = [sys.executable, "-m", module, *sys.argv[1:]]
        os.execve(sys.executable, words, child_environment())


@dataclass(frozen=True)
class Row:
    """One rival in one operation.

    Attributes:
        op / rival / shape: what was timed.
        how: "native", "weight-only", "emulated", or "" for a library that does not emulate.
        ms_p20 / ms_p50 / ms_p80: milliseconds.
        rate / unit: work over the median: "GB/s" of bytes that must move, or "TFLOP/s".
        device / versions: what it was measured on.
    """

    op: str
    rival: str
    shape: str
    how: str
    ms_p20: float
    ms_p50: float
    ms_p80: float
    rate: float
    unit: str
    device: str
    versions: str


@dataclass(frozen=True)
class Rival:
    """Something to time: its name, how it computes, and the call."""

    name: str
    how: str
    run: Callable[[], object]


def device() -> torch.device:
    """The GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def device_name() -> str:
    """What results are labelled with."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{platform.machine()} CPU, {torch.get_num_threads()} threads"


def versions() -> str:
    """The libraries that could matter, those installed."""
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def measure(
    op: str, shape: tuple[int, ...], rivals: list[Rival], work: float, unit: str
) -> list[Row]:
    """Times rivals in turns.

    Args:
        work: bytes that must move (unit "GB/s") or floating-point operations ("TFLOP/s").
    """
    times: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    for turn in range(WARM_UP + RUNS):
        for rival in rivals:
            spent = _once(rival.run)
            if turn >= WARM_UP:
                times[rival.name].append(spent)
    scale = {"GB/s": 1e9, "TFLOP/s": 1e12}[unit]
    rows = []
    for rival in rivals:
        p20, p50, p80 = (_percentile(times[rival.name], p) for p in (0.2, 0.5, 0.8))
        rows.append(
            Row(
                op=op,
                rival=rival.name,
                shape="x".join(map(str, shape)),
                how=rival.how,
                ms_p20=round(1e3 * p20, 4),
                ms_p50=round(1e3 * p50, 4),
                ms_p80=round(1e3 * p80, 4),
                rate=round(work / p50 / scale, 3),
                unit=unit,
                device=device_name(),
                versions=versions(),
            )
        )
    return rows


def _once(run: Callable[[], object]) -> float:
    wait()
    start = time.perf_counter()
    run()
    wait()
    return time.perf_counter() - start


def wait() -> None:
    """Until the device has done all it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[round(share * (len(values) - 1))]


def table(rows: list[Row]) -> str:
    """Rows for a person; each median beside its ratio to the first rival's of its operation."""
    lines = []
    for row in rows:
        first = next(r for r in rows if (r.op, r.shape) == (row.op, row.shape))
        ratio = row.ms_p50 / first.ms_p50
        lines.append(
            f"{row.op:11} {row.shape:16} {row.rival:24} {row.how:12} {row.ms_p50:10.3f} ms "
            f"{row.rate:9.2f} {row.unit:8} {ratio:6.2f}x"
        )
    return "\n".join(lines)


def save(rows: list[Row], file: Path) -> None:
    """Appends rows to a CSV, with a header if it is new."""
    new = not file.exists()
    with file.open("a", newline="") as opened:
        writer = csv.DictWriter(opened, [field.name for field in fields(Row)])
        if new:
            writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
