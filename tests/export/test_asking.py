"""Asking for an export: one at a time, beside no run, and nothing left of what came to no end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.export import Progress, export, folder_of
from playground.export.asking import CHILD as REAL
from playground.launcher import Launcher
from playground.processes import ProcessId, child_environment
from playground.residents import resident
from playground.store import Run, RunStore
from tests import fakes
from tests.conftest import until, until_over
from tests.export.fake_child import CHILD, WAY
from tests.generate.finished import finished_group


@pytest.fixture
def run(store: RunStore) -> Run:
    return finished_group(store).runs[0]


def exports_of(store: RunStore, run: Run) -> list[str]:
    return [path.name for path in folder_of(store, run.id, "adapter").parent.glob("*")]


def test_how_far_it_is_and_at_last_the_report(
    store: RunStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WAY, "well")
    seen = list(export(store, run, "adapter", child=CHILD))
    assert seen == [Progress("writing"), Progress("verified", report={"largest": 0.0})]
    assert exports_of(store, run) == ["adapter"] and resident(store.home, "export") is None


@pytest.mark.parametrize(
    "way, said",
    [
        ("refused", "It does not say what the run says."),
        ("killed", "was killed, as happens when memory runs out"),
        ("crashes", "exit code 1 (something broke)"),
    ],
)
def test_what_came_to_no_good_end_leaves_nothing(
    way: str, said: str, store: RunStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WAY, way)
    with pytest.raises(SettingsError) as ended:
        list(export(store, run, "adapter", child=CHILD))
    assert said in str(ended.value) and exports_of(store, run) == []


def test_a_second_one_is_told_and_a_page_that_goes_away_ends_its_own(
    store: RunStore, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WAY, "hangs")
    first = export(store, run, "adapter", child=CHILD)
    assert next(first) == Progress("writing")
    child = resident(store.home, "export")
    with pytest.raises(SettingsError, match="Another export is being made"):
        next(export(store, run, "merged-bf16", child=CHILD))
    first.close()
    assert not child.is_alive() and exports_of(store, run) == []


def test_nothing_is_exported_beside_a_run(store: RunStore, run: Run) -> None:
    store.create_group("quick", "Mine", fakes.preset("steady").configs, str(ProcessId.of()))
    with pytest.raises(SettingsError, match="“Mine” is running or waiting"):
        next(export(store, run, "adapter", child=CHILD))
    assert resident(store.home, "export") is None


def test_a_run_that_starts_ends_it_first(
    store: RunStore,
    run: Run,
    launch: Callable[..., Launcher],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(WAY, "hangs")
    going = export(store, run, "adapter", child=CHILD)
    next(going)
    child, launcher = resident(store.home, "export"), launch()
    started = launcher.start(fakes.preset("loading", precisions="fp16"))
    until(lambda: store.get_run(started.run_ids[0]).stage, "the run's first word")
    assert not child.is_alive()
    with pytest.raises(SettingsError, match="as a run that starts does"):
        list(going)
    assert exports_of(store, run) == []
    launcher.stop(started.id)
    until_over(store, started.id)


def test_a_folder_that_is_there_is_not_overwritten(
    store: RunStore, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(SettingsError, match="is there already"):
        next(export(store, run, "adapter", to=tmp_path / "mine", child=CHILD))


def test_a_child_that_has_no_such_run_says_so_and_does_not_abort(
    store: RunStore, run: Run, tmp_path: Path
) -> None:
    """The real child, with its stdin open: it ends by itself, with a traceback or a sentence."""
    said = tmp_path / "said.jsonl"
    command = [sys.executable, *REAL, "r-unknown", "adapter", str(tmp_path / "out")]
    options = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    asked = [*command, "--home", str(store.home), "--say", str(said)]
    with subprocess.Popen(asked, env=child_environment(), **options) as child:
        assert child.wait(timeout=60) == 0, child.stderr.read()
    assert "is unknown" in json.loads(said.read_text())["refused"]
