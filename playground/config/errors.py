"""A setting that cannot be used: one sentence, with nothing private in it."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|(^|_)PASS(_|$)|API_?KEY|(^|_)KEY(_|$)|CREDENTIAL", re.I
)
_HUB_TOKEN = re.compile(r"\bhf_[A-Za-z0-9]{8,}|hf_[A-Za-z0-9]{20,}")
_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+(?=@)")
"""Name and password, or a token, before the host."""


def private(text: str) -> str:
    """Text that may be shown, stored or shared: no home folder, no hub token, no secret variable.

    The home folder becomes ``~``; a token, who is named in an address, or the value of a variable
    whose name says that it is secret becomes ``***``. Everything stored or shown as an error goes
    through here, before it is cut: half a secret would not be known again.
    """
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    text = _IN_ADDRESS.sub("***", _HUB_TOKEN.sub("***", text))
    home = os.path.expanduser("~")
    if home in ("/", "~"):
        return text
    for folder in {home, os.path.realpath(home)}:  # which may be reached by a link
        text = re.sub(re.escape(folder) + r"(?![\w-]|\.\w)", "~", text)  # not /home/anna for ann
    return text


class SettingsError(ValueError):
    """A setting that cannot be used. The message is one sentence: value, reason, remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(private(message))


def expand(path: str | Path) -> Path:
    """An absolute path, ``~`` and ``~name`` followed.

    Raises:
        SettingsError: ``~name`` names nobody here.
    """
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:
        raise SettingsError(
            f"'{path}' begins with the name of a user that this machine does not have; "
            "write the folder out."
        ) from None


def nearest(name: str, known: list[str]) -> str:
    """`` Did you mean 'x'?`` when one of ``known`` is close to ``name``, else nothing."""
    close = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""
