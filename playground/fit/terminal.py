"""An estimate as a terminal draws it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from playground.config import PRECISIONS
from playground.devices import TIGHT_SHARE


def fit_table(result: Mapping[str, Any]) -> Table:
    """A row for each precision, from ``predict``; within 80 columns."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, collapse_padding=True, pad_edge=False)
    table.add_column("MiB", no_wrap=True)
    for heading in ("weights", "adapters", "optimizer", "gradients", "activ.", "peak"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in result["precisions"]:
        parts = ("weights", "adapters", "optimizer", "gradients", "activations", "peak")
        figures = (_mib(row[f"{part}_mib"]) for part in parts)
        table.add_row(PRECISIONS[row["precision"]].label, *figures, row["verdict"])
    return table


def said(result: Mapping[str, Any]) -> list[str]:
    """What the table is about, and what it takes for granted, a line each."""
    device, batch = result["device"], result["largest_batch"]
    free = " free" if device["kind"] == "cpu" else ""
    memory = f"{device['memory_mib'] / 1024:,.1f} GiB{free}" if device["memory_mib"] else "unknown"
    checkpointing = "with" if result["gradient_checkpointing"] else "without"
    lines = [
        f"Model {result['model']} on {device['name']}, {memory}",
        f"Largest batch: {batch['sequences']} x {batch['tokens']:,} tokens, "
        f"{checkpointing} gradient checkpointing",
        f"Judged with {result['overhead_mib']:,.0f} MiB for the process and its libraries, and the "
        f"work space of an operation; tight is above {TIGHT_SHARE:.0%}.",
    ]
    if result["built_by"] == "catalog":
        lines.append("The model is not on this machine; the catalog says how it is built.")
    healed = [row for row in result["precisions"] if row["counted_in"] != row["precision"]]
    lines += [
        f"{PRECISIONS[row['precision']].label} heals, so it is counted in "
        f"{PRECISIONS[row['counted_in']].label}."
        for row in healed
    ]
    return lines


def _mib(value: float) -> str:
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"
