"""All that changes as a run goes on: a checkpoint holds this and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from playground.data.batches import BatchHash, MicroBatch
from playground.events import Facts
from playground.training.adapter import trainable
from playground.training.heal import scales_loss
from playground.training.optimise import Optimiser
from playground.training.prepare import Prepared
from playground.training.random_state import RandomState


class TrainingState:
    """Where a run is: the adapter (in ``run.model``), and what stands around it.

    step: the last that was completed. resumed_at: the step that was the last when this process took
        over; 0 in a run that began here.
    digest: of the batches of all steps so far.
    random: as it was when ``step`` was completed.
    """

    def __init__(self, run: Prepared) -> None:
        settings = run.config.training
        self.run = run
        self.optimiser = Optimiser(
            list(trainable(run.model).values()),
            settings,
            scales_loss=scales_loss(run.config),
            device=run.device,
        )
        self.digest = BatchHash()
        self.step = self.resumed_at = 0
        self.random = RandomState.of(run)
        self._order = run.batches()

    def steps_left(self) -> Iterator[tuple[int, list[MicroBatch]]]:
        """Number and micro-batches of each step still to be made."""
        numbers = range(self.step + 1, self.run.config.training.max_steps + 1)
        try:
            yield from zip(numbers, self._order, strict=False)
        finally:
            self._order.close()

    def completed(self, number: int, micro_batches: list[MicroBatch]) -> None:
        """Step ``number`` was made."""
        self.digest.add(micro_batches)
        self.step, self.random = number, RandomState.of(self.run)

    def skip_to(self, step: int, check: Callable[[], None]) -> None:
        """As if the steps up to ``step`` had been made: their batches are gone through.

        Args:
            check: called before each; raises to give up.
        """
        for _ in range(step):
            check()
            self.digest.add(next(self._order))
        self.step = self.resumed_at = step

    @property
    def base_name(self) -> str:
        """What a saved adapter calls its base. A local folder goes by its name: where it lies is
        nobody's business."""
        entry = self.run.entry
        return entry.hub_id or Path(entry.id).name

    def facts(self) -> Iterator[Facts]:
        """What is known of the steps so far."""
        yield Facts(batches_sha256=self.digest.hexdigest(), skipped_updates=self.optimiser.skipped)
        yield self.run.memory.facts()
