"""``user NAME``: the line of a users file for somebody who may change things on a shared page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from playground import users
from playground.config import SettingsError, expand, private


def user(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As it is typed to log in.")],
    file: Annotated[
        Path | None, typer.Option("--file", help="Add the line there; else it is printed.")
    ] = None,
) -> None:
    """Ask for a password and give the line that lets NAME log in to a shared page."""
    password = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    line = users.line(name, password)
    if file is None:
        typer.echo(line)
        return
    _add(file, name, line)
    typer.echo(f"{name} can log in where the page is started with --users {private(str(file))}")


def _add(file: Path, name: str, line: str) -> None:
    """Appends the line; a new file is for its owner's eyes alone."""
    path = expand(file)
    if path.exists() and name in users.known(path, {}):
        raise SettingsError(
            f"Users file '{file}' has a line for {name} already; "
            "remove it there to give another password."
        )
    try:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as out:
            written = out.read()
            out.write(f"{line}\n" if not written or written.endswith("\n") else f"\n{line}\n")
    except OSError as error:
        raise SettingsError(
            f"Users file '{file}' cannot be written ({error.strerror}); give another --file."
        ) from None
