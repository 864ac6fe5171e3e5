"""The fixture of what is asked of the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from playground import __main__ as terminal
from tests.cli.terminals import Say
from tests.fakes_cli import use_scripts


@pytest.fixture
def say(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs a command in this process with scripted workers: (exit code, stdout, stderr)."""
    use_scripts(monkeypatch.setattr)
    monkeypatch.setattr(terminal, "interrupted", lambda: lambda: False)  # pytest's own signals
    monkeypatch.setenv("PLAYGROUND_HOME", str(home))
    monkeypatch.setenv("PLAYGROUND_SINKS", "")  # --log-to sets it: to be put back

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["playground", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            terminal.main()
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return run
