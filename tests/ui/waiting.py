"""Waiting on conditions, and ports nobody listens on."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable
from contextlib import suppress
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
    """A port that nobody listens on, nor will: the system gives whoever connects one from 32768 on.

    A page that is started in a process of its own binds it only seconds later.
    """
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
