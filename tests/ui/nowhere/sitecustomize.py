"""Notes every other host that a process and its children look up or connect to.

Python runs this file first where its folder is on ``PYTHONPATH``; ``ASKED_HOSTS`` names the notes.
"""

from __future__ import annotations

import os
import sys
from typing import Any

HERE = {"", "127.0.0.1", "::1", "localhost", "0.0.0.0", "::"}


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]  # a path is this machine's
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host or ""
    if host not in HERE:
        with open(os.environ["ASKED_HOSTS"], "a") as notes:
            notes.write(f"{host} by {sys.argv}\n")


sys.addaudithook(_note)
