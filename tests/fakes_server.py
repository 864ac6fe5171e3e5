"""A server without a page: ``python -m tests.fakes_server HOME SCRIPT STEPS`` starts a comparison,
prints its id, and supervises until it is killed."""

import sys
import threading
from pathlib import Path

from playground.launcher import Launcher
from playground.store import RunStore
from tests import fakes

if __name__ == "__main__":
    home, script, steps = sys.argv[1:]
    launcher = Launcher(RunStore(Path(home)), worker_module="tests.fakes_worker")
    print(launcher.start(fakes.preset(script, int(steps))).id, flush=True)
    threading.Event().wait()
