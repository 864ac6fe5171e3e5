"""Made in the background, given in order; errors come through, and no thread stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from playground.data.prefetch import AHEAD, prefetched
from tests.conftest import until


def alive() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "prefetch"]


def test_order_stays_and_the_end_is_the_end() -> None:
    assert list(prefetched(iter(range(50)), lambda n: n * n)) == [n * n for n in range(50)]
    assert not alive()


def test_another_thread_does_the_work_a_little_ahead() -> None:
    made: list[tuple[int, str]] = []

    def numbers() -> Iterator[int]:
        for n in range(100):
            made.append((n, threading.current_thread().name))
            yield n

    given = prefetched(numbers())
    assert next(given) == 0
    until(lambda: len(made) == 1 + AHEAD, "the next items to be made")
    given.close()
    assert {name for _, name in made} == {"prefetch"}
    assert len(made) <= 2 + AHEAD  # it stops where it is: the rest is never made


@pytest.mark.parametrize("at", [0, 3])
def test_an_error_is_raised_in_its_place(at: int) -> None:
    def failing() -> Iterator[int]:
        yield from range(at)
        raise ValueError("row 17 is broken")

    seen = []
    with pytest.raises(ValueError, match="row 17"):
        for n in prefetched(failing()):
            seen.append(n)
    assert seen == list(range(at))
    assert not alive()


def test_stopping_midway_leaves_no_thread() -> None:
    for n in prefetched(iter(range(1000))):
        if n == 3:
            break
    until(lambda: not alive(), "the thread to be gone")


def test_an_error_of_the_reader_leaves_no_thread() -> None:
    def read() -> None:
        for _ in prefetched(iter(range(1000))):
            raise RuntimeError("the step failed")

    with pytest.raises(RuntimeError, match="the step failed"):
        read()
    until(lambda: not alive(), "the thread to be gone")
