"""Healing: after a share of the steps a format below 16 bits gives way to a wider one.

What rounding cost the adapter is made up for by its last steps on a base that rounds less. (Source:
MLPerf Training v5.1, llama2_70b_lora: NVFP4, switched to FP8 after step 350 of 800.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playground.config import PRECISIONS, RunConfig
from playground.events import Event, Facts, Message, Stage
from playground.precision.registry import PRECISION_RECIPES
from playground.training.meters import WARMUP_STEPS
from playground.training.prepare import Prepared
from playground.training.rebase import rebase


def heal(run: Prepared, number: int, check: Callable[[], None]) -> Iterator[Event]:
    """Puts the wider base under the adapter if step ``number``, about to be made, is healed.

    Does nothing where the run never heals, has not come that far, or is healed already; so a run
    that is resumed beyond its first healed step comes back healed.

    Args:
        check: called between the parts of the work; raises to give up.
    Raises:
        SettingsError: as ``rebase``.
    """
    first = run.config.first_healed_step
    if first is None or number < first or run.healed_at is not None:
        return
    to = run.config.quantization.heal_to
    own, wider = (PRECISIONS[name].label for name in (run.config.precision, to))
    yield Stage(name="healing", detail=f"{own} gives way to {wider}")
    tried = rebase(run, to, check=check)
    run.healed_at = number
    for sentence in tried:
        yield Message(level="info", text=f"Self-test: {sentence}")
    why = run.recipe.how(run.detected).reason
    text = f"Healing: from step {first} on, the base is in {wider} and no longer in {own}. {why}"
    yield Message(level="info", text=text)
    yield Facts(healed_at_step=first, healed_to=to)
    yield Stage(name="training")


def scales_loss(config: RunConfig) -> bool:
    """Whether any precision of the run needs loss scaling; the scaler is there from step 1."""
    names = [config.precision]
    if config.first_healed_step is not None:
        names.append(config.quantization.heal_to)
    return any(PRECISION_RECIPES[name].scales_loss for name in names)


def still_settling(run: Prepared, number: int) -> bool:
    """Whether step ``number`` pays for what a new base makes anew: caches, compiled code."""
    return run.healed_at is not None and number < run.healed_at + WARMUP_STEPS[run.device.type]
