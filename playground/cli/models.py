"""``models``: which base models there are and where, and what is known of one. Asks no network."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from playground.catalog import ModelEntry, list_models, resolve_model
from playground.catalog.models import OWN_FOLDER, described
from playground.catalog.words import in_bytes, in_parameters
from playground.cli.home import DEFAULT_HOME, Home, JsonFile, console, say
from playground.config import expand, nearest, private
from playground.json_file import check_writable, write_json


def models(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One of them, a folder or a hub id.")
    ] = None,
    json_file: JsonFile = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """List the models to choose from, those on this machine first; or describe one."""
    check_writable(json_file)
    if name is None:
        found = list_models([expand(home) / OWN_FOLDER])
        console.print(_table(found), highlight=False)
        say("hub: fetched when a run loads it; gated: log in and accept its terms before.")
        say("Any other hub id and any folder with safetensors or GGUF weights can be used as well.")
        write_json(json_file, [record(entry) for entry in found])
        return
    entry = described(resolve_model(name))
    for line in _lines(entry):
        say(line)
    write_json(json_file, record(entry))


def record(entry: ModelEntry) -> dict[str, Any]:
    """A model as plain values, for JSON."""
    kept = ("family", "where", "parameters", "size_bytes", "licence", "gated", "chat", "max_length")
    return {
        "id": private(entry.id),
        "title": private(entry.title),
        **{name: getattr(entry, name) for name in kept},
        "on_this_machine": entry.here,
    }


def _table(found: list[ModelEntry]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, collapse_padding=True, pad_edge=False)
    table.add_column("model", overflow="fold", min_width=41)  # the longest of the catalog
    for heading in ("param.", "size"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("licence", "where"):
        table.add_column(heading, no_wrap=True)
    for entry in found:
        where = "gated" if entry.gated and not entry.here else entry.where
        sizes = (_or_none(entry.parameters, in_parameters), _or_none(entry.size_bytes, in_bytes))
        table.add_row(private(entry.id), *sizes, entry.licence or "", where)
    return table


def _lines(entry: ModelEntry) -> list[str]:
    title = private(entry.title)
    known = [
        ("parameters", _or_none(entry.parameters, in_parameters)),
        ("size", _or_none(entry.size_bytes, in_bytes)),
        ("licence", entry.licence or ""),
        ("reads at most", entry.max_length and f"{entry.max_length:,} tokens"),
        ("chat template", {True: "its own", False: "none", None: ""}[entry.chat]),
        ("where", entry.where),
    ]
    lines = [title if title == entry.id else f"{title} ({private(entry.id)})"]
    lines += [f"  {name}: {value}" for name, value in known if value]
    if entry.gated and not entry.here:
        lines.append(
            "Its terms have to be accepted first: open its page on the hub, accept them, and log "
            "in by `hf auth login` or set HF_TOKEN."
        )
    if entry.gated is None and not entry.here:
        lines.append("Its page may ask for its terms to be accepted first.")
    if not entry.here and entry.parameters is None:
        meant = nearest(entry.id, [known.id for known in list_models()])
        lines.append(f"Not in the catalog: what it is shows when a run fetches it.{meant}")
    return lines


def _or_none(value: int | None, written: Any) -> str:
    return "" if value is None else written(value)
