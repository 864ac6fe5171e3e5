"""Estimates for a page that cannot wait: asked for again and again, made one at a time.

A page asks with whatever its form holds now, every second while there is no answer. So an answer
is always that of the form as it is; a question that nobody repeats any more is dropped, and one
that is still being typed is not begun.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground.config import SettingsError
from playground.fit.asking import Budget, kept, predict
from playground.presets import Preset

SETTLED_S = 0.8
"""So long a question has to stay the same before a child is started for it."""

FORGOTTEN_S = 5.0
"""A question that was not repeated for so long is not waited for any more."""

_REMEMBERED = 32
_REFUSED_FOR_S = 30.0  # a hub that could not be reached may be there again

Found = dict[str, Any]


@dataclass
class _Question:
    preset: Preset
    into: Budget
    first: float
    last: float


def _key(preset: Preset, into: Budget) -> str:
    return json.dumps([preset.config.model_dump(mode="json"), preset.precisions, into.name])


class Estimates:
    """All questions of one server.

    Args:
        home: the folder of runs, where estimates are kept.
        make: as ``predict``.
    """

    def __init__(self, home: Path, make: Callable[..., Found] = predict) -> None:
        self._home, self._make = home, make
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._asked: dict[str, _Question] = {}
        self._known: OrderedDict[str, tuple[float, Found | SettingsError]] = OrderedDict()
        self._thread: threading.Thread | None = None

    def ask(self, preset: Preset, into: Budget) -> Found | None:
        """What ``predict`` returns, or None while it is not known; ask again in a second.

        Raises:
            SettingsError: as ``predict``.
        """
        key = _key(preset, into)
        if (found := self._remembered(key)) is not None:
            if isinstance(found, SettingsError):
                raise found
            return found
        if (found := kept(preset, into, self._home)) is not None:
            return found
        now = time.monotonic()
        with self._lock:
            question = self._asked.setdefault(key, _Question(preset, into, now, now))
            question.last = now
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="estimates", daemon=True)
                self._thread.start()
        return None

    def waited_s(self, preset: Preset, into: Budget) -> float:
        """Seconds since the question that ``ask`` has no answer to yet was first asked."""
        with self._lock:
            question = self._asked.get(_key(preset, into))
            return time.monotonic() - question.first if question else 0.0

    def _remembered(self, key: str) -> Found | SettingsError | None:
        with self._lock:
            at, found = self._known.get(key, (0.0, None))
            if isinstance(found, SettingsError) and time.monotonic() - at > _REFUSED_FOR_S:
                del self._known[key]
                return None
            return found

    def _work(self) -> None:
        while (next_up := self._next()) is not None:
            key, question = next_up
            found: Found | SettingsError
            try:
                found: Found | SettingsError = self._make(
                    question.preset, question.into, self._home
                )
            except SettingsError as error:
                found = error
            except Exception as error:  # whatever it is, the page must not wait for it for ever
                found = SettingsError(f"The estimate failed ({type(error).__name__}); try again.")
            with self._lock:
                self._asked.pop(key, None)
                self._known[key] = (time.monotonic(), found)
                while len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)

    def _next(self) -> tuple[str, _Question] | None:
        """The question asked last of those that have settled; None when none is left."""
        with self._lock:
            while True:
                now = time.monotonic()
                for key in [k for k, q in self._asked.items() if now - q.last > FORGOTTEN_S]:
                    del self._asked[key]
                if not self._asked:
                    self._thread = None
                    return None
                settled = [(k, q) for k, q in self._asked.items() if q.last - q.first >= SETTLED_S]
                if settled:
                    return max(settled, key=lambda found: found[1].last)
                self._changed.wait(timeout=0.2)
