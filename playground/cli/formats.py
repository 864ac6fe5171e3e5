"""``formats``: what NVFP4 and other formats make of numbers, of a layer, or of a whole model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from playground.cli.home import DEFAULT_HOME, Home, JsonFile, console
from playground.config import SettingsError
from playground.formats import MEDIAN, Microscope
from playground.formats.terminal import draw_layer, draw_model, draw_numbers
from playground.json_file import check_writable, write_json


def formats(
    model: Annotated[
        str | None, typer.Argument(metavar="[MODEL]", help="An id, a folder or a .gguf file.")
    ] = None,
    layer: Annotated[
        str | None,
        typer.Option("--layer", metavar="NAME", help="One layer, by a part of its name."),
    ] = None,
    block: Annotated[
        str, typer.Option("--block", help="Of the layer: median, worst, or ROW,COLUMN.")
    ] = "median",
    values: Annotated[
        str | None, typer.Option("--values", metavar='"0.1 -0.2 ..."', help="16 to 64 numbers.")
    ] = None,
    json_file: JsonFile = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """Show what each format makes of numbers, of a layer, or of every layer of a model."""
    check_writable(json_file)
    if values is not None and (model or layer):
        raise SettingsError(
            f"--values and {'--layer' if layer else f'the model {model!r}'} are both given; "
            "give one of them."
        )
    with _microscope(home) as scope:
        if values is not None:
            found = scope.numbers(values)
            draw_numbers(console, found)
        elif layer is not None:
            found = scope.layer(model or "tiny", layer, _block(block))
            draw_layer(console, found)
        else:
            found = _measured(scope, model or "tiny")
            draw_model(console, found)
    write_json(json_file, found)


@contextmanager
def _microscope(home: Path) -> Iterator[Microscope]:
    scope = Microscope(home)
    try:
        yield scope
    finally:
        scope.close()


def _measured(scope: Microscope, model: str) -> dict[str, Any]:
    """Of every layer; a terminal is told how far it is."""
    answer: dict[str, Any] = {}
    with console.status(f"Reading {model}") as status:
        for line in scope.model(model):
            if "tell" in line:
                told = line["tell"]
                status.update(f"{told['done']} of {told['layers']} layers of {model}")
            else:
                answer = line["answer"]
    return answer


def _block(said: str) -> dict[str, Any]:
    if said == "median":
        return MEDIAN
    if said == "worst":
        return {"how": "worst"}
    row, comma, column = said.partition(",")
    if not comma or not row.strip().isdecimal() or not column.strip().isdecimal():
        raise SettingsError(
            f"--block is '{said}'; give median, worst, or a row and a column such as 3,64."
        )
    return {"how": "at", "row": int(row), "column": int(column)}
