"""``export`` in a terminal: what it says and writes, with a child that exports nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from playground.__main__ import cli
from playground.cli import export as command
from playground.config import SettingsError
from playground.export import Progress
from playground.store import RunStore
from tests.generate.finished import finished_group

REPORT = {"said": "Checked.", "files": ["README.md", "x"], "bytes": 2**20, "largest": 0.0}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, Path | None]]:
    """What was asked for: run, kind and folder."""
    seen: list[tuple[str, str, Path | None]] = []

    def make(store, run, kind, *, to):  # type: ignore[no-untyped-def]
        seen.append((run.id, kind, to))
        yield Progress("writing")
        yield Progress("verified", report=REPORT)

    monkeypatch.setattr(command, "make", make)
    return seen


def test_a_run_a_comparison_and_a_folder(store: RunStore, asked: list, tmp_path: Path) -> None:
    group = finished_group(store)
    first, second = group.run_ids
    json_file, home = tmp_path / "out.json", ["--home", str(store.home)]
    done = CliRunner().invoke(cli, ["export", group.id, "--json", str(json_file), *home])
    assert done.exit_code == 0, done.output
    assert "FP16: 2 files, 1.0 MiB" in done.output and "Checked." in done.output
    assert [e["largest"] for e in json.loads(json_file.read_text())["exports"]] == [0.0, 0.0]
    to = ["--to", str(tmp_path / "mine")]
    CliRunner().invoke(cli, ["export", second, "--merged", "--dtype", "fp16", *to, *home])
    assert asked == [
        (first, "adapter", None),
        (second, "adapter", None),
        (second, "merged-fp16", tmp_path / "mine"),
    ]


@pytest.mark.parametrize(
    "more, said",
    [
        (["--to", "/nowhere/x"], "One folder cannot take 2 runs"),
        (["--dtype", "fp16"], "add --merged"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    more: list[str], said: str, store: RunStore, asked: list
) -> None:
    group = finished_group(store)
    done = CliRunner().invoke(cli, ["export", group.id, *more, "--home", str(store.home)])
    assert isinstance(done.exception, SettingsError) and said in str(done.exception)
    assert asked == []
