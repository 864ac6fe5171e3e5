"""``export``: a finished run's adapter with its card, or its model merged in 16 bits, checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from playground.cli.home import DEFAULT_HOME, Home, JsonFile, RunOrGroup, console, existing, say
from playground.config import PRECISIONS, SettingsError, expand, private
from playground.export import export as make
from playground.export import folder_of, why_not
from playground.export.offers import Kind
from playground.hardware import MIB
from playground.json_file import check_writable, write_json
from playground.store import Run, RunStore


def export(
    run_or_group: RunOrGroup,
    merged: Annotated[
        bool, typer.Option("--merged", help="The whole model with the adapter in it.")
    ] = False,
    dtype: Annotated[
        Literal["bf16", "fp16"] | None,
        typer.Option("--dtype", help="Of the merged weights; bf16 unless told otherwise."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--to", help="A folder to make; without, the run's own.")
    ] = None,
    json_file: JsonFile = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """Export what a run has learned: its adapter in peft's format, or merged as safetensors.

    Either is loaded again and compared with the run's own model before it is kept.
    """
    check_writable(json_file)
    if dtype and not merged:
        raise SettingsError(
            f"dtype is {dtype}, which only merged weights have; add --merged, or leave it out."
        )
    store = existing(home)
    runs = _runs(store, run_or_group, to)
    kind: Kind = f"merged-{dtype or 'bf16'}" if merged else "adapter"
    reports = [_export(store, run, kind, expand(to) if to else None) for run in runs]
    write_json(json_file, {"exports": reports})


def _runs(store: RunStore, name: str, to: Path | None) -> list[Run]:
    """Of a comparison all that have something to export; a run by its own id, whatever it is."""
    found = store.find(name)
    if isinstance(found, Run):
        return [found]
    able = [run for run in found.runs if why_not(store, run) is None]
    if not able:
        raise SettingsError(why_not(store, found.runs[0]) or "")
    if to and len(able) > 1:
        ids = ", ".join(run.id for run in able)
        raise SettingsError(f"One folder cannot take {len(able)} runs; name one of them: {ids}.")
    return able


def _export(store: RunStore, run: Run, kind: Kind, to: Path | None) -> dict[str, Any]:
    label = PRECISIONS[run.precision].label
    report: dict[str, Any] = {}
    with console.status(f"{label}: starting") as status:
        for progress in make(store, run, kind, to=to):
            status.update(f"{label}: {progress.doing}")
            report = progress.report or report
    folder = to or folder_of(store, run.id, kind)
    size = f"{report['bytes'] / MIB:,.1f} MiB"
    say(f"{label}: {len(report['files'])} files, {size}, in {private(str(folder))}")
    say(report["said"])
    return {**report, "folder": str(folder)}
