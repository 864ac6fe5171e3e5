"""The page of ``bench_page`` in a process of its own, until it is ended: prints its address.

    python -m benchmarks.bench_page_server HOME [--restless]

``--restless`` draws anew as often as there is something new, for who measures the browser.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from benchmarks.bench_page import page
from playground.store import RunStore
from playground.ui import scenes

if __name__ == "__main__":
    if "--restless" in sys.argv:
        scenes.REST = 0
    with page(RunStore(Path(sys.argv[1]))) as url:
        print(url, flush=True)
        threading.Event().wait()
