"""The home folder that a command is about, and what commands of earlier runs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from playground.commands import DEFAULT_HOME, command
from playground.config import SettingsError, expand
from playground.launcher import Launcher
from playground.store import Group, RunStore

console = Console()

JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write the result here.")]
Home = Annotated[
    Path,
    typer.Option("--home", envvar="PLAYGROUND_HOME", help="Folder of runs and their database."),
]
RunOrGroup = Annotated[str, typer.Argument(metavar="ID", help="A run or group, or its start.")]
Comparison = Annotated[str, typer.Argument(metavar="ID", help="A comparison, or its start.")]


def has_runs(home: Path) -> bool:
    return (expand(home) / "playground.db").is_file()


def existing(home: Path) -> RunStore:
    """The store, if there is one: asking about runs creates no folder.

    A launcher looks at it first, so that a run whose process is gone does not read "running".
    """
    if not has_runs(home):
        start = command("compare", "quick", home=home)
        raise SettingsError(
            f"Home folder '{home}' holds no runs; start one with `{start}`, or give another --home."
        )
    store = RunStore(home)
    Launcher(store).close()
    return store


def comparison(store: RunStore, name: str) -> Group:
    """The comparison that an id, also that of one of its runs, or the start of one means."""
    found = store.find(name)
    return found if isinstance(found, Group) else store.get_group(found.group_id)


def say(text: str) -> None:
    # As it is: no markup read into a title, no line broken where the output is a file.
    console.print(text, markup=False, highlight=False, soft_wrap=True)


__all__ = [
    "DEFAULT_HOME",
    "Comparison",
    "Home",
    "JsonFile",
    "RunOrGroup",
    "comparison",
    "console",
    "existing",
    "has_runs",
    "say",
]
