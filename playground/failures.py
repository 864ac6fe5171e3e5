"""How a run ended that did not end well, in one sentence and by its kind: a result like any other.

Each takes what is known about the end and returns the Status to keep. The standard library only:
the launcher asks too, and it never loads torch.
"""

from __future__ import annotations

import re
import signal
from typing import NamedTuple

from playground.config import PRECISIONS, RunConfig, SettingsError, private
from playground.events import Event, Facts, Stage, Status, Step

_SHORTEST = 64  # tokens; rows cut below this say little
LONGEST = "trying the longest batch"
"""The stage in which the largest micro-batch is sent forward and back, before any step."""

_CUDA_IS_FULL = ("CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED")


class ResumeError(RuntimeError):
    """A run cannot go on where it was, for a reason that may pass. The message is one sentence."""


class Place(NamedTuple):
    """Where a run was: its last stage ("" before any) and its last step (0 before any).

    predicted_mib: the most memory that it was predicted to take; None before anything was.
    """

    stage: str = ""
    step: int = 0
    predicted_mib: float | None = None

    def after(self, event: Event) -> Place:
        """Where it is once it has said ``event``."""
        if isinstance(event, Stage):
            return self._replace(stage=event.name)
        if isinstance(event, Facts) and event.predicted_peak_mib is not None:
            return self._replace(predicted_mib=event.predicted_peak_mib)
        return self._replace(step=event.step) if isinstance(event, Step) else self

    @property
    def training(self) -> bool:
        return self.stage == "training" or (self.step > 0 and not self.stage)

    def __str__(self) -> str:
        if self.training:
            return f"in step {self.step + 1}"
        after = f" after step {self.step}" if self.step else ""
        return f"while {self.stage or 'starting'}{after}"


def from_exception(error: BaseException, config: RunConfig, place: Place) -> Status:
    """A worker's run raised ``error``: refused settings, no memory left, or a surprise."""
    text = " ".join(str(error).split())
    if isinstance(error, SettingsError):
        return Status(status="failed", error=text, cause="refused")
    if isinstance(error, ResumeError):
        return Status(status="failed", error=private(text), cause="error")
    if is_out_of_memory(error):
        return Status(
            status="failed", error=_out_of_memory(text, config, place), cause="out of memory"
        )
    name = type(error).__name__
    if isinstance(error, KeyboardInterrupt | SystemExit):
        said = f"The worker was told to leave ({name}) {place}; resume the run."
        return Status(status="failed", error=said, cause="error")
    text = private(text)  # before it is cut
    shown = text if len(text) <= 300 else text[:297] + "..."
    said = f"{name} {place}: {shown or 'no message'}. The log has the details."
    return Status(status="failed", error=said, cause="error")


def is_out_of_memory(error: BaseException) -> bool:
    """torch names CUDA's; its CPU allocator and CUDA's libraries raise plain RuntimeErrors."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error)
    full = "DefaultCPUAllocator" in text and "allocate" in text
    return isinstance(error, RuntimeError) and (full or any(s in text for s in _CUDA_IS_FULL))


def from_exit_code(code: int | None) -> Status:
    """A worker's process ended without a word.

    Args:
        code: as subprocess gives it: minus the number of the signal that ended the process.
    """
    if code is not None and -code == signal.SIGKILL:
        said = (
            "The worker was ended by SIGKILL from outside, most often because memory ran out; "
            "resume it, or try a smaller model, micro_batch_size or max_seq_len."
        )
        return Status(status="failed", error=said, cause="killed")
    if code is not None and -code in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        name = signal.Signals(-code).name
        said = f"The worker was ended by {name} from outside; resume it."
        return Status(status="failed", error=said, cause="killed")
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        said = f"The worker crashed with {name} in native code; the end of its log says where."
        return Status(status="failed", error=said, cause="crashed")
    said = f"The worker ended with exit code {code} before it said why; see the end of its log."
    return Status(status="failed", error=said, cause="error")


def _out_of_memory(text: str, config: RunConfig, place: Place) -> str:
    asked = _bytes_asked_for(text)
    more = f", asking for {asked} more" if asked else ""
    told = place.predicted_mib
    beside = f" (predicted: {_mib(told)} in all)" if told is not None else ""
    return f"Out of memory {place}{more}{beside}: {what_would_fit(config, place)}."


def _mib(mib: float) -> str:
    return f"{mib / 1024:,.2f} GiB" if mib >= 1024 else f"{mib:,.0f} MiB"


def _bytes_asked_for(text: str) -> str | None:
    found = re.search(r"[Tt]ried to allocate ([\d.]+) ?([KMGT]iB|bytes)", text)
    found = found or re.search(r"[Uu]nable to allocate ([\d.]+) ?([KMGT]iB|bytes)", text)  # numpy
    if not found:
        return None
    amount, unit = found.groups()
    return f"{int(amount) / 2**20:,.0f} MiB" if unit == "bytes" else f"{amount} {unit}"


def what_would_fit(config: RunConfig, place: Place) -> str:
    """The two changes that free most and change the result least, from the settings as they are."""
    training, remedies = config.training, []
    passes = place.training or place.stage == LONGEST
    if passes or place.stage == "evaluating":  # else not one row was in the model yet
        rows = training.micro_batch_size * training.grad_accum_steps
        if training.micro_batch_size > 1:
            half = training.micro_batch_size // 2
            micro = next(n for n in range(half, 0, -1) if rows % n == 0)
            remedies.append(
                f"set micro_batch_size to {micro} and grad_accum_steps to {rows // micro}, which "
                f"learns from the same {rows} rows a step"
            )
        if not training.gradient_checkpointing and passes:
            remedies.append("turn gradient_checkpointing on")
        if config.data.max_seq_len > _SHORTEST:
            shorter = max(_SHORTEST, config.data.max_seq_len // 2)
            remedies.append(f"lower max_seq_len from {config.data.max_seq_len} to {shorter}")
    if PRECISIONS[config.precision].storage_bits > 8:
        remedies.append("pick a precision that stores weights in fewer bits, such as nvfp4")
    remedies.append("pick a smaller model")
    return ", or ".join(remedies[:2])
