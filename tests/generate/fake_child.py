"""A child that answers without models: what a question says decides what becomes of it.

Run like the real one, ``python -m tests.generate.fake_child --home HOME --idle SECONDS``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TextIO

from playground.generate.__main__ import Requests

CHILD = ("-m", "tests.generate.fake_child")


def main() -> None:
    requests = Requests()
    idle = float(sys.argv[sys.argv.index("--idle") + 1])
    while request := requests.next(idle):
        with Path(request["answers"]).open("a") as file:
            for at, (run_id, tuned) in enumerate(request["columns"]):
                answer(file, at, f"{'tuned' if tuned else 'base'} {run_id}", request, requests)
            say(file, done=True)


def answer(file: TextIO, at: int, who: str, request: dict, requests: Requests) -> None:
    prompt = request["prompt"]
    say(file, column=at, doing="loading")
    if prompt == "noisy":
        sys.stderr.write("x" * (1 << 20))
    if prompt == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if prompt == "crashes":
        sys.exit("something broke")
    if prompt == "refused":
        say(file, column=at, error="This model cannot be had.")
        return
    say(file, column=at, doing="answering")
    tokens = 0
    while prompt == "endless" and not requests.stopped(request["ask"]):
        tokens += 1
        say(file, column=at, text="word " * tokens, tokens=tokens)
        time.sleep(0.1)
    if tokens:
        say(file, column=at, ended="stopped", seconds=0.1 * tokens)
    else:
        said = [turn["content"] for turn in request["earlier"][at]]
        say(file, column=at, text=f"{who}: {', '.join([*said, prompt])}", tokens=3)
        say(file, column=at, ended="by itself", seconds=0.1)


def say(file: TextIO, **said: object) -> None:
    file.write(json.dumps(said) + "\n")
    file.flush()


if __name__ == "__main__":
    main()
