"""A scene is drawn once for all pages that show it, and each page is sent the parts that changed.

Twenty people who watch one run cost little more than one. Drawing takes longer with every step of
every arm, so it is done again only after ``REST`` times as long as it took a core: whatever is
watched, and by how many, one core spends at most a tenth of its time on drawing.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr
from gradio.blocks import Block

from playground.language import spoken
from playground.store import RunStore
from playground.ui.watch import Scene, Seen, look, newest

REST = 10
KEPT = 8
"""Drawings that are kept: two comparisons, as a visitor and who may change things see them, in
either language."""

Draw = Callable[[Scene, bool], list[Any]]
_Key = tuple[str | None, bool, str]  # the comparison, whether one may change it, the language


@dataclass(frozen=True)
class _Drawing:
    seen: Seen
    parts: list[Any]
    marks: tuple[str, ...]
    at: float
    took: float


class Scenes:
    """The drawings of the comparisons that are watched. Safe to use from several threads."""

    def __init__(self, store: RunStore, log_tail: Callable[[str], str], draw: Draw) -> None:
        """Args:
        log_tail: the end of what a run's process printed, by run id.
        draw: what each widget becomes, the page's ``Seen`` first; and whether who looks may
            change things.
        """
        self._store, self._log_tail, self._draw = store, log_tail, draw
        self._drawn: OrderedDict[_Key, _Drawing] = OrderedDict()
        self._lock = threading.Lock()

    def has_news(self, seen: Seen, may_change: bool) -> bool:
        """Whether a page that showed ``seen`` would be sent something now."""
        now = newest(self._store, seen.group_id)
        if now == seen:
            return False
        drawing = self._drawn.get((now.group_id, may_change, spoken()))
        return drawing is None or drawing.seen != seen or not _rests(drawing, now)

    def show(self, seen: Seen, may_change: bool) -> list[Any] | None:
        """What has changed for a page that showed ``seen``: a skip for the rest, None for nothing.

        A page that showed nothing (``Seen(group_id)``) always gets everything, as it is now.
        """
        now = newest(self._store, seen.group_id)
        if now == seen:
            return None
        key = (now.group_id, may_change, spoken())
        with self._lock:
            drawing = self._drawn.get(key)
            if drawing is None or drawing.seen != now and not (seen.sent and _rests(drawing, now)):
                drawing = self._draw_anew(key, seen, may_change)
        if drawing.seen == seen:
            return None
        sent = seen.sent or (None,) * len(drawing.marks)
        parts = [
            gr.skip() if old == mark else part
            for part, mark, old in zip(drawing.parts, drawing.marks, sent, strict=True)
        ]
        return [replace(drawing.seen, sent=drawing.marks), *parts]

    def _draw_anew(self, key: _Key, seen: Seen, may_change: bool) -> _Drawing:
        began = time.thread_time()
        # Whatever the page showed, this look must find a scene: a queue like that there never is.
        never = replace(seen, queue=(("", ""),))
        scene = look(self._store, seen.group_id, never, self._log_tail)
        seen_now, *parts = self._draw(scene, may_change)
        marks = tuple(map(_mark, parts))
        took = time.thread_time() - began
        self._drawn[key] = drawing = _Drawing(seen_now, parts, marks, time.monotonic(), took)
        self._drawn.move_to_end(key)
        while len(self._drawn) > KEPT:
            self._drawn.popitem(last=False)
        return drawing


def _rests(drawing: _Drawing, now: Seen) -> bool:
    # One that was deleted has no token, and is drawn in no time.
    return now.token > 0 and time.monotonic() - drawing.at < REST * drawing.took


def _mark(part: Any) -> str:
    """Equal for equal parts."""
    value = part.constructor_args if isinstance(part, Block) else part
    return hashlib.sha1(json.dumps(value, default=str).encode()).hexdigest()
