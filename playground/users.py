"""Who may change things on a shared page: names and hashed passwords, from a file or a variable.

A line is ``name:hash``. The hash is the standard library's scrypt with its own random salt, 16 MiB
and five rounds, one of the settings that OWASP's password cheat sheet gives as enough. Its parts
are joined by dots, so that no shell and no compose file takes a ``$`` in it for a variable.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from playground.config import SettingsError, expand

VARIABLE = "PLAYGROUND_USERS"
"""The lines themselves, parted by line breaks or commas."""

FILE_VARIABLE = "PLAYGROUND_USERS_FILE"

LEAST_LETTERS = 10

_COST, _BLOCK, _ROUNDS = 2**14, 8, 5
_MOST_MEMORY = 64 * 2**20


def hashed(password: str) -> str:
    """``scrypt.16384.8.5.SALT.KEY``, with a new salt each time."""
    salt = secrets.token_bytes(16)
    key = _key(password, salt, _COST, _BLOCK, _ROUNDS)
    return ".".join(["scrypt", str(_COST), str(_BLOCK), str(_ROUNDS), _text(salt), _text(key)])


def matches(password: str, stored: str) -> bool:
    """Whether ``stored`` was made of this password; compared in constant time."""
    cost, block, rounds, salt, key = _parts(stored)
    return hmac.compare_digest(_key(password, salt, cost, block, rounds), key)


def line(name: str, password: str) -> str:
    """The line for a users file.

    Raises:
        SettingsError: the name cannot stand in such a line, or the password is short.
    """
    _check_name(name)
    if len(password) < LEAST_LETTERS:
        raise SettingsError(
            f"The password has {len(password)} characters, which can be guessed; "
            f"take {LEAST_LETTERS} or more."
        )
    return f"{name}:{hashed(password)}"


def known(file: str | Path | None, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Hash by name: of the file if one is given, else of the variable; empty if there is neither.

    Raises:
        SettingsError: the file cannot be read, or a line is not ``name:hash``. What stands in the
            line is never said: it may be a password that somebody wrote down as it is.
    """
    if file:
        try:
            written = expand(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise SettingsError(
                f"Users file '{file}' cannot be read ({why}); "
                "write one with `python -m playground user NAME --file FILE`."
            ) from None
        found = _users(written.splitlines(), f"Users file '{file}'")
        if not found:
            raise SettingsError(
                f"Users file '{file}' names nobody, so nobody could log in; "
                "add one with `python -m playground user NAME --file FILE`."
            )
        return found
    return _users(environment.get(VARIABLE, "").replace(",", "\n").splitlines(), VARIABLE)


def generated() -> tuple[str, str]:
    """A name and a password of 96 random bits, for a page that was given no users."""
    return "owner", secrets.token_urlsafe(12)


def _users(lines: list[str], source: str) -> dict[str, str]:
    users: dict[str, str] = {}
    for number, written in enumerate(lines, start=1):
        if not written.strip() or written.lstrip().startswith("#"):
            continue
        name, _, stored = written.strip().partition(":")
        try:
            _check_name(name)
            _parts(stored)
        except (SettingsError, ValueError):
            raise SettingsError(
                f"{source} has in line {number} something else than name:hash; "
                "`python -m playground user NAME` prints such a line."
            ) from None
        users[name] = stored
    return users


def _check_name(name: str) -> None:
    if not name or len(name) > 60 or not name.isprintable() or set(name) & set(":,# "):
        raise SettingsError(
            f"'{name}' cannot be a user's name; take up to 60 letters or digits, without a space, "
            "a colon, a comma or a hash sign."
        )


def _parts(stored: str) -> tuple[int, int, int, bytes, bytes]:
    """Raises ValueError if ``stored`` is not what ``hashed`` gives."""
    kind, cost, block, rounds, salt, key = stored.split(".")
    costs = int(cost), int(block), int(rounds)
    if kind != "scrypt" or not _bearable(*costs):
        raise ValueError(kind)
    return *costs, _bytes(salt), _bytes(key)


def _bearable(cost: int, block: int, rounds: int) -> bool:
    """What scrypt takes, and a login can wait for."""
    power = cost > 1 and cost & (cost - 1) == 0
    return power and 0 < 128 * cost * block < _MOST_MEMORY and 0 < rounds <= 16


def _key(password: str, salt: bytes, cost: int, block: int, rounds: int) -> bytes:
    return hashlib.scrypt(
        password.encode(), salt=salt, n=cost, r=block, p=rounds, maxmem=_MOST_MEMORY, dklen=32
    )


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _bytes(value: str) -> bytes:
    return base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
