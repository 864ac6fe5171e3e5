"""One sentence for bad input, exit code 1, and nothing created."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from playground.store import RunStore, StoreError
from tests.cli.terminals import ROOT, Say


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["compare", "quik"], "Preset 'quik' is unknown"),
            (["compare", "./none.yaml"], "does not exist"),
            (["compare", "quick", "--set", "max_steps=0"], "max_steps is '0'"),
            (["compare", "quick", "--set", "max_steps"], "has no value; write"),
            (["compare", "quick", "--set", "lr=1"], "Setting 'lr' is unknown"),
            (["compare", "quick", "--set", "precisions=fp16,fp61"], "Precision 'fp61' is unknown"),
            (["compare", "quick", "--seeds", "0"], "'seeds' is '0'; give how often"),
            (
                ["compare", "quick", "--seeds", "3", "--set", "seeds=2"],
                "seeds=2 disagree; give one",
            ),
            (["compare", "quick", "--set", "model=tinny"], "tinny"),
            (["compare", "quick", "--log-to", "wandb"], "'wandb', which is no place to log to"),
            (["compare", "quick", "--json", "/nowhere/x.json"], "'/nowhere/x.json' cannot be"),
            (["compare", "quick", "--json", "/dev/null/x.json"], "(Not a directory); choose"),
            (["compare", "quick", "--json", "x" * 300], "(File name too long); choose another"),
            (["compare", "~nosuchuser/x.yaml"], "'~nosuchuser/x.yaml' begins with the name of a"),
            (["list", "--home", "~nosuchuser/x"], "'~nosuchuser/x' begins with the name of a user"),
            (["run", "quick", "--precision", "fp61"], "Precision 'fp61' is unknown"),
            (
                ["show", "g-1"],
                "holds no runs; start one with `.venv/bin/python -m playground compare",
            ),
            (["stop", "g-1"], "holds no runs"),
            (["resume", "g-1"], "holds no runs"),
            (["list", "--json", "/nowhere/x.json"], "cannot be written"),
        ],
    )
    def test_one_sentence_exit_1_and_nothing_created(
        self, say: Say, home: Path, arguments: list[str], says: str
    ) -> None:
        if "dataset=" not in " ".join(arguments) and arguments[0] in ("compare", "run"):
            arguments = [*arguments, "--set", "dataset=steady"]
        code, out, err = say(*arguments)
        assert code == 1 and out == ""
        assert says in err and "Traceback" not in err
        assert len(err.splitlines()) == 1
        assert not home.exists()

    @pytest.mark.parametrize("arguments", [[], ["compare"], ["dance"], ["list", "--limit", "0"]])
    def test_a_wrong_command_gets_help_not_a_traceback(
        self, say: Say, home: Path, arguments: list[str]
    ) -> None:
        code, out, err = say(*arguments)
        assert code == 2 and "Traceback" not in out + err and "Usage" in out + err
        assert not home.exists()

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"", "has no rows"),
            (b'{"foo": 1}\n{"foo": 2}\n', "The columns foo are not a known format"),
            (b'{"text": "a"}\nno json\n', "Line 2 of 'rows.jsonl' is not JSON"),
        ],
    )
    def test_a_file_that_cannot_be_learned_from_is_refused_once(
        self, home: Path, tmp_path: Path, content: bytes, says: str
    ) -> None:
        (tmp_path / "rows.jsonl").write_bytes(content)
        done = subprocess.run(
            [sys.executable, "-m", "playground", "compare", "quick", "--home", str(home),
             "--set", f"dataset={tmp_path / 'rows.jsonl'}"],
            cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 1 and done.stdout == ""
        assert says in done.stderr and len(done.stderr.splitlines()) == 1
        assert not home.exists()

    def test_the_real_catalog_refuses_before_anything_is_created(self, home: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "playground", "compare", "quick", "--set", "dataset=iso-date"],
            cwd=ROOT,
            env=os.environ | {"PLAYGROUND_HOME": str(home)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1 and done.stdout == ""
        assert "iso-date" in done.stderr and len(done.stderr.splitlines()) == 1
        assert not home.exists()


def test_a_database_that_cannot_be_used_is_one_sentence(
    say: Say, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> list:
        raise StoreError("database or disk is full")

    monkeypatch.setattr(RunStore, "search", full)
    code, out, err = say("list")
    assert (code, out) == (1, "")
    assert err == (
        "The run database cannot be used: database or disk is full; see that it can be written "
        "and has room.\n"
    )
