"""What a report says of nobody: tokens, home folders, and the name of who made it.

``config.private`` keeps tokens and the home folder out of everything that is shown. What is given
to others also leaves out the user's name and where the project keeps its runs.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from playground.config import PRECISIONS, private
from playground.events import FINAL

_NOBODY = {"root", "user", "admin", "app", "ubuntu", "debian", "nobody", "runner"}
"""Names that machines give: they say nothing about a person, and may be words of a title."""

_OURS = {*PRECISIONS, *FINAL, "native", "weight", "only", "emulated"}
"""Words that the figures are looked up by."""

_HOMES = re.compile(r"(/home/|/Users/|\\Users\\)[^/\\\s\"']+")


def clean(value: Any, home: Path | None = None) -> Any:
    """``value`` with every text in it cleaned, in models, tables and lists too.

    Args:
        home: the folder of runs; it reads ``$PLAYGROUND_HOME`` instead.
    """
    if isinstance(value, str):
        return _cleaned(value, home)
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: clean(part, home) for name, part in value})
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: clean(getattr(value, f.name), home) for f in fields(value) if f.init}
        return replace(value, **parts)
    if isinstance(value, dict):
        return {clean(key, home): clean(part, home) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(clean(part, home) for part in value)
    return value


def _cleaned(text: str, home: Path | None) -> str:
    if home is not None and len(home.parts) > 1:
        for folder in {str(home), str(home.resolve())}:
            text = text.replace(folder, "$PLAYGROUND_HOME")
    real = os.path.realpath(os.path.expanduser("~"))
    if real != "/":
        text = text.replace(real, "~")
    text = _HOMES.sub(r"\1***", private(text))
    for name in _names():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "***", text, flags=re.IGNORECASE)
    return text


def _names() -> list[str]:
    found = {os.environ.get(name, "") for name in ("LOGNAME", "USER", "LNAME", "USERNAME")}
    if _is_somebodys(Path.home()):
        found.add(Path.home().name)
    with contextlib.suppress(KeyError, OSError):  # a container may run as a number without a name
        found.add(getpass.getuser())
    return [name for name in found if len(name) > 1 and name.lower() not in _NOBODY | _OURS]


def _is_somebodys(folder: Path) -> bool:
    return folder.parent.name in ("home", "Users")
