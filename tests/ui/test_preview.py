"""The panel: a row's text is never markup, and what is learned is told by more than colour."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from playground.config import RunConfig
from playground.data.preview import preview as look
from playground.preview.__main__ import answer
from playground.ui import compare, preview
from tests.data.test_split import config, entry, write
from tests.tiny import tiny_tokenizer
from tests.ui.conftest import Served
from tests.ui.driving import field

NASTY = "<script>alert(1)</script> | a | **b**"


def found(folder: Path, rows: list[dict], **data: Any) -> dict[str, Any]:
    return look(entry(folder, rows[:-1], rows[-1:]), config(**data), tiny_tokenizer(), 3)


def rows(answer: str) -> list[dict[str, str]]:
    return [
        {"prompt": "a", "completion": answer, "<i>": "\x1b"},
        {"prompt": "b", "completion": ""},
        {"prompt": "c", "completion": "d"},
        {"prompt": "e", "completion": "f"},
    ]


def test_nothing_of_a_row_is_markup(tmp_path: Path) -> None:
    made = preview.panel(found(tmp_path, rows(NASTY)))
    assert "<script" not in made and "&lt;script&gt;" in made
    assert "<dt>&lt;i&gt;</dt><dd>␛</dd>" in made
    assert set(re.findall(r"<(\w+)", made)) <= {
        "details", "summary", "p", "span", "div", "b", "dl", "dt", "dd", "i", "h5", "u", "table",
        "tbody", "tr", "th", "td",
    }  # fmt: skip


def test_each_token_stands_in_a_part_that_names_its_fate(tmp_path: Path) -> None:
    seen = found(tmp_path, rows("z" * 80), max_seq_len=64)
    made = preview.panel(seen)
    parts = re.findall(r'<span class="is-\w+" title="([\w ]+)">(.*?)</span>', made, re.S)
    first = seen["rows"][0]["tokens"]
    told = [
        (state, unescape(text))
        for state, inner in parts
        for text in re.findall(r"<i>(.*?)</i>", inner, re.S)
    ]
    assert told[: len(first)] == [(token["state"], token["text"]) for token in first]
    assert {state for state, _ in told} == {"learned", "not learned", "cut"}


@pytest.mark.parametrize(("limit", "drawn"), [(64, True), (128, True), (4096, False)])
def test_the_limit_is_drawn_where_it_is_near(tmp_path: Path, limit: int, drawn: bool) -> None:
    made = preview.panel(found(tmp_path, rows("z" * 60), max_seq_len=limit))
    assert ("<u " in made) == drawn
    assert f"the limit is {limit:,}" in made
    heights = [float(h) for h in re.findall(r"height:([\d.]+)%", made)]
    assert max(heights) == 100 and min(heights) > 0
    edges = re.findall(r"left:([\d.]+)%;width:([\d.]+)%", made)
    assert all(float(left) + float(width) <= 100.1 for left, width in edges)


@pytest.mark.browser
def test_in_a_browser(
    served: Served, visit: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(config: RunConfig, home: Path, *, offline: bool = False) -> dict[str, Any]:
        """What the child does, without the seconds in which it starts."""
        return answer({"config": config.model_dump(mode="json"), "rows": 3})["answer"]

    monkeypatch.setattr(compare, "ask", ask)
    nasty = [{"prompt": f"Say {i}", "completion": f"{NASTY} {i}"} for i in range(20)]
    file = write(tmp_path / "nasty.jsonl", nasty)
    page = visit(served.url, width=390, dark=True)
    field(page, "max_steps").fill("7")
    field(page, "dataset").fill(str(file))
    field(page, "dataset").press("Tab")
    page.get_by_role("button", name="Preview what is learned").click()
    panel = page.locator("#preview .previewed")
    panel.wait_for()
    learned = panel.locator(".tokens .is-learned").first
    assert learned.inner_text() == f"{NASTY} 0<|end|>"
    assert "underline" in learned.evaluate("e => getComputedStyle(e).textDecorationLine")
    assert panel.locator("script").count() == 0
    assert panel.get_by_role("img").get_attribute("aria-label").endswith("the limit is 128.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert field(page, "max_steps").input_value() == "7"
    assert field(page, "dataset").input_value() == str(file)

    file.write_text('{"prompt": "a", "completion": "b"}\n{"prompt"\n')
    page.get_by_role("button", name="Preview what is learned").click()
    refused = page.locator("#preview .notice.is-error")
    refused.wait_for()
    assert "Line 2 of 'nasty.jsonl' is not JSON" in refused.inner_text()
    assert field(page, "max_steps").input_value() == "7"
    assert served.store.list_groups(1) == []  # to look starts nothing
