"""trackio's local database: ``TRACKIO_DIR=HOME/trackio trackio show`` shows it.

No Space, no server, no log of the machine beside the run: what is ours to say, in a file.
"""

from __future__ import annotations

import os
from pathlib import Path

from playground.sinks.scalars import Scalars


class Trackio:
    """One trackio run, ``name`` in the project ``group``; gone on with if it is there already."""

    def __init__(self, folder: Path, group: str, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["TRACKIO_DIR"] = str(folder)  # read when the package is loaded
        import trackio

        self._run = trackio.init(
            project=group,
            name=name,
            resume="allow",
            embed=False,
            auto_log_gpu=False,
            auto_log_cpu=False,
        )
        self._last_step = 0

    def write(self, found: Scalars) -> None:
        if found.step is not None:
            self._last_step = found.step
        self._run.log(dict(found.values), step=self._last_step)

    def close(self) -> None:
        self._run.finish()
