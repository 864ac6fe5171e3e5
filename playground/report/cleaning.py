"""What a report says of nobody: secrets, folders, and the names of who made it and on which host.

``config.private`` keeps tokens and the home folder out of everything that is shown. What is given
to others also leaves out the folders of every path, the user's and the host's name, and whatever
this process was told by its environment; each also as it reads in an address, HTML or JSON.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import platform
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from pydantic import BaseModel

from playground.config import PRECISIONS, private
from playground.events import FINAL

GONE = "***"

_NOBODY = {
    *("root", "user", "admin", "app", "ubuntu", "debian", "nobody", "runner"),
    *(
        "localhost",
        "host",
        "server",
        "desktop",
        "laptop",
        "workstation",
        "vm",
        "gpu",
        "cpu",
        "main",
    ),
}
"""Names that machines give: they say nothing about a person, and may be words of a title."""

_OURS = {*PRECISIONS, *FINAL, "native", "weight", "only", "emulated"}
"""Words that the figures are looked up by."""

_LEAST = 8
"""Characters: what is shorter is a word or a number that anything may hold."""

_PLAIN = re.compile(r"[A-Za-z]+|v?\d[\w.+:-]*|https?://[\w.-]+/?")
"""Values of the environment that tell nothing: a word, a version, a public address."""

_TOKENS = re.compile(
    r"\b(?:sk|gh[opsu]|github_pat|glpat|xox[abp])[-_][\w-]{8,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}[\w.-]*|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|(?i:(?<=\bbearer\s)[\w.~+/-]{8,}=*)"
    r"|(?i:(?<![\w-])(?:token|secret|passw(?:or)?d|api[_-]?key)\s*[=:]\s*)[^\s,;&\"'<>]{4,}"
)
"""By their form, whoever's they are: tokens of well-known services, and what follows a password's
name or stands before an address."""

_SLASH = r"(?:\\{0,2}/|%2[Ff])"
_PART = r"[^\s/\\\"'`<>|:;,()\[\]{}*?%]+"
_PATHS = re.compile(
    rf"(?:file://|(?<![\w:/.%$\\-]))(?:~\w*|{_SLASH}{_PART})(?:{_SLASH}{_PART})*{_SLASH}({_PART})"
    rf"|\b[A-Za-z]:(?:\\{{1,2}}{_PART})*\\{{1,2}}({_PART})"
)
"""Absolute paths, of POSIX and of Windows, and their last part."""

_EDGE = r"(?:(?<![^\W_])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4}))"
"""Where a word begins, also behind what an address or JSON writes for a sign."""


class Cleaner:
    """Takes out of texts what is nobody's business; made once for a report, as it asks the system.

    Args:
        folders: that have no name in a report, the user's own aside.
        kept: texts that are told whatever the environment holds: models, versions.
        withheld: rows of the data, for texts that may quote one (see ``sentence``).
    """

    def __init__(
        self,
        folders: Iterable[Path] = (),
        kept: Collection[str] = (),
        withheld: Iterable[str] = (),
    ) -> None:
        self._folders = list(map(_folder, _spelled(_named(folders))))
        self._secrets = _spelled(value for value in _environment() if value not in kept)
        self._names = [_word(name) for name in _longest_first(_names())]
        self._rows = _spelled(row.strip() for row in withheld if len(row.strip()) >= _LEAST)

    def __call__(self, value: Any) -> Any:
        """``value`` with every text in it cleaned, in models, tables and lists too."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, BaseModel):
            return value.model_copy(update={name: self(part) for name, part in value})
        if is_dataclass(value) and not isinstance(value, type):
            parts = {f.name: self(getattr(value, f.name)) for f in fields(value) if f.init}
            return replace(value, **parts)
        if isinstance(value, dict):
            return {self(key): self(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self(part) for part in value)
        return value

    def sentence(self, said: str) -> str:
        """What a run said, which may quote a row of the data."""
        for row in self._rows:
            said = said.replace(row, GONE)
        return self._text(said)

    def _text(self, text: str) -> str:
        for folder in self._folders:
            text = folder.sub("/…", text)  # what follows is the rest of a path
        for secret in self._secrets:
            text = text.replace(secret, GONE)
        text = _TOKENS.sub(_without_value, private(text))
        text = _PATHS.sub(_last_part, text)
        for name in self._names:
            text = name.sub(GONE, text)
        return text


def _without_value(found: re.Match) -> str:
    """``password=***``, or nothing of what is a secret by its form."""
    named = re.match(r"(?i)(?:token|secret|passw(?:or)?d|api[_-]?key)\s*[=:]\s*", found[0])
    return (named[0] if named else "") + GONE


def _last_part(found: re.Match) -> str:
    return f"…/{found[1] or found[2]}"


def _named(folders: Iterable[Path]) -> Iterator[str]:
    """Each folder as it is named and as it is, and so the user's home."""
    for folder in (*folders, Path(os.path.expanduser("~"))):
        if folder.is_absolute() and len(folder.parts) > 1:
            yield from (str(folder), str(folder.resolve()))


def _folder(path: str) -> re.Pattern:
    return re.compile(re.escape(path) + r"(?![\w-]|\.\w)")  # not /home/ann in /home/anna


def _environment() -> Iterator[str]:
    """Values of variables that a person or an administrator has set."""
    for value in os.environ.values():
        if len(value) >= _LEAST and not _PLAIN.fullmatch(value):
            yield value


def _spelled(texts: Iterable[str]) -> list[str]:
    """Each as it is, in an address, in HTML, in JSON, and in JSON that leaves letters alone."""
    found = set()
    for text in texts:
        in_json = (json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
        in_address = (quote(text, safe=""), quote(text), quote_plus(text))
        found |= {text, escape(text), *in_address, *in_json}
    return _longest_first(found)


def _longest_first(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=lambda text: (-len(text), text))


def _names() -> set[str]:
    found = {os.environ.get(name, "") for name in ("LOGNAME", "USER", "LNAME", "USERNAME")}
    if _is_somebodys(Path.home()):
        found.add(Path.home().name)
    with contextlib.suppress(KeyError, OSError):  # a container may run as a number without a name
        found.add(getpass.getuser())
    for host in (platform.node(), os.environ.get("HOSTNAME", "")):
        found |= {host, host.partition(".")[0]}
    return {name for name in found if len(name) > 1 and name.lower() not in _NOBODY | _OURS}


def _is_somebodys(folder: Path) -> bool:
    return folder.parent.name in ("home", "Users")


def _word(name: str) -> re.Pattern:
    """The name where it stands alone; a short one may be part of a setting's (``max_steps``)."""
    end = r"(?![^\W_])" if len(name) > 4 else r"(?!\w)"
    edge = _EDGE if len(name) > 4 else r"(?<!\w)"
    return re.compile(f"{edge}{re.escape(name)}{end}", re.IGNORECASE)
