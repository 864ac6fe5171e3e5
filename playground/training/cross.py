"""The finished adapter on other bases: what it is worth where it was not trained, and merged.

Two questions. Does an adapter that was trained on one precision serve a base in another? (Two arms,
each on both bases, make a 2x2 table.) And what does merging lose? Half a step of a 4-bit grid is
larger than most of what an adapter changes, so rounding after the merge may undo it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import NamedTuple

import torch

from playground.config import PRECISIONS, RunConfig, SettingsError, private
from playground.events import CrossEval, Event, Message, Stage
from playground.failures import Place, from_exception
from playground.training.evaluate import held_out_loss
from playground.training.held_out import with_progress
from playground.training.prepare import Prepared
from playground.training.rebase import let_go, rebase

FAILURES = (SettingsError, RuntimeError, MemoryError, OSError)
"""What a base that cannot be had raises; torch.OutOfMemoryError is a RuntimeError."""


class Judgement(NamedTuple):
    """A base to judge the adapter on; ``merged`` as in ``CrossEval``."""

    base: str
    merged: bool

    def __str__(self) -> str:
        label = PRECISIONS[self.base].label
        return f"merged into {label}" if self.merged else f"on a base in {label}"


def judgements(run: Prepared) -> list[Judgement]:
    """What the settings ask for beside the run's own base, on which ``after`` was evaluated.

    Merging is judged in 16 bits, and in the run's own format where that is below 16 bits: NVFP4
    stands in for it where it is not.
    """
    settings, own = run.config.measure, run.config.precision
    bases = () if settings.cross_precisions == "none" else settings.cross_precisions
    others = [name for name in dict.fromkeys(bases) if name != run.recipe.name]
    merged = []
    if settings.merge_check:
        narrow = own if PRECISIONS[own].storage_bits < 16 else "nvfp4"
        merged = ["fp16" if own == "fp16" else "bf16", narrow]
    return [*(Judgement(base, False) for base in others), *(Judgement(b, True) for b in merged)]


def cross_evaluate(run: Prepared, check: Callable[[], None]) -> Iterator[Event]:
    """Yields progress and a CrossEval for each of ``judgements``; then there is no base any more.

    So it comes last, with the adapter saved: a base that cannot be loaded, or does not fit, costs a
    warning and not the run. Its memory counts towards no peak of the run's.

    Args:
        check: called between the parts of the work; raises to give up.
    """
    if asked := judgements(run):
        with run.memory.aside():
            try:
                yield from _judge_all(run, asked, check)
            finally:  # stopped or not: what is in use afterwards would be counted again
                let_go(run)


def _judge_all(run: Prepared, asked: list[Judgement], check: Callable[[], None]) -> Iterator[Event]:
    for judgement in asked:
        problem = None
        try:
            yield from _judge(run, judgement, check)
        except FAILURES as error:
            problem = _sentence(error, run.config)
        if problem:  # outside: the traceback would keep alive what there was no room for
            if run.device.type == "cuda":
                torch.cuda.empty_cache()
            text = f"The adapter could not be judged {judgement}: {problem}"
            yield Message(level="warning", text=text)


def _judge(run: Prepared, judgement: Judgement, check: Callable[[], None]) -> Iterator[Event]:
    detail = f"loss of {len(run.eval)} held-out rows, {judgement}"
    yield Stage(name="evaluating", detail=detail)
    rebase(run, judgement.base, merged=judgement.merged, check=check)
    with run.model.disable_adapter() if judgement.merged else nullcontext():
        found = yield from with_progress(
            detail,
            held_out_loss(
                run.model,
                run.eval,
                batch_size=run.config.training.micro_batch_size,
                pad_id=run.pad_id,
                device=run.device,
                check=check,
            ),
        )
    yield CrossEval(
        base=judgement.base, merged=judgement.merged, loss=found.loss, tokens=found.tokens
    )


def _sentence(error: Exception, config: RunConfig) -> str:
    place = Place("evaluating", config.training.max_steps)
    ended = from_exception(error, config, place)
    if ended.cause == "out of memory" and ended.error:
        return ended.error
    first = next(iter(str(error).splitlines()), "") or type(error).__name__
    return private(f"{first.rstrip('.')}.")
