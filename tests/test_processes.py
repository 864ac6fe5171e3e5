"""What a child process of ours finds in its environment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from playground.processes import ROOT, child_environment, run_to_end


def test_a_child_finds_us_keeps_its_heap_and_lets_waiting_threads_sleep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    given = child_environment()
    assert given["PYTHONPATH"].startswith(str(ROOT))
    assert given["OMP_WAIT_POLICY"] == "PASSIVE"
    # Above 32 MiB glibc takes no notice of the first.
    assert int(given["MALLOC_MMAP_THRESHOLD_"]) == 2**25
    assert int(given["MALLOC_TRIM_THRESHOLD_"]) > 2**25


def test_what_a_person_set_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "131072")
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    given = child_environment()
    assert (given["MALLOC_TRIM_THRESHOLD_"], given["OMP_WAIT_POLICY"]) == ("131072", "ACTIVE")


def test_no_library_draws_progress_bars_into_what_a_child_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS"):
        monkeypatch.delenv(name, raising=False)
    draws = (
        "from tqdm.auto import tqdm; from huggingface_hub.utils import tqdm as hub\n"
        "for bar in (tqdm, hub): [*bar(range(3), desc='Converting')]\n"
        "print('done')"
    )
    log = tmp_path / "log"
    assert run_to_end([sys.executable, "-c", draws], log, 60.0, child_environment()) == 0
    assert log.read_text() == "done\n"
