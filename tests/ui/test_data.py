"""A dataset on the form: what its columns mean is said in the setting, and uploads go one way."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from playground.config import parse_columns
from playground.data.rows import Row
from playground.data.uploads import columns_of, keep, look
from playground.preview.__main__ import answer
from playground.ui import data
from tests.ui.conftest import Served
from tests.ui.driving import field

MARKUP = "<script>alert(1)</script> **b**"
ODD = 'Größe, "in" = cm'
KNOWN = columns_of(
    Row({"Frage": "a?", ODD: MARKUP, "Zahl": 3, "Turns": [{"role": "user"}], "": "x"}, "Line 1")
)
OURS = columns_of(Row({"prompt": "a", "completion": "b"}, "Line 1"))


def picked(**parts: str) -> dict[str, str]:
    return {**dict.fromkeys(data.PARTS, ""), **parts}


@pytest.mark.parametrize(
    "parts",
    [{"prompt": "Frage", "answer": ODD}, {"text": ODD}, {"prompt": "Zahl", "answer": "Frage"}],
)
def test_what_is_picked_is_what_the_setting_says(parts: dict[str, str]) -> None:
    setting = data.written(KNOWN, picked(**parts))
    assert parse_columns(setting) == parts
    assert data.chosen(KNOWN, setting) == (parts, "")


def test_what_is_recognised_needs_no_setting() -> None:
    recognised = {"prompt": "prompt", "answer": "completion"}
    assert data.chosen(OURS, " ") == (recognised, "")
    assert data.written(OURS, picked(**recognised)) == ""
    assert data.written(OURS, picked(text="prompt")) == "text=prompt"
    assert data.chosen(KNOWN, "")[1].startswith("None of the usual names")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"prompt": "Frage"}, "choose the answer as well"),
        ({"input": "Frage"}, "choose the prompt as well"),
        ({"text": "Frage", "prompt": "Zahl"}, "take the text away"),
        ({"messages": "Turns", "system": "Frage"}, "take the system away"),
        ({"prompt": "Frage", "answer": "Frage"}, "both come from “Frage”"),
        ({"messages": "Frage"}, "“Frage” holds text in the first row, and messages are a list"),
        ({"text": "Turns"}, "“Turns” holds a list in the first row, and the text is text"),
    ],
)
def test_a_mapping_that_makes_no_sense(parts: dict[str, str], said: str) -> None:
    shown, wrong = data.chosen(KNOWN, data.written(KNOWN, picked(**parts)))
    assert said in wrong and "\n" not in wrong
    assert shown == parts  # what was picked stays


@pytest.mark.parametrize(
    ("setting", "said"),
    [("prompt=Nein, answer=Frage", "takes the prompt from “Nein”"), ("x", "names no column")],
)
def test_a_setting_that_does_not_fit_is_left_alone(setting: str, said: str) -> None:
    assert said in data.chosen(KNOWN, setting)[1]


def test_nothing_of_a_file_is_markup() -> None:
    known = columns_of(Row({MARKUP: f"\x1b{MARKUP}"}, "Line 1"))
    _, table, *_, said, _ = data.mapping(known, "")
    assert "<script" not in table + said and "␛&lt;script&gt;" in table


def test_a_visitor_is_told_nothing_of_this_machines_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "secret"}\n')
    for name in (str(tmp_path / "a.jsonl"), str(tmp_path), str(tmp_path / "no.jsonl"), "~", "a/b"):
        with pytest.raises(ValueError, match="shown to those who have logged in"):
            data.known_of(name, may_read=False)
    assert data.known_of("iso-dates", may_read=False)["recognised"]


def test_an_upload_is_never_fetched_back(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"text": "secret words"}\n')
    kept = keep(served.home, file, "rows.jsonl", look).path
    (served.home / "uploads" / "link.jsonl").symlink_to(kept)
    above = os.path.relpath(kept, Path.cwd())
    for path in (
        *(str(kept), str(kept).replace("/", "%2f"), str(kept).replace(".", "%2e")),
        *(above, above.replace("../", "%2e%2e/"), f"/tmp/../{kept}"),
        str(served.home / "uploads" / "link.jsonl"),
        *(str(kept.parent), str(served.home / "playground.db")),
    ):
        for route in ("gradio_api/file=", "file=", "gradio_api/file/", "static/", "assets/"):
            reply = httpx.get(f"{served.url}/{route}{path}", follow_redirects=True)
            assert "secret" not in reply.text and reply.status_code in (403, 404), (route, path)


def test_gradios_own_way_in_leaves_nothing_readable(served: Served) -> None:
    """What it takes in lies where no other user of the machine looks, and is refused by length."""
    api = f"{served.url}/gradio_api"
    (path,) = httpx.post(f"{api}/upload", files={"files": ("../../x.jsonl", b"{}")}).json()
    assert Path(path).is_relative_to(os.environ["GRADIO_TEMP_DIR"])
    assert Path(os.environ["GRADIO_TEMP_DIR"]).stat().st_mode & 0o077 == 0
    assert Path(path).name == "x.jsonl"
    chunks = (b"x" for _ in range(3))  # of no length that could be judged
    assert httpx.post(f"{api}/upload", content=chunks).status_code == 413
    data.take(served.home, (path, "x.txt"))
    assert not Path(path).parent.exists()


@pytest.mark.browser
def test_in_a_browser(
    served: Served, visit: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_once(request: dict[str, Any], *_: Any) -> Any:
        """What the child does, without the seconds in which it starts."""
        found = answer(request)
        if "refused" in found:
            raise data.SettingsError(found["refused"])
        return found["answer"]

    monkeypatch.setattr("playground.preview.asking._answer", at_once)
    monkeypatch.setattr("playground.preview.__main__.resource.setrlimit", lambda *_: None)
    page = visit(served.url, width=390)
    chooser = page.locator("#form input[type=file]")
    rows = [{"Frage": f"Was ist {i}?", "Antwort": f"{MARKUP} {i}", "Notiz": "n"} for i in range(20)]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()

    def upload(name: str, content: bytes) -> None:
        chooser.set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})

    upload("broken.jsonl", content + b"{")
    refused = page.locator("#uploaded .notice.is-error")
    refused.wait_for()
    assert "Line 21 of 'broken.jsonl' is not JSON" in refused.inner_text()
    assert field(page, "dataset").input_value().startswith("Sentences to JSON")
    assert not list((served.home / "uploads").iterdir())

    upload("<b>x.jsonl", content)
    page.get_by_text("“<b>x.jsonl” was kept on this machine").wait_for()
    page.get_by_text("None of the usual names is among these columns").wait_for()
    assert field(page, "dataset").input_value() == "<b>x.jsonl (uploaded)"
    assert page.locator(".columns-read script").count() == 0
    assert page.locator(".columns-read td").nth(1).inner_text() == f"{MARKUP} 0"
    for part, column in (("prompt", "Frage"), ("answer", "Antwort")):
        page.locator(f"#column-{part} input").click()
        page.get_by_role("option", name=column, exact=True).click()
        # The list fades out; meanwhile the next one would offer the same names beside it.
        page.get_by_role("option").first.wait_for(state="detached")
    page.get_by_text("Columns, as you said: prompt from Frage, answer from Antwort").wait_for()
    page.get_by_role("button", name="Preview what is learned").click()
    learned = page.locator("#preview .tokens .is-learned").first
    learned.wait_for()
    assert learned.inner_text() == f"{MARKUP} 0<|end|>"
    page.locator("#column-answer input").click()
    page.get_by_role("option", name="Notiz", exact=True).click()
    page.locator("#preview .tokens .is-learned", has_text="n<|end|>").first.wait_for()  # it follows
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    field(page, "max_steps").fill("3")
    page.get_by_role("button", name="Start comparison").click()
    page.locator("#heading .heading").wait_for()
    (group,) = served.store.list_groups(1)
    config = group.runs[0].config
    assert config.data.columns == "prompt=Frage, answer=Notiz"
    assert Path(config.dataset).read_bytes() == content
    assert Path(config.dataset).is_relative_to(served.home / "uploads")
