"""One run's events, to every sink that was chosen."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from playground.config import private
from playground.events import Event, Message
from playground.sinks.scalars import Scalars, scalars


class Sink(Protocol):
    """A place for scalars; raises whatever its package does."""

    def write(self, found: Scalars) -> None: ...

    def close(self) -> None:
        """Everything written is on disk after this."""


class Arm(NamedTuple):
    """Whose figures these are. group: the comparison. name: one precision of it, and its seed."""

    group: str
    name: str


class Fan:
    """Opens its sinks with the first event that has a number, for their packages load slowly.

    Args:
        names: as ``chosen_sinks`` returned them.
        home: the folder under which each sink has its own.
    """

    def __init__(self, names: Sequence[str], home: Path, arm: Arm) -> None:
        self._waiting = {name: _OPENERS[name] for name in names}
        self._home, self._arm = home, arm
        self._open: dict[str, Sink] = {}

    def write(self, event: Event) -> list[Message]:
        """Passes on what is a number. Returns a warning for each sink that has just failed."""
        if not (self._waiting or self._open) or (found := scalars(event)) is None:
            return []
        failed = []
        for name in [*self._waiting, *self._open]:
            try:
                if opener := self._waiting.pop(name, None):
                    self._open[name] = opener(self._home / name, self._arm, found.step or 0)
                self._open[name].write(found)
            except Exception as error:  # a full disk, say; the package may raise anything
                self._open.pop(name, None)
                failed.append(_warning(name, error))
        return failed

    def close(self) -> list[Message]:
        failed = []
        while self._open:
            name, sink = self._open.popitem()
            try:
                sink.close()
            except Exception as error:
                failed.append(_warning(name, error))
        return failed


def _warning(name: str, error: Exception) -> Message:
    traceback.print_exception(error)  # into the worker's log
    said = private(" ".join(str(error).split())) or "no message"
    text = f"{name} failed ({type(error).__name__}: {said[:200]}), so it gets no more of this run."
    return Message(level="warning", text=text)


def _tensorboard(folder: Path, arm: Arm, first_step: int) -> Sink:
    from playground.sinks.tensorboard import TensorBoard

    return TensorBoard(folder, arm.group, arm.name, first_step)


def _trackio(folder: Path, arm: Arm, first_step: int) -> Sink:
    from playground.sinks.trackio import Trackio

    return Trackio(folder, arm.group, arm.name)


_OPENERS: dict[str, Callable[[Path, Arm, int], Sink]] = {
    "tensorboard": _tensorboard,
    "trackio": _trackio,
}
