"""Tokens, home folders and secrets of the environment: in nothing that the page sends, to anybody.

They are planted wherever a run or a person could bring them in, and then everything is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from playground.data.uploads import keep, look
from playground.events import Message
from playground.own_presets import save_preset
from playground.presets import load_preset
from playground.store import Group, RunStore
from tests.report.scripted import scripted
from tests.ui.conftest import NAME, PASSWORD, SHARED_AS, Served, serving
from tests.ui.test_share import handlers, send

PASTED = "hf_PastedByMistakeIntoAField0123456789"
SECRETS = {
    "HF_TOKEN": "hf_TokenOfThisMachine0123456789abcd",
    "SOME_API_KEY": "a-key-of-some-service",
    "STORE_PASSPHRASE": "passphrase-in-a-variable",
    "DEPLOY_KEY": "deploy-key-in-a-variable",
    "DATABASE_URL": "postgres://ann:in-the-address@db.example/x",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a person; it is reached by a link, as on many machines."""
    real = tmp_path / "disk" / "mallory"
    real.mkdir(parents=True)
    home = tmp_path / "mallory"
    home.symlink_to(real)
    monkeypatch.setenv("HOME", str(home))
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    return home


def hidden(home: Path) -> list[str]:
    """What may be read nowhere."""
    values = [value for name, value in SECRETS.items() if name != "DATABASE_URL"]
    return [*values, PASTED, "in-the-address", str(home), str(home.resolve())]


def all_said(home: Path) -> str:
    return " ".join([*SECRETS.values(), PASTED, f"{home}/x", f"{home.resolve()}/y"])


def planted(store: RunStore, home: Path) -> Group:
    """A comparison of an uploaded file whose runs say, print and fail with all of it."""
    all_of_it = all_said(home)
    rows = home / "in.jsonl"
    rows.write_text('{"prompt": "a", "completion": "b"}\n')
    upload = keep(store.home, rows, "rows.jsonl", look)
    group = scripted(
        store,
        script={"fail_at": 9, "only": "nvfp4", "error": f"Failed: {all_of_it}."},
        facts={
            "how_reason": f"Emulated, for {all_of_it}",
            "environment": {"what": all_of_it},
            "device": {"name": all_of_it, "kind": "cpu"},
            "memory_source": all_of_it,
        },
        model=f"owner/{PASTED}",
        dataset=str(upload.path),
    )
    for run_id in group.run_ids:
        store.append(run_id, Message(level="warning", text=f"Warned of {all_of_it}"))
        log = store.run_folder(run_id) / "worker.log"
        # The end of a long one: where it is cut, nothing of a secret may be left over.
        log.write_text("\n".join([f"{all_of_it}"] * 200))
    mine = load_preset("quick", {"dataset": str(upload.path), "model": str(home / "model")})
    save_preset(mine, "mine", store.home)
    return group


@pytest.fixture
def page(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Served, Group]]:
    from playground import users
    from playground.ui.login import Login

    # Every child that a handler asks ends badly, and says all of it as its last word.
    child = home / "python"
    child.write_text(f"#!/bin/sh\necho 'It broke at {all_said(home)}' >&2\nexit 1\n")
    child.chmod(0o700)
    folder = home / "runs of mine"
    group = planted(RunStore(folder), home)
    login = Login({NAME: users.hashed(PASSWORD)})
    with serving(folder, "tests.ui.scripted_worker", login, SHARED_AS) as served:
        monkeypatch.setattr(sys, "executable", str(child))
        yield served, group


def everything(client: httpx.Client, group: Group) -> Iterator[tuple[str, str]]:
    """What the page sends to who opens that comparison and then uses all there is, and reports."""
    for path in (
        "",
        "config",
        "login",
        "theme.css",
        "gradio_api/info",
        "gradio_api/startup-events",
    ):
        yield path, client.get(f"/{path}").text
    for kind in ("html", "json", "csv"):
        yield kind, client.get(f"/reports/{group.id}.{kind}").text
    event = {"name": "mine", "open": group.id}
    for handler in handlers(client):
        if handler["backend_fn"]:
            what = f"{handler['id']} {handler['targets']}"
            yield what, send(client, handler, address={"group": group.id}, event=event).text


@pytest.mark.parametrize("who", ["a visitor", "who is logged in"])
def test_nothing_private_is_sent_to(page: tuple[Served, Group], home: Path, who: str) -> None:
    served, group = page
    with httpx.Client(base_url=served.url, timeout=60) as client:
        if who != "a visitor":
            client.post("/login", data={"name": NAME, "password": PASSWORD})
        sent = dict(everything(client, group))
    told = " ".join(sent.values())
    for expected in ("Warned of", "Failed: ", "Emulated, for", "rows.jsonl", "uploads/"):
        assert expected in told, f"{expected!r} was not asked for"
    found = [
        (what, secret) for what, said in sent.items() for secret in hidden(home) if secret in said
    ]
    assert not found, "\n".join(f"{secret} in {what}" for what, secret in found)
