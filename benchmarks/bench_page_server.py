"""The page of ``bench_page`` in a process of its own, until it is ended: prints its address."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from benchmarks.bench_page import page
from playground.store import RunStore

if __name__ == "__main__":
    with page(RunStore(Path(sys.argv[1]))) as url:
        print(url, flush=True)
        threading.Event().wait()
