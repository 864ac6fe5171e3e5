"""What the page and the terminal ask a child about number formats. No torch in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playground.answering import Asked
from playground.catalog import resolve_model
from playground.config import expand
from playground.formats.typed import read_numbers
from playground.processes import ProcessId
from playground.residents import enter

CHILD = ("-P", "-m", "playground.formats")  # -P: never import from the cwd
MEDIAN = {"how": "median"}
_WHAT = "The microscope"


class Microscope:
    """Two children: one for what a person waits for, one for a model's layers, which take long."""

    def __init__(self, home: Path, child: tuple[str, ...] = CHILD) -> None:
        self._home = expand(home)
        self._quick, self._long = (
            Asked(_WHAT, child, started=self._resident(kind)) for kind in ("lens", "lens-of-models")
        )

    def numbers(self, typed: str) -> dict[str, Any]:
        """16 to 64 typed numbers in every format. Raises SettingsError for any other text."""
        return self._quick.answer({"about": "numbers", "values": read_numbers(typed)})

    def layers(self, model: str) -> list[dict[str, Any]]:
        """A model's matrices: name, shape, dtype and in_block. Raises SettingsError."""
        return self._quick.answer(self._of(model) | {"about": "layers"})

    def layer(
        self, model: str, layer: str | None = None, block: dict[str, Any] = MEDIAN
    ) -> dict[str, Any]:
        """A block of a layer and the layer around it; ``formats/layer.py`` says of what parts."""
        question = {"about": "layer", "layer": layer, "block": block}
        return self._quick.answer(self._of(model) | question)

    def model(self, model: str) -> Iterator[dict[str, Any]]:
        """Each layer's error in each format: ``{"tell": ...}`` by layer, then ``{"answer": ...}``.

        Kept in the home folder, so that a second time takes no time.
        """
        yield from self._long.ask(self._of(model) | {"about": "model"})

    def _of(self, model: str) -> dict[str, Any]:
        """What every question about a model holds, once there is such a model."""
        resolve_model(model)
        return {"model": model, "home": str(self._home)}

    def _resident(self, kind: str) -> Callable[[int], None]:
        """A decoded model is large: a run that starts has such a child ended first."""
        return lambda pid: enter(self._home, kind, ProcessId.of(pid))

    def close(self) -> None:
        """Ends both children."""
        self._quick.close()
        self._long.close()
