"""Commands that a person may paste: with this checkout's Python, for the home folder at hand."""

from __future__ import annotations

import shlex
from pathlib import Path

from playground.config import expand

DEFAULT_HOME = Path("~/.fp4-playground")

_CHECKOUT = Path(__file__).parent.parent
_PYTHON = ".venv/bin/python"


def command(*words: str, home: Path | None = None) -> str:
    """``.venv/bin/python -m playground WORDS``, quoted for a shell, to be run in the checkout.

    Args:
        home: named in the command unless it is the default one, or None.
    """
    python = _PYTHON if (_CHECKOUT / _PYTHON).exists() else "python"  # a container has no .venv
    said = shlex.join([python, "-m", "playground", *words])
    if home is None or expand(home) == expand(DEFAULT_HOME):
        return said
    return f"{said} --home {_quoted(home)}"


def _quoted(home: Path) -> str:
    """As it was given; shorter, and nobody's name in it, where it lies under the user's home."""
    user, path = Path.home(), expand(home)
    if user != Path("/") and path.is_relative_to(user) and path != user:
        return f"~/{shlex.quote(str(path.relative_to(user)))}"  # a quoted ~ would not be expanded
    return shlex.quote(str(home))
