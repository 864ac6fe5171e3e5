"""Widgets that are filled together."""

from __future__ import annotations

from typing import Any


class Widgets:
    """A dataclass of widgets, whose fields stand in the order in which handlers fill them."""

    @property
    def outputs(self) -> list[Any]:
        return list(vars(self).values())
