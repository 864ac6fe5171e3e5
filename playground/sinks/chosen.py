"""Which sinks are wanted, checked before a run exists."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping

from playground.config import SettingsError, nearest

VARIABLE = "PLAYGROUND_SINKS"
SINKS = ("tensorboard", "trackio")
"""Each is also the name of the package it needs."""

_ELSEWHERE = ("TRACKIO_SPACE_ID", "TRACKIO_SERVER_URL")


def chosen_sinks(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The sinks that ``PLAYGROUND_SINKS`` names, each once; none if it is empty or not set.

    Raises:
        SettingsError: a name is unknown, its package is not installed, or it would send figures
            to another machine.
    """
    names = [name.strip().lower() for name in environment.get(VARIABLE, "").split(",")]
    chosen = tuple(dict.fromkeys(name for name in names if name))
    for name in chosen:
        _check(name, environment)
    return chosen


def _check(name: str, environment: Mapping[str, str]) -> None:
    if name not in SINKS:
        raise SettingsError(
            f"--log-to ({VARIABLE}) names '{name}', which is no place to log to; choose from "
            f"{' and '.join(SINKS)}.{nearest(name, list(SINKS))}"
        )
    if importlib.util.find_spec(name) is None:
        raise SettingsError(
            f"--log-to ({VARIABLE}) names {name}, which is not installed; install it with "
            f"`pip install {name}`, or leave it out."
        )
    if name == "trackio" and (set_ := [v for v in _ELSEWHERE if environment.get(v)]):
        raise SettingsError(
            f"{set_[0]} is set, so trackio would send the run's figures to another machine; "
            f"unset it, or leave trackio out of {VARIABLE}."
        )
