"""A scene is drawn once for all pages that show it, and each page is sent the parts that changed.

Twenty people who watch one run cost little more than one: what a page is sent is drawn, written and
packed once, and a page that has it already costs one small number of the database. Drawing takes
longer with every step of every arm, so it is done again only after ``REST`` times as long as it
took a core: what is watched costs training at most a fiftieth of a core.
"""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import gradio as gr

from playground.language import spoken
from playground.store import RunStore
from playground.ui.watch import Scene, Seen, look, newest

REST = 50
KEPT = 16
"""Drawings that are kept: four comparisons, as a visitor and who may change things see them, in
either language."""

Draw = Callable[[Scene, bool], list[Any]]
_Key = tuple[str | None, bool, str]  # the comparison, whether one may change it, the language
_SKIP = json.dumps(gr.skip())


@dataclass(frozen=True)
class _Drawing:
    seen: Seen
    parts: list[Any]
    written: list[str]  # each part in JSON
    at: float  # when it was drawn
    took: float  # seconds of a core
    packed: dict[str, bytes] = field(default_factory=dict)  # what pages are sent, by their stamp


class Scenes:
    """The drawings of the comparisons that are watched. Safe to use from several threads."""

    def __init__(self, store: RunStore, log_tail: Callable[[str], str], draw: Draw) -> None:
        """Args:
        log_tail: the end of what a run's process printed, by run id.
        draw: what each widget becomes, in values that JSON has, too; and whether who looks may
            change things.
        """
        self._store, self._log_tail, self._draw = store, log_tail, draw
        self._drawn: OrderedDict[_Key, _Drawing] = OrderedDict()
        self._lock = threading.Lock()
        # Nothing changes without the store's own revision.
        self._newest = lru_cache(64)(lambda group_id, revision: newest(store, group_id))

    def show(self, group_id: str | None, may_change: bool) -> list[Any]:
        """A comparison as it is now: the stamp of it, for ``news``, and what each widget becomes.

        Args:
            group_id: None takes the first choice.
        """
        drawing = self._drawing(group_id, may_change, at_once=True)
        return [drawing.seen.stamp, *drawing.parts]

    def is_newest(self, group_id: str | None, stamp: str) -> bool:
        """Whether a page that shows ``stamp`` shows all there is: next to nothing to ask."""
        return stamp == self._now(group_id).stamp

    def news(self, group_id: str | None, stamp: str, may_change: bool) -> bytes | None:
        """What a page that shows ``stamp`` is sent: None if that is what there is to show.

        Returns:
            ``{"stamp": ..., "parts": [...]}`` as JSON in gzip; a part is as ``show`` has it, or
            Gradio's ``skip`` where it has not changed.
        """
        if self.is_newest(group_id, stamp):
            return None
        drawing = self._drawing(group_id, may_change)
        if stamp == drawing.seen.stamp:
            return None
        if stamp not in drawing.packed:  # a page that was away: everything
            stamp = ""
            if stamp not in drawing.packed:
                drawing.packed[stamp] = _pack(drawing.seen, drawing.written)
        return drawing.packed[stamp]

    def _now(self, group_id: str | None) -> Seen:
        return self._newest(group_id, self._store.change_token())

    def _drawing(self, group_id: str | None, may_change: bool, at_once: bool = False) -> _Drawing:
        now = self._now(group_id)
        key = (now.group_id, may_change, spoken())

        def good() -> _Drawing | None:
            drawing = self._drawn.get(key)
            current = drawing and (drawing.seen == now or not at_once and _rests(drawing, now))
            return drawing if current else None

        if found := good():
            return found
        with self._lock:  # meanwhile another page may have had it drawn
            return good() or self._draw_anew(key, may_change)

    def _draw_anew(self, key: _Key, may_change: bool) -> _Drawing:
        began = time.thread_time()
        before = self._drawn.get(key)
        # Whatever was shown, this look must find a scene: a queue like that there never is.
        never = replace(before.seen if before else Seen(), queue=(("", ""),))
        scene = look(self._store, key[0], never, self._log_tail)
        parts = self._draw(scene, may_change)
        written = [json.dumps(part, separators=(",", ":")) for part in parts]
        packed = {}
        if before:
            both = zip(written, before.written, strict=True)
            changed = [_SKIP if new == old else new for new, old in both]
            packed[before.seen.stamp] = _pack(scene.seen, changed)
        took = time.thread_time() - began
        drawing = _Drawing(scene.seen, parts, written, time.monotonic(), took, packed)
        self._drawn[key] = drawing
        self._drawn.move_to_end(key)
        while len(self._drawn) > KEPT:
            self._drawn.popitem(last=False)
        return drawing


def _rests(drawing: _Drawing, now: Seen) -> bool:
    # One that was deleted has no token, and is drawn in no time.
    return now.token > 0 and time.monotonic() - drawing.at < REST * drawing.took


def _pack(seen: Seen, written: list[str]) -> bytes:
    said = f'{{"stamp":{json.dumps(seen.stamp)},"parts":[{",".join(written)}]}}'
    return gzip.compress(said.encode(), compresslevel=4)
