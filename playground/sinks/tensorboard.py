"""TensorBoard's event files: ``tensorboard --logdir HOME/tensorboard`` shows them."""

from __future__ import annotations

from pathlib import Path

from torch.utils.tensorboard import SummaryWriter

from playground.sinks.scalars import Scalars

FLUSH_S = 10  # a person looks on while the run goes on


class TensorBoard:
    """One TensorBoard run, ``folder/group/name``.

    first_step: of a run that is resumed, what an earlier process wrote from there on is hidden.
    """

    def __init__(self, folder: Path, group: str, name: str, first_step: int) -> None:
        place = folder / group / name
        purge = first_step if place.exists() else None
        self._writer = SummaryWriter(str(place), purge_step=purge, flush_secs=FLUSH_S)
        self._last_step = first_step

    def write(self, found: Scalars) -> None:
        if found.step is not None:
            self._last_step = found.step
        for name, value in found.values.items():
            self._writer.add_scalar(name, value, self._last_step)

    def close(self) -> None:
        self._writer.close()
