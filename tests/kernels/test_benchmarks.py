"""The harness: turns, percentiles, rates, files; and the check that runs on a GPU."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import gpu_check, harness
from benchmarks.gpu_check import Stage
from benchmarks.harness import RUNS, WARM_UP, Rival

ROOT = Path(__file__).parents[2]


def test_rivals_take_turns_and_warm_up_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, order = [0.0], []
    monkeypatch.setattr(harness.time, "perf_counter", lambda: clock[0])

    def takes(name: str, seconds: list[float]):  # noqa: ANN202
        def run() -> None:
            order.append(name)
            clock[0] += seconds[order.count(name) - 1]

        return Rival(name, "emulated", run)

    slow_start = [9.0] * WARM_UP
    rivals = [
        takes("a", slow_start + [0.001 * i for i in range(1, RUNS + 1)]),
        takes("b", slow_start + [0.002] * RUNS),
    ]
    a, b = harness.measure("copy", (4, 4), rivals, 5e6, "GB/s")
    assert order == ["a", "b"] * (WARM_UP + RUNS)
    assert (a.ms_p20, a.ms_p50, a.ms_p80) == pytest.approx((3.0, 5.0, 7.0))
    assert b.ms_p50 == pytest.approx(2.0)
    assert a.rate == pytest.approx(1.0)
    assert "0.40x" in harness.table([a, b])


def test_rows_are_added_to_a_csv_with_one_header(tmp_path: Path) -> None:
    rows = harness.measure("copy", (2,), [Rival("torch", "", torch.ones(2).clone)], 8, "GB/s")
    for _ in range(2):
        harness.save(rows, tmp_path / "results.csv")
    with (tmp_path / "results.csv").open() as file:
        read = list(csv.DictReader(file))
    assert [row["rival"] for row in read] == ["torch", "torch"]
    assert read[0]["device"]
    assert "torch " in read[0]["versions"]


def test_the_benchmarks_run_on_this_machine(tmp_path: Path) -> None:
    from benchmarks import bench_dequantize, bench_matmul, bench_quantize

    rows = [
        *bench_quantize.run((32, 64)),
        *bench_dequantize.run((32, 64)),
        *bench_matmul.run(((16, 32, 64),)),
    ]
    assert {row.op for row in rows} == {"quantize", "copy", "dequantize", "matmul"}
    assert all(row.ms_p50 > 0 for row in rows)
    if not torch.cuda.is_available():
        ours = [r for r in rows if r.rival.startswith(("kernels", "nvfp4"))]
        assert ours
        assert {row.how for row in ours} == {"emulated"}, "no speed claim from an emulation"


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_the_gpu_check_goes_on_after_a_failure_and_keeps_its_words(tmp_path: Path) -> None:
    report = tmp_path / "left.json"
    todo = [
        Stage("dies", _python("print('the reason'); raise SystemExit(3)")),
        Stage("works", _python(f"open({str(report)!r}, 'w').write('[1]')"), report),
    ]
    result = gpu_check.check(todo, tmp_path)
    assert not result["passed"]
    dies, works = result["stages"]
    assert (dies["returncode"], dies["output"]) == (3, "the reason\n")
    assert (works["returncode"], works["output"], works["report"]) == (0, "", [1])
    json.dumps(result)


def test_the_gpu_check_stops_what_hangs_and_says_what_it_left_out(tmp_path: Path) -> None:
    hangs = _python("import time; print('so far', flush=True); time.sleep(600)")
    todo = [Stage("hangs", hangs), Stage("after", _python("pass"))]
    hung, after = gpu_check.check(todo, tmp_path, limit_s=3)["stages"]
    assert (hung["returncode"], hung["output"]) == (None, "so far\n")
    assert after["output"] == "no time was left for it"


@pytest.mark.skipif(torch.cuda.is_available(), reason="states what a machine without a GPU says")
def test_the_gpu_check_refuses_a_machine_without_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu_check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "no CUDA device is visible" in done.stderr
