"""What is printed to be pasted must work when pasted."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from playground import commands
from playground.commands import DEFAULT_HOME, command

STOP = ".venv/bin/python -m playground stop g-1"


@pytest.fixture(autouse=True)
def ann(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user whose home folder is not the machine's."""
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    (tmp_path / "checkout" / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / "checkout" / ".venv" / "bin" / "python").touch()
    monkeypatch.setattr(commands, "_CHECKOUT", tmp_path / "checkout")
    return tmp_path / "ann"


def test_the_default_home_is_left_out(ann: Path) -> None:
    for home in (None, DEFAULT_HOME, ann / ".fp4-playground"):
        assert command("stop", "g-1", home=home) == STOP


@pytest.mark.parametrize(
    ("home", "said"),
    [
        ("/data", "/data"),
        ("/my data", "'/my data'"),
        ("here", "here"),
        ("~/runs", "~/runs"),
        ("~/my runs", "~/'my runs'"),
        ("~/$(touch x)", "~/'$(touch x)'"),
    ],
)
def test_any_other_home_is_named(ann: Path, home: str, said: str) -> None:
    assert command("stop", "g-1", home=Path(home)) == f"{STOP} --home {said}"


def test_a_shell_reads_it_as_it_was_meant(ann: Path) -> None:
    home = ann / "my runs; echo $HOME"
    said = command("show", "a b", home=home)
    assert str(ann) not in said
    echo = ["sh", "-c", f"set -- {said}; printf '%s\\n' \"$@\""]
    words = subprocess.run(
        echo, env=os.environ | {"HOME": str(ann)}, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert words[1:] == ["-m", "playground", "show", "a b", "--home", str(home)]


def test_where_there_is_no_venv_it_is_plain_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(commands, "_CHECKOUT", tmp_path)
    assert shlex.split(command("list"))[0] == "python"
