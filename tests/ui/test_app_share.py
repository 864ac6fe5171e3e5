"""app.py shared: the link, the login that comes with it, and a tunnel that cannot be opened."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import httpx
import pytest

from playground import users
from playground.ui import share
from tests.ui.conftest import NAME, PASSWORD, SHARED_AS, free_port, until
from tests.ui.running import App, get, serving
from tests.ui.shared_app import _TROUBLE, setup_tunnel

SHARED = ("-m", "tests.ui.shared_app")
UPLOAD = "/gradio_api/upload"


@pytest.mark.slow
def test_a_shared_page_asks_for_its_generated_password(run_app: App, tmp_path: Path) -> None:
    port = free_port()
    token, user = "hf_plantedTokenOfATest", "SECRET-planted-in-a-variable"
    home = tmp_path / "home of somebody"
    home.mkdir()
    environment = {"HF_TOKEN": token, "SOME_API_KEY": user, "HOME": str(home)}
    app = run_app(
        *("--share", "--port", str(port), "--home", str(home / "runs")),
        program=SHARED,
        FAKE_TUNNEL=f"http://{SHARED_AS}",
        **environment,
    )
    until(lambda: serving(app), "the page", 60)
    said = app.log.read_text()
    assert f"Anyone can watch on https://{SHARED_AS}" in said and "week" in said
    name, password = re.search(r"Log in as (\S+) with the password (\S+)", said).groups()
    assert said.count(password) == 1

    url = f"http://127.0.0.1:{port}"
    through = {"Host": SHARED_AS, "X-Forwarded-Proto": "https"}
    visitor = httpx.Client(base_url=url, headers=through)
    assert visitor.get("/").status_code == 200
    assert visitor.post(UPLOAD).status_code == 403
    given = {"name": name, "password": password}
    cookie = visitor.post("/login", data=given).headers["set-cookie"].split(";")[0]
    owner = {**through, "Cookie": cookie}
    assert httpx.post(url + UPLOAD, headers=owner).status_code != 403

    # Nothing private in anything that is served before a run, or said on the terminal.
    served = [visitor.get(path).text for path in ("/", "/config", "/login", "/gradio_api/info")]
    for secret in (token, user, str(home), password, cookie.partition("=")[2]):
        assert not any(secret in page for page in served), secret
    for secret in (token, user, str(home)):
        assert secret not in app.log.read_text(), secret
    app.send_signal(signal.SIGTERM)
    assert app.wait(20) == 0
    assert "Traceback" not in app.log.read_text()


@pytest.mark.slow
@pytest.mark.slow
def test_without_a_tunnel_it_goes_on_locally(run_app: App, tmp_path: Path) -> None:
    port = free_port()
    app = run_app("--share", "--port", str(port), program=SHARED, FAKE_TUNNEL="no client")
    until(lambda: serving(app), "the page", 60)
    said = app.log.read_text()
    assert "No share link could be opened: the tunnel's program (frpc) could not" in said
    assert "playground report" in said and "Log in as" not in said
    assert os.path.expanduser("~") not in said.replace(str(tmp_path), "")
    assert get(f"http://127.0.0.1:{port}/")[0] == 200
    assert httpx.post(f"http://127.0.0.1:{port}{UPLOAD}").status_code != 403


def test_a_page_for_others_has_the_users_of_its_file(run_app: App, tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text(users.line(NAME, PASSWORD))
    port = free_port()
    app = run_app("--host", "0.0.0.0", "--port", str(port), PLAYGROUND_USERS_FILE=str(file))
    until(lambda: serving(app), "the page", 60)
    said = app.log.read_text()
    assert f"logs in as: {NAME}" in said and "password" not in said
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Host": "lab.example"})
    assert client.post(UPLOAD).status_code == 403
    client.post("/login", data={"name": NAME, "password": PASSWORD})
    assert client.post(UPLOAD).status_code != 403


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ("no server", "no internet"),
        ("no client", "could not be downloaded"),
        ("not genuine", "not the one Gradio vouches for"),
        ("no folder", "cannot be written"),
        ("refused", "did not accept"),
    ],
)
def test_why_no_tunnel_could_be_opened(monkeypatch, trouble: str, why: str) -> None:
    assert trouble in _TROUBLE
    monkeypatch.setenv("FAKE_TUNNEL", trouble)
    monkeypatch.setattr(share.networking, "setup_tunnel", setup_tunnel)
    with pytest.raises(share.NoTunnel, match=re.escape(why)) as refused:
        share.open_tunnel("127.0.0.1", 7860)
    assert os.path.expanduser("~") not in str(refused.value)


def test_a_tunnel_that_says_nothing_is_not_waited_for(monkeypatch) -> None:
    import threading

    forever = threading.Event()
    monkeypatch.setattr(share, "LONGEST_S", 0.05)
    monkeypatch.setattr(share.networking, "setup_tunnel", lambda *_: forever.wait())
    with pytest.raises(share.NoTunnel, match="did not answer"):
        share.open_tunnel("127.0.0.1", 7860)
    forever.set()


def test_users_that_cannot_be_read_are_one_sentence(tmp_path: Path, capsys) -> None:
    import app

    file = tmp_path / "users"
    file.write_text("ann:plain-password")
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    asked = ["--home", str(tmp_path / "home"), "--port", str(free_port()), "--users", str(file)]
    try:
        assert app.main(asked) == 1
    finally:
        signal.signal(signal.SIGINT, handlers[0])
        signal.signal(signal.SIGTERM, handlers[1])
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "line 1" in error and "plain-password" not in error
    assert not (tmp_path / "home").exists()
