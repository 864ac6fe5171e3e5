"""``python -m benchmarks [op ...]``: the kernels' benchmarks, as a table, a CSV or JSON."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from benchmarks import bench_dequantize, bench_matmul, bench_quantize, harness

BENCHMARKS = {
    "quantize": bench_quantize.run,
    "dequantize": bench_dequantize.run,
    "matmul": bench_matmul.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="*", metavar="op", help=", ".join(BENCHMARKS))
    parser.add_argument("--csv", type=Path, help="add the rows to this file")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    arguments = parser.parse_args()
    unknown = [op for op in arguments.ops if op not in BENCHMARKS]
    if unknown:
        parser.error(f"op '{unknown[0]}' is unknown; choose from {', '.join(BENCHMARKS)}")
    print(f"{harness.device_name()}; {harness.versions()}")
    every: list[harness.Row] = []
    for op in arguments.ops or BENCHMARKS:
        rows = BENCHMARKS[op]()
        print(harness.table(rows), flush=True)
        every += rows
    if arguments.csv:
        harness.save(every, arguments.csv)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in every], indent=1))


if __name__ == "__main__":
    main()
