"""``report`` in a terminal: which file it writes, in which format, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from playground.__main__ import cli
from playground.config import SettingsError
from playground.store import RunStore
from tests.report.scripted import scripted


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def test_the_files_ending_says_the_format_and_so_does_the_option(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    group = scripted(store, "Mine", answers=("asked", "right", "said"))
    home = ["--home", str(store.home)]
    for words in ([], ["--to", "a.json"], ["--to", "b", "--format", "csv", "--rows"]):
        done = CliRunner().invoke(cli, ["report", group.run_ids[0], *words, *home])
        assert done.exit_code == 0, done.output
        assert "Mine:" in done.output and "kB in" in done.output
    assert Path(f"fp4-report-{group.id}.html").read_text().startswith("<!doctype html>")
    assert json.loads(Path("a.json").read_text())["group"] == group.id
    assert "asked" in Path("b").read_text()
    assert "held-out rows" in done.output


def test_a_place_that_cannot_be_written_is_a_sentence(store: RunStore, tmp_path: Path) -> None:
    group = scripted(store)
    to = ["--to", str(tmp_path / "none" / "x.html")]
    done = CliRunner().invoke(cli, ["report", group.id, *to, "--home", str(store.home)])
    assert isinstance(done.exception, SettingsError)
    assert "cannot be written (No such file or directory)" in str(done.exception)
