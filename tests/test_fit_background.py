"""Estimates for a page: one at a time, of what is asked last, and never of what nobody asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground.config import SettingsError
from playground.fit import background, budget
from playground.fit.background import Estimates
from playground.presets import Preset, load_preset

INTO = budget("rtx-5090")


class Maker:
    """Answers when it is let; remembers what it was asked for."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self.go = threading.Event()
        self.error = error
        self.at_once = self.most_at_once = 0

    def __call__(self, preset: Preset, into: Any, home: Path) -> dict[str, Any]:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.asked.append(preset.config.model)
        assert self.go.wait(30)
        self.at_once -= 1
        if self.error:
            raise self.error
        return {"model": preset.config.model}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "SETTLED_S", 0.01)


def of(model: str) -> Preset:
    return load_preset("quick", {"model": model})


def until(true: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 30
    while not (found := true()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def test_the_answer_comes_to_whoever_goes_on_asking(quick: None, tmp_path: Path) -> None:
    made = Maker()
    made.go.set()
    estimates = Estimates(tmp_path, made)
    assert until(lambda: estimates.ask(of("tiny"), INTO)) == {"model": "tiny"}
    assert estimates.ask(of("tiny"), INTO) and made.asked == ["tiny"]


def test_one_is_made_at_a_time_and_what_is_not_asked_any_more_never(
    quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "FORGOTTEN_S", 0.2)
    made = Maker()
    estimates = Estimates(tmp_path, made)
    until(lambda: estimates.ask(of("a/first"), INTO) or made.asked)
    times = iter(range(4))  # it settles while the first is being made, and is then left
    until(lambda: estimates.ask(of("b/left"), INTO) or next(times, None) is None)
    left = time.monotonic()
    until(lambda: estimates.ask(of("c/asked"), INTO) or time.monotonic() - left > 0.3)
    made.go.set()
    assert until(lambda: estimates.ask(of("c/asked"), INTO)) == {"model": "c/asked"}
    assert made.asked == ["a/first", "c/asked"] and made.most_at_once == 1


def test_what_still_changes_is_not_begun(tmp_path: Path) -> None:
    made = Maker()
    estimates = Estimates(tmp_path, made)
    for number in range(5):
        assert estimates.ask(of(f"typed/{number}"), INTO) is None
    assert made.asked == []


def test_a_refusal_is_everybodys_for_a_while(
    quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Maker(SettingsError("The hub cannot be reached; try again."))
    made.go.set()
    estimates = Estimates(tmp_path, made)

    def refused() -> bool:
        try:
            return bool(estimates.ask(of("owner/far"), INTO))
        except SettingsError as error:
            return "cannot be reached" in str(error)

    until(refused)
    assert refused() and len(made.asked) == 1
    monkeypatch.setattr(background, "_REFUSED_FOR_S", 0.0)
    assert not refused()  # asked anew
    until(lambda: refused() or len(made.asked) > 1)
