"""Numbers, a layer or a model in every format, as a terminal draws them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from playground.formats.known import FORMATS
from playground.formats.words import code_bits, code_widths, exact, percent, scale_said

_PLAIN = {"markup": False, "highlight": False, "soft_wrap": True}
_HEADS = {
    "nvfp4": "NVFP4",
    "nvfp4-four-over-six": "4 over 6",
    "nvfp4-search": "search",
    "mxfp4": "MXFP4",
    "nf4": "NF4",
    "fp8": "FP8",
}
_LONGEST_NAME = 34
HOW = "Rounded by the reference arithmetic on the CPU, bit for bit as a run does."


def draw_numbers(console: Console, found: Mapping[str, Any]) -> None:
    """Each number in NVFP4, all formats beside each other, and the two questions."""
    _draw(console, found, questions(found["experiments"]))


def _draw(console: Console, found: Mapping[str, Any], asked: list[str]) -> None:
    console.print(_elements(found["values"], found["formats"][0]))
    console.print(_formats(found["formats"]))
    for sentence in asked:
        console.print(sentence, **_PLAIN)
    console.print(HOW, **_PLAIN)


def _from_gguf(console: Console, found: Mapping[str, Any]) -> None:
    if found["gguf"]:
        said = f"The weights come from {found['gguf']}, where they were rounded once before."
        console.print(said, **_PLAIN)


def draw_layer(console: Console, found: Mapping[str, Any]) -> None:
    """Where the block is, and it as ``draw_numbers`` draws it."""
    rows, columns = found["shape"]
    lines = [
        f"{found['layer']} of {found['model']}: {rows} x {columns}, {found['dtype']}, "
        f"error in NVFP4 {percent(found['error'])}",
        f"Row {found['row']}, columns {found['column']} to {found['column'] + 15}: error "
        f"{percent(found['block_error'])}, the median block {percent(found['median_error'])}",
    ]
    for line in lines:
        console.print(line, **_PLAIN)
    _from_gguf(console, found)
    _draw(console, found, ["Of all values of the layer:", *questions(found["experiments"])])


def draw_model(console: Console, found: Mapping[str, Any]) -> None:
    """A row for each layer, then all of them together, then N(0,1)."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("relative error, %", no_wrap=True)
    for name in FORMATS:
        table.add_column(_HEADS[name], justify="right", no_wrap=True)
    for row in found["rows"]:
        table.add_row(_short(row["name"]), *_figures(row["errors"]))
    table.add_section()
    table.add_row("all layers together", *_figures(found["total"]))
    table.add_row("N(0,1)", *_figures(found["gaussian"]))
    console.print(table)
    _from_gguf(console, found)
    console.print(HOW, **_PLAIN)


def questions(asked: Mapping[str, Any]) -> list[str]:
    """Block sizes and the second scale, in a line each."""
    blocks, second = asked["blocks"], asked["second_scale"]
    wide = blocks["e4m3"]["32"] is not None
    errors = {
        f"{size} and {said}": percent(blocks[kind][size])
        for kind, said in (("e8m0", "a power of two"), ("e4m3", "E4M3"))
        for size in ("32", "16")
        if wide or size == "16"
    }
    sizes = ", ".join(f"{error} with {name}" for name, error in errors.items())
    return [
        f"Block size and scale: {sizes}.",
        f"Second scale: {percent(second['with'])} with it, {percent(second['without'])} without.",
    ]


def _elements(values: list[float], shown: Mapping[str, Any]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("value", "over its scales", "code", "decodes to", "error"):
        table.add_column(heading, justify="right", no_wrap=True)
    parts = zip(values, shown["scaled"], shown["codes"], shown["decoded"], strict=True)
    for place, (value, scaled, code, decoded) in enumerate(parts):
        if place and place % 16 == 0:
            table.add_section()
        said = " ".join(code_bits(code, code_widths(shown["name"])))
        over = "—" if scaled is None else f"{scaled:.4g}"
        table.add_row(f"{value:.5g}", over, said, f"{decoded:.5g}", f"{decoded - value:.2g}")
    return table


def _formats(formats: list[Mapping[str, Any]]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("format", no_wrap=True)
    for heading in ("bits", "block scales", "tensor scale", "error"):
        table.add_column(heading, justify="right", no_wrap=heading != "block scales")
    for one in formats:
        info = FORMATS[one["name"]]
        if "refuses" in one:
            said = f"rows are no multiple of {one['refuses']}"
            table.add_row(_HEADS[one["name"]], f"{info.bits:g}", said, "—", "—")
            continue
        scales = ", ".join(scale_said(one["name"], block) for block in one["blocks"])
        tensor = "—" if one["tensor_scale"] is None else exact(one["tensor_scale"])
        table.add_row(_HEADS[one["name"]], f"{info.bits:g}", scales, tensor, percent(one["error"]))
    return table


def _figures(errors: Mapping[str, float | None]) -> list[str]:
    return [percent(errors[name]).removesuffix(" %") for name in FORMATS]


def _short(name: str) -> str:
    """Of a layer's name the end, which tells it from the others."""
    name = name.removesuffix(".weight")
    return name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"
