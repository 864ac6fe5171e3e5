"""A child that exports nothing: ``FP4_TEST_EXPORT`` says what becomes of it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

CHILD = ("-m", "tests.export.fake_child")
WAY = "FP4_TEST_EXPORT"


def main() -> None:
    folder, said = Path(sys.argv[3]), Path(sys.argv[sys.argv.index("--say") + 1])
    partial = folder.with_name(folder.name + ".partial")
    partial.mkdir(parents=True)

    def say(**words: object) -> None:
        with said.open("a") as file:
            file.write(json.dumps(words) + "\n")

    say(doing="writing")
    way = os.environ[WAY]
    if way == "hangs":
        time.sleep(600)
    if way == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "crashes":
        sys.exit("something broke")
    if way == "refused":
        say(refused="It does not say what the run says.")
        return
    partial.rename(folder)
    say(doing="verified", report={"largest": 0.0})


if __name__ == "__main__":
    main()
