"""Waiting on conditions, and ports nobody listens on."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

import pytest


def until(condition: Callable[[], Any], what: str, seconds: float = 30) -> Any:
    """The first true answer of ``condition``; fails with ``what`` if none comes in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answer := condition():
            return answer
        time.sleep(0.02)
    pytest.fail(f"waited {seconds} s in vain for {what}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
