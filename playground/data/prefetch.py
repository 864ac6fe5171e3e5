"""The next batches, made ready in the background while the device works on this one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from queue import SimpleQueue
from typing import TypeVar

AHEAD = 2

Item = TypeVar("Item")


def prefetched(
    items: Iterator[Item], ready: Callable[[Item], Item] = lambda item: item
) -> Generator[Item, None, None]:
    """``ready(item)`` for each item, in order, made up to ``AHEAD`` items before it is asked for.

    One thread does it. What it raises is raised here in its place in the order; closing the
    generator, or its end, ends the thread before anything else happens.
    """
    made: SimpleQueue[tuple[Item | None, BaseException | None]] = SimpleQueue()
    room, closing = threading.Semaphore(AHEAD), threading.Event()

    def work() -> None:
        try:
            while room.acquire() and not closing.is_set():
                made.put((ready(next(items)), None))
        except BaseException as error:  # StopIteration among them: the end has its place too
            made.put((None, error))

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        while True:
            item, error = made.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            room.release()
            yield item
    finally:
        closing.set()
        room.release()
        thread.join()
