"""The child: ``python -m playground.generate --home HOME --idle SECONDS``; see the package."""

from __future__ import annotations

import argparse
import json
import os
import queue
import threading
from pathlib import Path
from typing import Any

from playground.processes import lines_from_parent


class Requests:
    """What the page asks for, read in a thread of its own: a stop must be heard while answering."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[dict[str, Any]] = queue.Queue()
        self._stopped = 0
        threading.Thread(target=self._listen, name="requests", daemon=True).start()

    def next(self, patience_s: float) -> dict[str, Any] | None:
        """The next question; None if there is none within so many seconds."""
        try:
            return self._waiting.get(timeout=patience_s)
        except queue.Empty:
            return None

    def stopped(self, number: int) -> bool:
        """Whether this question, or one after it, was told to stop."""
        return self._stopped >= number

    def _listen(self) -> None:
        for line in lines_from_parent():
            said = json.loads(line)
            if "stop" in said:
                self._stopped = max(self._stopped, said["stop"])
            else:
                self._waiting.put(said)
        # Whoever asked is gone, whatever we are in the middle of: nothing here is worth finishing.
        os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Answer questions; the page calls this.")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--idle", type=float, required=True)
    asked = parser.parse_args()
    requests = Requests()  # before torch is imported: a parent that dies meanwhile is noticed
    from playground.generate.answering import Answerer

    answerer = Answerer(asked.home)
    while request := requests.next(asked.idle):
        answerer.answer(request, lambda number=request["ask"]: requests.stopped(number))


if __name__ == "__main__":
    main()
