"""``report``: a comparison as one file to give away: HTML, JSON or CSV."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from playground.cli.home import DEFAULT_HOME, Comparison, Home, comparison, existing, say
from playground.config import SettingsError, private

Kind = Literal["html", "json", "csv"]


def report(
    group: Comparison,
    to: Annotated[
        Path | None, typer.Option("--to", help="The file; without, one of its own name here.")
    ] = None,
    kind: Annotated[
        Kind | None,
        typer.Option("--format", help="html unless the file's ending says otherwise."),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="With the held-out rows and what was answered.")
    ] = False,
    home: Home = DEFAULT_HOME,
) -> None:
    """Write a report of a comparison: no server, no network, nothing private, no row of the data.

    JSON is what ``compare --json`` writes with every step; CSV is one tidy table.
    """
    # The page's parts draw it, and they bring Gradio along: no other command should wait for that.
    from playground.ui.report import file_name, parts

    store = existing(home)
    found = comparison(store, group)
    kind = kind or _of_ending(to)
    path = to or Path(file_name(found, kind))
    _write(path, parts(store, found, kind, rows))
    said = ", with held-out rows of the data" if rows else ""
    say(f"{found.title}: {path.stat().st_size / 1000:,.0f} kB in {private(str(path))}{said}")


def _of_ending(to: Path | None) -> Kind:
    ending = to.suffix.removeprefix(".").lower() if to else ""
    return ending if ending in ("html", "json", "csv") else "html"  # type: ignore[return-value]


def _write(path: Path, made: Iterable[str]) -> None:
    """As it comes, and under its name once it is whole."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            file.writelines(made)
        partial.replace(path)
    except OSError as error:
        raise SettingsError(
            f"Report '{path}' cannot be written ({error.strerror}); choose another place."
        ) from None
    finally:
        with suppress(OSError):  # where nothing could be written, there is nothing to remove
            partial.unlink(missing_ok=True)
