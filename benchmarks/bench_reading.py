"""What it costs to look at a large file, and to divide it for a short run: seconds and memory.

    python -m benchmarks.bench_reading [--mib 200] [--kinds jsonl,jsonl.gz,csv,parquet] [--steps 20]

Promised of 200 MB of JSONL: under 2 s to the first rows, and under 300 MB of memory. Each kind is
read in a process of its own, so that a peak is its own; a bare Python that imports the same and
reads nothing is told beside it. CPU seconds stand next to the clock's, for a busy machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

PROMISED_S, PROMISED_MB = 2, 300
FIRST = 20  # rows that a preview shows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=200, help="of text, before it is packed")
    parser.add_argument("--kinds", default="jsonl,json,csv,jsonl.gz,jsonl.zst,parquet")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        print(json.dumps(measure(given.read, given.steps)))
        return
    print(f"{given.mib} MiB of rows; {FIRST} of them, then all that {given.steps} steps need")
    print(f"promised for jsonl: {PROMISED_S} s to the first rows, {PROMISED_MB} MB in all")
    with tempfile.TemporaryDirectory() as folder:
        for kind in given.kinds.split(","):
            path = Path(folder) / f"rows.{kind}"
            write(path, given.mib * 2**20)
            found = in_a_process(path, given.steps)
            size = path.stat().st_size / 2**20
            path.unlink()
            print(f"{kind:<10}{size:7.1f} MiB  " + "  ".join(f"{k} {v}" for k, v in found.items()))


def in_a_process(path: Path, steps: int) -> dict[str, object]:
    command = [sys.executable, "-m", "benchmarks.bench_reading", "--read", str(path)]
    done = subprocess.run([*command, "--steps", str(steps)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def measure(path: Path, steps: int) -> dict[str, object]:
    from playground.catalog import resolve_dataset
    from playground.data.rows import read_rows
    from playground.data.split import load_split
    from playground.presets import load_preset

    config = load_preset("quick", {"dataset": str(path), "max_steps": str(steps)}).config
    entry = resolve_dataset(str(path))
    bare = peak_mb()
    began, busy = time.perf_counter(), time.process_time()
    read_rows(path, limit=FIRST)
    first, first_cpu = time.perf_counter() - began, time.process_time() - busy
    began, busy = time.perf_counter(), time.process_time()
    split = load_split(entry, config)
    return {
        "first_s": round(first, 3),
        "first_cpu_s": round(first_cpu, 3),
        "split_s": round(time.perf_counter() - began, 3),
        "split_cpu_s": round(time.process_time() - busy, 3),
        "rows": split.counts["read"],
        "peak_mb": peak_mb(),
        "bare_mb": bare,
    }


def peak_mb() -> float:
    """Of this process alone; `resource` tells at least the peak of the one that began it."""
    status = Path("/proc/self/status").read_text()
    return round(int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6, 1)


def rows() -> Iterator[dict[str, str]]:
    """About 300 characters each, no two alike."""
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghijklmnoprstuäöé", k=6)) for _ in range(5000)]
    while True:
        yield {
            "prompt": " ".join(draw.choices(words, k=25)),
            "completion": " ".join(draw.choices(words, k=12)),
        }


def write(path: Path, size: int) -> None:
    import pyarrow
    import pyarrow.parquet

    kind = path.suffixes[0]
    plain = path.with_name("plain")
    if kind == ".parquet":
        table = pyarrow.Table.from_pylist(list(islice(rows(), size // 300)))
        pyarrow.parquet.write_table(table, path)
        return
    with plain.open("w", encoding="utf-8") as file:
        file.write({".json": "[", ".csv": "prompt,completion\n"}.get(kind, ""))
        for row in rows():
            text = json.dumps(row, ensure_ascii=False)
            file.write(",".join(row.values()) if kind == ".csv" else text)
            if file.tell() >= size:
                break
            file.write(",\n" if kind == ".json" else "\n")
        file.write("]" if kind == ".json" else "\n")
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(plain.read_bytes(), 1))
    elif path.suffix == ".zst":
        path.write_bytes(pyarrow.compress(plain.read_bytes(), "zstd", asbytes=True))
    else:
        plain.rename(path)
    plain.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
