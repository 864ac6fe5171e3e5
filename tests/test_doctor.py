"""The doctor: what the machine is, which backend serves NVFP4, and a child that may well die."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from playground import __main__ as terminal
from playground import doctor, hardware
from playground.doctor import RECIPES, examine, lines

CPU = hardware.Device(
    name="A CPU",
    kind="cpu",
    index=None,
    memory_mib=8192,
    compute_capability=None,
    fp4_native=False,
    driver=None,
    reason="No NVIDIA GPU driver is installed, so the arithmetic is emulated on the CPU.",
    cpu_count=2,
)
GPU = replace(
    CPU, name="A GPU", kind="cuda", index=0, compute_capability="12.0", fp4_native=True, driver="1"
)

PASSED = "decoded agrees with the reference to 0.20% on 3 shapes."
FAILED = "the gradient is all zeros at (512, 576, 576)."
REPORT = {
    "device": "A GPU, sm_120",
    "recipes": [
        {
            "recipe": "nvfp4",
            "choice": {"name": "decoded", "how": "weight-only", "reason": PASSED},
            "verdicts": [
                {
                    "backend": "decoded",
                    "recipe": "nvfp4",
                    "passed": True,
                    "reason": PASSED,
                    "milliseconds": 1.5,
                },
                {
                    "backend": "cublas",
                    "recipe": "nvfp4",
                    "passed": False,
                    "reason": FAILED,
                    "milliseconds": None,
                },
            ],
        }
    ],
}


def _child(code: str) -> tuple[str, ...]:
    """A stand-in for the self-test; it gets the same arguments after ``-c``."""
    return ("-c", f"import os, sys, json, signal, time; arguments = sys.argv[1:]; {code}")


def _writes(report: object) -> tuple[str, ...]:
    text = json.dumps(report)
    return _child(f"open(arguments[arguments.index('--json') + 1], 'w').write({text!r})")


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch):
    return lambda device: monkeypatch.setattr(hardware, "detect", lambda: device)


@pytest.mark.slow
def test_the_real_self_test_on_a_cpu(on, home: Path) -> None:
    on(CPU)
    check_up = examine(home)
    assert check_up.completed and check_up.log == ""
    found = json.loads(json.dumps(check_up.found, allow_nan=False))
    assert found["device"] == CPU.to_dict() and found["findings"] == []
    assert found["versions"]["torch"].startswith("2.") and found["versions"]["python"]
    assert found["home"]["free_disk_mib"] > 0
    assert tuple(row["recipe"] for row in found["backends"]) == RECIPES
    for row in found["backends"]:
        assert (row["backend"], row["how"], row["verdicts"]) == ("reference", "emulated", [])
        if "fp4" in row["recipe"]:
            assert "A CPU has no FP4 units" in row["reason"]
    assert not home.exists()  # nothing was tried, so nothing is kept


def test_a_gpu_keeps_its_verdicts_where_the_runs_keep_theirs(on, home: Path) -> None:
    on(GPU)
    tell = "print(json.dumps(arguments)); sys.exit(3)"
    check_up = examine(home, _child(tell))
    arguments = json.loads(check_up.log)
    assert arguments[arguments.index("--cache") + 1] == str(home / "runs" / "self-tests.json")


def test_what_failed_is_said_with_its_reason(on, home: Path) -> None:
    on(GPU)
    found = examine(home, _writes(REPORT)).found
    [row] = found["backends"]
    assert (row["recipe"], row["backend"], row["how"]) == ("nvfp4", "decoded", "weight-only")
    assert [v["passed"] for v in row["verdicts"]] == [True, False]
    said = lines(found)
    assert "NVFP4: decoded, weight-only" in said and f"  off: cublas: {FAILED}" in said
    assert sum(PASSED in line for line in said) == 1  # not once more as a verdict


def test_a_gpu_that_torch_cannot_use_is_a_finding(on, home: Path) -> None:
    on(GPU)
    found = examine(home, _writes(REPORT | {"device": "cpu, torch 2"})).found
    assert any("torch finds no GPU" in sentence for sentence in found["findings"])


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed with SIGSEGV"),
        ("raise RuntimeError('no kernel')", "ended with exit code 1: RuntimeError: no kernel"),
        ("sys.exit(4)", "ended with exit code 4: it said nothing"),
        ("print('done')", "left no report that can be read (FileNotFoundError)"),
        ("open(arguments[-1], 'w').write('{')", "left no report that can be read (JSONDecodeError"),
    ],
)
def test_a_child_that_ends_badly_is_a_finding(on, home: Path, code: str, says: str) -> None:
    on(CPU)
    check_up = examine(home, _child(code))
    assert not check_up.completed
    [sentence] = check_up.found["findings"]
    assert says in sentence and "\n" not in sentence
    assert [row["recipe"] for row in check_up.found["backends"]] == [*RECIPES]
    assert all(row["backend"] is None and says in row["reason"]
               for row in check_up.found["backends"])  # fmt: skip
    assert any("unknown" in line for line in lines(check_up.found))


def test_a_child_that_hangs_is_ended(on, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(CPU)
    monkeypatch.setattr(doctor, "_LONGEST_S", 0.2)
    [sentence] = examine(home, _child("time.sleep(600)")).found["findings"]
    assert "did not end within" in sentence


def test_neither_findings_nor_log_name_the_home_folder(
    on, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    on(CPU)
    monkeypatch.setenv("HOME", str(tmp_path))
    code = f"print('at', {str(tmp_path / 'x')!r}); sys.exit({str(tmp_path / 'y')!r})"
    check_up = examine(tmp_path / "home", _child(code))
    assert check_up.found["home"]["path"] == "~/home"
    assert "~/x" in check_up.log and "~/y" in check_up.found["findings"][0]
    assert str(tmp_path) not in json.dumps(check_up.found) + check_up.log


@pytest.mark.parametrize(
    ("there", "says"), [(None, "is not installed"), ("0.1.0+cpu", "0.1.0+cpu is installed")]
)
def test_a_library_that_was_not_tested_is_a_finding(
    on, home: Path, monkeypatch: pytest.MonkeyPatch, there: str | None, says: str
) -> None:
    on(CPU)
    real = doctor._installed
    monkeypatch.setattr(doctor, "_installed", lambda name: there if name == "peft" else real(name))
    found = examine(home, _writes(REPORT)).found
    [sentence] = found["findings"]
    assert sentence.startswith("peft ") and says in sentence and "make setup" in sentence
    assert found["versions"]["peft"] == there


@pytest.mark.parametrize(("child", "code"), [(_writes(REPORT), 0), (_child("sys.exit(2)"), 1)])
def test_from_a_terminal(
    on,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    child: tuple[str, ...],
    code: int,
) -> None:
    on(CPU)
    file = tmp_path / "doctor.json"
    monkeypatch.setattr(doctor, "examine", partial(examine, self_test=child))
    monkeypatch.setattr(sys, "argv", ["x", "doctor", "--home", str(home), "--json", str(file)])
    with pytest.raises(SystemExit) as left:
        terminal.main()
    assert int(left.value.code or 0) == code
    out, err = capsys.readouterr()
    assert err == "" and "Device: A CPU, 8.0 GiB" in out
    assert {"device", "versions", "backends"} <= json.loads(file.read_text()).keys()
