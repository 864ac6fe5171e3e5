"""A shared page from outside: visitors read everything and change nothing, whatever they send."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import gradio as gr
import httpx
import pytest

from playground import users
from playground.catalog.models import TINY
from playground.own_presets import save_preset
from playground.presets import load_preset
from playground.ui import gate, guard
from playground.ui.login import LASTS_S, TRIES, WAIT_S, Login, TooOften
from tests.ui.conftest import NAME, PASSWORD, SHARED_AS, Served, until

API = "/gradio_api"
_SHOWN: WeakKeyDictionary[httpx.Client, dict[int, Any]] = WeakKeyDictionary()
CACHES = ("formats", "models", "estimates", "residents")
"""What reading keeps, once for each model, and which children read: nothing that anybody set."""


def visitor(page: Served, **headers: str) -> httpx.Client:
    return httpx.Client(base_url=page.url, headers=headers, timeout=30)


def log_in(page: Served, password: str = PASSWORD, **headers: str) -> httpx.Client:
    client = visitor(page, **headers)
    client.post("/login", data={"name": NAME, "password": password})
    return client


def handlers(client: httpx.Client) -> list[dict]:
    return client.get("/config").json()["dependencies"]


def send(
    client: httpx.Client,
    handler: dict,
    session: str = "s",
    typed: dict[int, str] | None = None,
    address: dict[str, str] | None = None,
    event: dict[str, str] | None = None,
) -> httpx.Response:
    """A handler called directly, its inputs as the page shows them at first, but for ``typed``.

    Args:
        address: the query of the page's own address.
        event: what a script of the page tells with what it triggers.
    """
    if client not in _SHOWN:
        parts = client.get("/config").json()["components"]
        _SHOWN[client] = {part["id"]: part["props"].get("value") for part in parts}
    shown = _SHOWN[client] | (typed or {})
    body = {
        "data": [shown.get(i) for i in handler["inputs"]],
        "event_data": event,
        "fn_index": handler["id"],
        "session_hash": session,
        "trigger_id": None,
    }
    if not handler["queue"]:
        return client.post(f"{API}/run/predict", json=body, params=address)
    client.post(f"{API}/queue/join", json=body, params=address).raise_for_status()
    with client.stream("GET", f"{API}/queue/data", params={"session_hash": session}) as stream:
        for line in stream.iter_lines():
            if "process_completed" in line:
                return httpx.Response(200 if '"success":true' in line else 500, text=line)
    raise AssertionError("the queue gave no answer")


def kept(home: Path) -> tuple[list[str], list[str]]:
    """Everything that stays: the rows of the database, pulses aside, and the files beside it."""
    with closing(sqlite3.connect(home / "playground.db")) as file:
        database = sqlite3.connect(":memory:")
        file.backup(database)
    database.execute("UPDATE runs SET heartbeat_at = NULL")
    rows = sorted(database.iterdump())
    database.close()
    inside = (p.relative_to(home) for p in home.rglob("*"))
    files = sorted(
        str(p)
        for p in inside
        if p.parts[0] not in CACHES and not p.name.startswith("playground.db")
    )
    return rows, files


def start(client: httpx.Client, page: Served) -> str:
    """Starts what the form holds, as the Start button does; the group's id."""
    config = client.get("/config").json()
    button = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "start")
    pressed = next(d for d in config["dependencies"] if [button, "click"] in d["targets"])
    assert send(client, pressed).status_code == 200
    [group] = page.store.list_groups()
    return group.id


def test_a_visitor_who_calls_every_handler_changes_nothing(shared: Served) -> None:
    shared.hold_at(5)
    group = start(log_in(shared), shared)
    run = shared.store.live()[0].id
    until(lambda: (step := shared.store.last_step(run)) and step.step == 5, "step 5")
    save_preset(load_preset("quick"), "mine", shared.home)
    before = kept(shared.home)
    client = visitor(shared)
    # In one session, which has the comparison open, chosen on History, and its card told by name.
    where = {"address": {"group": group}, "event": {"open": group, "name": "mine"}}
    told = [send(client, h, **where).text for h in handlers(client) if h["backend_fn"]]
    assert sum("asks for a login" in answer for answer in told) > 10
    assert sum(group in answer for answer in told) > 2
    assert kept(shared.home) == before
    assert [g.id for g in shared.store.list_groups()] == [group]
    assert shared.store.live()[0].stop_kind is None


def test_a_visitor_cannot_stop_what_the_owner_s_page_can(shared: Served) -> None:
    shared.hold_at(5)
    owner = log_in(shared)
    group = start(owner, shared)
    config = owner.get("/config").json()
    stop = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "stop")
    pressed = next(d for d in config["dependencies"] if [stop, "click"] in d["targets"])
    [shown] = pressed["inputs"]  # the comparison that the page shows
    where = {"session": "owner", "typed": {shown: group}}
    reply = send(visitor(shared), pressed, **where)
    assert reply.status_code == 500 and "asks for a login" in reply.text
    assert shared.store.live()[0].stop_kind is None
    assert send(owner, pressed, **where).status_code == 200
    assert shared.store.list_groups()[0].runs[0].stop_kind == "stop"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/upload", "asks for a login"),
        ("/upload/", "asks for a login"),
        ("/stream/x", "not served"),
        ("/process_recording", "not served"),
        ("/vibe-edit/", "not served"),
        ("/anything", "asks for a login"),
    ],
)
def test_no_other_endpoint_takes_anything_from_a_visitor(shared, path: str, why: str) -> None:
    reply = visitor(shared).post(f"{API}{path}", files={"files": ("x.jsonl", b"{}")})
    assert reply.status_code in (403, 404) and why in reply.text


def test_what_gradio_would_write_for_anybody_is_closed_for_all(served: Served) -> None:
    reply = visitor(served).get(f"{API}/deep_link", params={"session_hash": "s"})
    assert reply.status_code == 404
    asked = visitor(served).get("/config", params={"deep_link": "x", "page": "history"})
    assert "deep_link_state" not in asked.json()


def test_what_another_site_sends_is_refused(served: Served) -> None:
    """A page for this machine alone has no login that would tell its own browser tab apart."""
    for site, code in (("cross-site", 403), ("same-site", 403), ("same-origin", 400)):
        headers = {"Sec-Fetch-Site": site}
        reply = visitor(served).post(f"{API}/queue/join", headers=headers, json={"data": []})
        assert reply.status_code == code, site
    assert visitor(served).get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


def test_the_link_is_answered_and_no_other_foreign_name(shared: Served, served: Served) -> None:
    assert visitor(shared, Host=SHARED_AS).get("/config").status_code == 200
    assert visitor(shared).get("/config").status_code == 200
    for other in ("evil.example", f"evil.{SHARED_AS}", "4567.gradio.live"):
        assert visitor(shared, Host=other).get("/config").status_code == 400, other
    # A link that outlived its page leads to nothing that needs no login.
    assert visitor(served, Host=SHARED_AS).get("/config").status_code == 400


def test_the_cookie_is_for_this_page_and_no_script(shared: Served) -> None:
    given = {"name": NAME, "password": PASSWORD}
    cookie = visitor(shared).post("/login", data=given).headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "secure" not in cookie
    through = visitor(shared, **{"X-Forwarded-Proto": "https"}).post("/login", data=given)
    assert "secure" in through.headers["set-cookie"].lower()


def test_logging_out_ends_the_session_on_the_server(shared: Served) -> None:
    client = log_in(shared)
    cookies = dict(client.cookies)
    assert client.post(f"{API}/upload").status_code != 403
    client.post("/logout")
    kept_copy = httpx.post(f"{shared.url}{API}/upload", cookies=cookies)
    assert kept_copy.status_code == 403


def test_wrong_passwords_say_so_and_then_wait(shared: Served) -> None:
    client = visitor(shared)
    for _ in range(TRIES):
        reply = client.post("/login", data={"name": NAME, "password": "wrong"})
        assert reply.status_code == 401 and "do not go together" in reply.text
    reply = client.post("/login", data={"name": NAME, "password": PASSWORD})
    assert reply.status_code == 429 and not client.cookies


def test_the_way_back_from_the_login_stays_on_the_page(shared: Served) -> None:
    client = visitor(shared)
    came = {"Referer": f"{shared.url}/?group=g-1&page=history"}
    assert 'value="group=g-1&amp;page=history"' in client.get("/login", headers=came).text
    foreign = {"Referer": "https://evil.example/?group=g-1"}
    assert 'name="back" value=""' in client.get("/login", headers=foreign).text
    given = {"name": NAME, "password": PASSWORD, "back": "//evil.example/?x=1"}
    reply = client.post("/login", data=given)
    assert reply.status_code == 303 and reply.headers["location"].startswith("./?")


def test_what_was_typed_is_shown_as_text(shared: Served) -> None:
    given = {"name": '"><script>alert(1)</script>', "password": "x"}
    reply = visitor(shared).post("/login", data=given)
    assert "<script>alert" not in reply.text and "&lt;script&gt;" in reply.text
    huge = visitor(shared).post("/login", content=b"name=" + b"x" * 100_000)
    assert huge.status_code == 401 and "x" * 1000 not in huge.text


def test_sessions_end_by_themselves() -> None:
    now = [0.0]
    login = Login({NAME: users.hashed(PASSWORD)}, clock=lambda: now[0])
    token = login.enter(NAME, PASSWORD)

    class Conn:
        cookies = {login._cookie: token}

    assert login.name_of(Conn) == NAME
    now[0] = LASTS_S - 1
    assert login.name_of(Conn) == NAME
    now[0] = LASTS_S
    assert login.name_of(Conn) is None


def test_tries_are_counted_by_name_and_forgotten() -> None:
    now = [0.0]
    login = Login(dict.fromkeys((NAME, "bob"), users.hashed(PASSWORD)), clock=lambda: now[0])
    for _ in range(TRIES):
        assert login.enter(NAME, "wrong") is None
    with pytest.raises(TooOften) as wait:
        login.enter(NAME, PASSWORD)
    assert wait.value.seconds == WAIT_S
    assert login.enter("bob", PASSWORD), "another one is not kept out"
    assert login.enter("nobody", PASSWORD) is None
    now[0] = WAIT_S
    assert login.enter(NAME, PASSWORD)


def test_a_page_for_others_needs_a_login() -> None:
    login = Login({})
    for host, shared_as in (("0.0.0.0", None), ("192.168.1.2", None), ("127.0.0.1", SHARED_AS)):
        with pytest.raises(ValueError, match="needs a login"):
            gate.app_kwargs(host, None, shared_as)
        assert gate.app_kwargs(host, login, shared_as)["middleware"]


def test_what_did_not_come_through_the_gate_may_change_nothing() -> None:
    changed = []

    def change(value: str) -> str:
        changed.append(value)
        return value

    with gr.Blocks() as app:
        button, box = gr.Button(), gr.Textbox("x")
        button.click(guard.changes(change), box, box)
    assert guard.buttons(app) == [button]
    _, url, _ = app.launch(prevent_thread_lock=True, quiet=True)
    reply = httpx.post(
        f"{url}gradio_api/run/predict", json={"data": ["x"], "fn_index": 0, "session_hash": "s"}
    )
    app.close(verbose=False)
    assert reply.status_code != 200 and changed == []


def test_a_file_is_given_to_who_may_change_things_alone(tmp_path) -> None:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.testclient import TestClient

    inside, outside = tmp_path / "out", tmp_path / "secret"
    inside.mkdir()
    (inside / "a.zip").write_bytes(b"adapter")
    outside.write_text("SECRET")
    (inside / "link.zip").symlink_to(outside)
    route = gate.file_route("/export/{name}", lambda name: inside / name, inside)
    # Without authentication nothing came through the gate.
    assert TestClient(Starlette(routes=[route])).get("/export/a.zip").status_code == 403
    checked = Middleware(gate.AuthenticationMiddleware, backend=gate._Who(None))
    client = TestClient(Starlette(routes=[route], middleware=[checked]))
    reply = client.get("/export/a.zip")
    assert reply.content == b"adapter" and "attachment" in reply.headers["content-disposition"]
    for name in ("link.zip", "b.zip", "..%2fsecret", "%2e%2e%2fsecret", "."):
        reply = client.get(f"/export/{name}")
        assert reply.status_code == 404 and "SECRET" not in reply.text, name


def test_a_visitor_learns_nothing_of_what_is_in_no_list(shared: Served, tmp_path: Path) -> None:
    """Whatever is typed into the form of a shared page: no file is read for it, nor told of."""
    model, rows = tmp_path / "secret-model", tmp_path / "rows.jsonl"
    shutil.copytree(TINY.path, model)
    rows.write_text('{"prompt": "hidden words", "completion": "b"}\n')
    client = visitor(shared)
    config = client.get("/config").json()
    ids = {c["props"].get("elem_id"): c["id"] for c in config["components"]}
    for name, field, path, other, said in (
        ("preview-button", "field-model", model, tmp_path / "no", "cannot be used; see Model"),
        ("preview-button", "field-dataset", rows, tmp_path / "no", "Datasets that are not in the"),
        ("field-model", "field-model", model, tmp_path / "no", "Models that are not in the list"),
        ("field-dataset", "field-dataset", rows, tmp_path / "no", "Datasets that are not in the"),
        ("lens-model", "lens-model", model, tmp_path / "no", "Models that are not in the list"),
    ):
        told = {
            asked: " ".join(
                send(client, handler, f"{handler['id']}{asked}", {ids[field]: str(asked)}).text
                for handler in begun_by(config, ids[name])
            )
            for asked in (path, other)
        }
        assert all(said in answer for answer in told.values()), (name, field, told)
        assert not any(word in told[path] for word in ("hidden words", "1.2 M", "q_proj"))


def begun_by(config: dict, part: int) -> list[dict]:
    """The handlers that a component starts."""
    found = [d for d in config["dependencies"] if any(t[0] == part for t in d["targets"])]
    return [d for d in found if d["backend_fn"]]
