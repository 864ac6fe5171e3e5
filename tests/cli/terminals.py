"""A command in this process, or in a terminal of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
Say = Callable[..., tuple[int, str, str]]


def started(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """A terminal of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fakes_cli", *arguments, "--home", str(home)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
