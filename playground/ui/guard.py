"""Which handlers of the page change something, and who may have them carried out.

The HTTP side (``gate.py``) notes with every request whether it may change anything: everybody may
on a page for this machine alone, and on a shared one who has logged in. Hidden or disabled buttons
are a courtesy; what refuses is here, on the server, whichever endpoint a handler is called through.
A request that did not come through the gate may change nothing.
"""

from __future__ import annotations

import inspect
import threading
import time
import typing
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import gradio as gr

from playground.ui.text import share as text

MAY_CHANGE = "change"
"""What a request has in its ``auth.scopes`` if it may change something."""

VISITORS_A_MINUTE = 12
"""Costly questions that all visitors together may ask in a minute; one is answered at a time."""

Handler = Callable[..., Any]


def may_change(request: Any) -> bool:
    """Whether a request, Gradio's or the server's own, may change something."""
    inner = getattr(request, "request", request)
    scope = getattr(inner, "scope", {})
    return "auth" in scope and MAY_CHANGE in scope["auth"].scopes


def changes(handler: Handler) -> Handler:
    """A Gradio handler that changes something: runs, names, files, anything that stays.

    Wire it as ``button.click(guard.changes(handler), ...)``; everything else on the page reads.
    Generators work too. For who may not change anything it raises ``gr.Error`` before the handler
    has begun, and the button is disabled (see ``buttons``).
    """

    def check(request: gr.Request) -> None:
        if not may_change(request):
            raise gr.Error(text.LOG_IN_FIRST, print_exception=False)

    guarded = _asked_first(handler, check)
    guarded.changes_something = True
    return guarded


def costly(handler: Handler) -> Handler:
    """A handler that reads, at a price: a child process or seconds of a core (see ``sparing``)."""
    return _asked_first(handler, sparing())


def sparing() -> Callable[[Any], Callable[[], None] | None]:
    """Asked before each of what costs the same: ``done = check(request)``, and ``done()`` after.

    Visitors get one at a time and ``VISITORS_A_MINUTE`` among them all, so that they can slow no
    training down; more raises ``gr.Error``. Who may change things is not counted, and gets None.
    """
    asked: deque[float] = deque(maxlen=VISITORS_A_MINUTE)
    one = threading.Lock()

    def check(request: Any) -> Callable[[], None] | None:
        if may_change(request):
            return None
        now = time.monotonic()
        if len(asked) == asked.maxlen and now - asked[0] < 60 or not one.acquire(blocking=False):
            raise gr.Error(text.BUSY, print_exception=False)
        asked.append(now)
        return one.release

    return check


def _asked_first(handler: Handler, check: Callable[[gr.Request], Any]) -> Handler:
    """``handler`` with a first parameter for the request, which Gradio fills in by its type.

    Args:
        check: raises to refuse; what it returns, if anything, is called once the handler is done.
    """
    if inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler):
        raise TypeError(f"{handler.__name__} is async; the guard knows plain functions alone")

    def called(asker: gr.Request, *inputs: Any) -> Any:
        done = check(asker)
        try:
            return handler(*inputs)
        finally:
            if done:
                done()

    def streamed(asker: gr.Request, *inputs: Any) -> Iterator[Any]:
        done = check(asker)
        try:
            with closing(handler(*inputs)) as updates:
                # Gradio clears every output of a generator that had nothing to say.
                yield next(updates, gr.skip())
                yield from updates
        finally:
            if done:
                done()

    first = streamed if inspect.isgeneratorfunction(handler) else called
    parameters = inspect.signature(handler).parameters.values()
    asker = inspect.Parameter("asker", inspect.Parameter.POSITIONAL_ONLY)
    positional = [
        p.replace(kind=inspect.Parameter.POSITIONAL_ONLY)
        if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        else p
        for p in parameters
    ]
    first.__signature__ = inspect.Signature([asker, *positional])
    first.__annotations__ = {**typing.get_type_hints(handler), "asker": gr.Request}
    first.__name__ = handler.__name__
    first.__doc__ = handler.__doc__
    return first


def buttons(app: gr.Blocks) -> list[gr.Button]:
    """What starts a handler that changes something, be it at the end of a chain of handlers."""
    found: dict[int, gr.Button] = {}
    for dependency in app.fns.values():
        if not getattr(dependency.fn, "changes_something", False):
            continue
        first = dependency
        while first.trigger_after is not None:
            first = app.fns[first.trigger_after]
        for block_id, _ in first.targets:
            block = app.blocks.get(block_id)
            if isinstance(block, gr.Button | gr.UploadButton):
                found[block_id] = block
    return list(found.values())
