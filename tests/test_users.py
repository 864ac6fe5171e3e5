"""Names and hashed passwords: what logs in, what is refused, and that no password is repeated."""

from __future__ import annotations

import stat

import pytest
from typer.testing import CliRunner

from playground import users
from playground.__main__ import cli
from playground.config import SettingsError

SECRET = "correct horse battery"


def test_a_password_matches_its_own_hash_alone() -> None:
    stored = users.hashed(SECRET)
    assert users.matches(SECRET, stored)
    assert not users.matches(SECRET + " ", stored)
    assert not users.matches("", stored)
    assert users.hashed(SECRET) != stored, "each hash has its own salt"
    assert SECRET not in stored and "$" not in stored


def test_the_hash_is_scrypt_of_the_standard_library() -> None:
    import base64
    import hashlib

    kind, cost, block, rounds, salt, key = users.hashed(SECRET).split(".")
    assert (kind, cost, block, rounds) == ("scrypt", "16384", "8", "5")
    raw = [base64.urlsafe_b64decode(part + "==") for part in (salt, key)]
    again = hashlib.scrypt(
        SECRET.encode(), salt=raw[0], n=16384, r=8, p=5, maxmem=2**26, dklen=len(raw[1])
    )
    assert again == raw[1]


def test_users_come_from_a_file_before_the_variable(tmp_path) -> None:
    file = tmp_path / "users"
    file.write_text(f"# who\n\n{users.line('ann', SECRET)}\n")
    variable = {users.VARIABLE: f"{users.line('bob', SECRET)},{users.line('eve', SECRET)}"}
    assert list(users.known(file, variable)) == ["ann"]
    assert list(users.known(None, variable)) == ["bob", "eve"]
    assert users.known(None, {}) == {}


@pytest.mark.parametrize(
    "line",
    [
        "ann",
        f"ann:{SECRET}",
        "ann:scrypt.16384.8.5.c2FsdA",
        "ann:scrypt.16384.8.5.***.c2FsdA",
        "ann:scrypt.1073741824.8.5.c2FsdA.c2FsdA",  # would take a terabyte
        ":scrypt.16384.8.5.c2FsdA.c2FsdA",
    ],
)
def test_a_line_that_is_none_is_named_and_not_repeated(tmp_path, line: str) -> None:
    file = tmp_path / "users"
    file.write_text(f"{users.line('bob', SECRET)}\n{line}\n")
    with pytest.raises(SettingsError, match="in line 2") as refused:
        users.known(file)
    assert SECRET not in str(refused.value) and "c2FsdA" not in str(refused.value)


def test_a_file_that_lets_nobody_in_is_refused(tmp_path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        users.known(tmp_path / "missing")
    (tmp_path / "empty").write_text("# nobody\n")
    with pytest.raises(SettingsError, match="names nobody"):
        users.known(tmp_path / "empty")


@pytest.mark.parametrize("name", ["", "a:b", "a b", "a,b", "a\nb", "x" * 61])
def test_names_that_no_line_can_hold(name: str) -> None:
    with pytest.raises(SettingsError, match="cannot be a user's name"):
        users.line(name, SECRET)


def test_the_command_writes_a_line_that_logs_in(tmp_path) -> None:
    file = tmp_path / "users"
    typed = f"{SECRET}\n{SECRET}\n"
    for name in ("ann", "bob"):
        done = CliRunner().invoke(cli, ["user", name, "--file", str(file)], input=typed)
        assert done.exit_code == 0, done.output
        assert SECRET not in done.output
    found = users.known(file)
    assert list(found) == ["ann", "bob"] and users.matches(SECRET, found["bob"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = CliRunner().invoke(cli, ["user", "ann", "--file", str(file)], input=typed)
    assert isinstance(again.exception, SettingsError) and "already" in str(again.exception)
    printed = CliRunner().invoke(cli, ["user", "eve"], input=typed)
    assert users.matches(SECRET, printed.stdout.strip().removeprefix("eve:"))


def test_a_short_password_is_refused() -> None:
    with pytest.raises(SettingsError, match="can be guessed"):
        users.line("ann", "123456789")
