"""``list``, ``rename``, ``note`` and ``delete``: what the History page does, in a terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from playground.cli.home import (
    DEFAULT_HOME,
    Comparison,
    Home,
    JsonFile,
    comparison,
    console,
    existing,
    has_runs,
    say,
)
from playground.config import check_precision, private
from playground.json_file import check_writable, write_json
from playground.store import Search
from playground.stored import brief
from playground.tables import groups_table


def list_runs(
    words: Annotated[
        str,
        typer.Option(
            "--filter",
            metavar="WORDS",
            help="Only those with all of these in title, note, preset, model, dataset or id.",
        ),
    ] = "",
    precision: Annotated[
        str | None, typer.Option("--precision", help="Only those with a run in it.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, newest first.")] = 20,
    json_file: JsonFile = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """List the comparisons there are, newest first."""
    check_writable(json_file)
    asked = Search(words=words, precision=check_precision(precision) if precision else None)
    store = existing(home) if has_runs(home) else None
    groups = store.search(asked, limit).groups if store else []
    if groups:
        console.print(groups_table(store, groups), highlight=False)
    elif asked != Search() and store and store.list_groups(1):
        say("No comparison is like that.")
    else:
        say(f"No runs yet in {private(str(home))}.")
    write_json(json_file, [brief(group) for group in groups])


def rename(
    group_id: Comparison,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What to call it from now on.")],
    home: Home = DEFAULT_HOME,
) -> None:
    """Give a comparison another name."""
    store = existing(home)
    group = comparison(store, group_id)
    store.rename(group.id, title)
    say(f"{group.id}: {store.get_group(group.id).title}")


def note(
    group_id: Comparison,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Empty takes the note away.")],
    home: Home = DEFAULT_HOME,
) -> None:
    """Keep a note with a comparison; it takes the place of an earlier one."""
    store = existing(home)
    group = comparison(store, group_id)
    store.annotate(group.id, text)
    say(f"{group.id}: {store.get_group(group.id).note or 'no note'}")


def delete(
    group_id: Comparison,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = DEFAULT_HOME,
) -> None:
    """Delete a comparison for good: its runs, their adapters and everything measured."""
    store = existing(home)
    group = comparison(store, group_id)
    goes = store.belongings(group.id)
    say(f"{group.title}\n{group.id}")
    say(f"runs: {goes.runs}; adapters: {goes.adapters}; on disk: {goes.megabytes:,.1f} MB")
    if not yes:
        typer.confirm("Delete all of it for good?", abort=True)
    store.delete(group.id)
    say("Deleted.")
