"""Reports on the page, who may fetch which, and the file itself in a browser without a network."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from playground.config import PRECISIONS
from playground.store import RunStore
from playground.ui import guard
from playground.ui.report import as_text, serving
from playground.ui.text import report as text
from tests.report.scripted import scripted
from tests.ui.conftest import NAME, PASSWORD, PATIENCE_MS, Served
from tests.ui.test_accessibility import faults

Visit = Callable[..., Page]
PAPER = 680
"""Pixels: A4 is 794 wide and Letter 816, less margins of 12 mm."""


def test_a_report_is_made_for_who_asks_and_nothing_else_is(served: Served) -> None:
    group = scripted(served.store, "Mine", answers=("the question", "right", "said"))
    with httpx.Client(base_url=served.url) as client:
        for kind, media in (
            ("html", "text/html"),
            ("json", "application/json"),
            ("csv", "text/csv"),
        ):
            got = client.get(f"/reports/{group.id}.{kind}")
            assert got.status_code == 200 and got.headers["content-type"].startswith(media)
            name = f"fp4-report-{group.id}.{kind}"
            assert got.headers["content-disposition"] == f'attachment; filename="{name}"'
            assert "the question" not in got.text
        assert "the question" in client.get(f"/reports/{group.id}.csv?rows=yes").text
        for path in (
            f"{group.id}.db",
            f"{group.id}",
            "g-none.html",
            f"{group.id[:6]}.html",
            "..%2fplayground.html",
            "%2e%2e/playground.db",
            f"{group.run_ids[0]}.html",
        ):
            assert client.get(f"/reports/{path}").status_code == 404, path


def test_visitors_read_reports_without_rows(shared: Served) -> None:
    group = scripted(shared.store, answers=("the question", "right", "said"))
    asked = f"/reports/{group.id}.csv"
    with httpx.Client(base_url=shared.url) as visitor:
        assert visitor.get(asked).status_code == 200
        plain = visitor.get(asked, headers={"accept-encoding": "identity"})
        assert plain.text.startswith("comparison,title")
        refused = visitor.get(f"{asked}?rows=yes")
        assert (refused.status_code, refused.text) == (403, text.ROWS_FOR_OWNERS)
        visitor.post("/login", data={"name": NAME, "password": PASSWORD})
        assert "the question" in visitor.get(f"{asked}?rows=yes").text
        assert "the question" not in visitor.get(asked).text, "nothing with rows is kept"


def test_visitors_have_few_reports_made_and_get_the_newest_there_is(
    shared: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = scripted(shared.store), scripted(shared.store)
    made = []
    monkeypatch.setattr(serving, "parts", lambda *asked, **_: made.append(asked) or ["made"])
    with httpx.Client(base_url=shared.url) as visitor:
        for change in range(guard.VISITORS_A_MINUTE + 3):
            for _ in range(2):  # the second time nothing has changed
                assert visitor.get(f"/reports/{first.id}.csv").status_code == 200
            shared.store.annotate(first.id, f"Note {change}")
        assert len(made) == guard.VISITORS_A_MINUTE
        refused = visitor.get(f"/reports/{other.id}.csv")
        assert (refused.status_code, refused.text) == (429, text.BUSY)


def test_after_a_long_one_visitors_wait_and_owners_do_not(
    shared: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = scripted(shared.store), scripted(shared.store)
    monkeypatch.setattr(serving, "LONG_S", -1.0)  # whatever it takes is long
    monkeypatch.setattr(serving, "REST", 1e6)
    with httpx.Client(base_url=shared.url) as visitor:
        assert visitor.get(f"/reports/{first.id}.csv").status_code == 200
        assert visitor.get(f"/reports/{first.id}.csv").status_code == 200
        assert visitor.get(f"/reports/{other.id}.csv").status_code == 429
        visitor.post("/login", data={"name": NAME, "password": PASSWORD})
        assert visitor.get(f"/reports/{other.id}.csv").status_code == 200


def test_a_report_is_in_the_language_of_who_asks(served: Served) -> None:
    asked = f"/reports/{scripted(served.store).id}.html"
    for code, said in (("zh-TW", "記憶體，預測與實測"), ("en", "Memory, predicted and measured")):
        with httpx.Client(base_url=served.url, headers={"accept-language": code}) as client:
            made = client.get(asked).text
        assert f'<html lang="{code}">' in made and said in made
        assert "[[say:" not in made


@pytest.mark.browser
def test_a_report_is_downloaded_from_compare_with_rows_where_ticked(
    served: Served, visit: Visit, tmp_path: Path
) -> None:
    group = scripted(served.store, "Mine", answers=("the question", "right", "said"))
    page = visit(f"{served.url}/?group={group.id}")

    def fetched() -> str:
        with page.expect_download() as download:
            page.locator("#reports").get_by_role("link", name="Report (HTML)").click()
        assert download.value.suggested_filename == f"fp4-report-{group.id}.html"
        return Path(download.value.path()).read_text()

    assert "the question" not in fetched()
    page.get_by_label(text.WITH_ROWS).check()
    expect(page.locator("#reports a").first).to_have_attribute("href", re.compile("rows=yes"))
    assert "the question" in fetched()


@pytest.mark.browser
def test_a_visitor_is_offered_no_rows(shared: Served, visit: Visit) -> None:
    group = scripted(shared.store)
    page = visit(f"{shared.url}/?group={group.id}", ready="Log in to start")
    expect(page.locator("#reports").get_by_role("link", name="CSV")).to_be_visible()
    expect(page.get_by_label(text.WITH_ROWS)).to_have_count(0)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Any:
    """``opened(report)``: from disk and without a network; nothing may fail or be asked for."""
    contexts, faults = [], []

    def open_file(
        made: str, *, width: int = 1400, dark: bool = False, has_touch: bool = False
    ) -> Page:
        file = tmp_path / "report.html"
        file.write_text(made)
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            offline=True,
            has_touch=has_touch,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(f"uncaught: {error}"))
        asks = lambda r: r.url != file.as_uri()  # noqa: E731
        page.on("request", lambda r: faults.append(f"asked for {r.url}") if asks(r) else None)
        page.goto(file.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert faults == []


@pytest.mark.browser
def test_the_file_is_read_and_zoomed_without_a_network(store: RunStore, opened: Any) -> None:
    script = {"memory_ends_at": 50, "only": "nvfp4", "heal_at": 30}
    group = scripted(store, script=script, precisions="fp32,fp16,nvfp4", seeds="2")
    page = opened(as_text(store, group, "html"))
    plot = page.locator(".plot-loss .plot-box svg")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for name in ("FP32 × 2", "FP16 × 2", "NVFP4 × 2"):
        for panel in ("loss", "tokens_per_s", "memory_mib"):
            expect(page.locator(f".plot-{panel} .tip")).to_contain_text(name)
    expect(page.locator('.plot-loss .mark[data-kind="out of memory"]')).to_have_count(2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
    expect(page.locator(".charts")).not_to_have_attribute("data-zoom", "")
    page.get_by_role("button", name="seconds", exact=True).click()
    expect(page.locator(".charts")).to_have_attribute("data-axis", "time")
    assert page.url.endswith("report.html"), "no address is noted in a file"


@pytest.mark.browser
def test_a_finger_and_a_keyboard_read_the_charts_too(store: RunStore, opened: Any) -> None:
    page = opened(as_text(store, scripted(store), "html"), width=390, has_touch=True)
    plot, tip = page.locator(".plot-loss .plot-box svg"), page.locator(".plot-loss .tip")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(tip).to_contain_text("NVFP4")
    expect(page.locator(".charts")).to_have_attribute("data-zoom", "")
    tapped = tip.locator(".tip-head").inner_text()
    plot.press("ArrowRight")
    expect(tip.locator(".tip-head")).not_to_have_text(tapped)
    expect(page.locator(".said")).to_contain_text("NVFP4")


@pytest.mark.browser
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_axe_finds_nothing_serious_in_the_file(
    store: RunStore, opened: Any, width: int, dark: bool
) -> None:
    group = scripted(store, answers=("asked", "right", "said"), probe_every="20")
    # axe itself is a script, which the file's policy would not let run.
    made = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", as_text(
        store, group, "html", rows=True))  # fmt: skip
    page = opened(made, width=width, dark=dark)
    page.locator("details").evaluate_all("all => all.forEach(fold => { fold.open = true; })")
    assert faults(page) == []
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"the file is {wide} pixels wide"


@pytest.mark.browser
def test_a_script_that_gets_into_the_file_does_not_run(store: RunStore, chromium: Any) -> None:
    made = as_text(store, scripted(store), "html")
    made = made.replace("<main>", "<main><script>document.title = 'run'</script>")
    page = chromium.new_page()
    page.set_content(made)
    assert page.locator(".plot-loss .line").count() == 2, "the file's own script has run"
    assert page.title() != "run"
    page.close()


@pytest.mark.browser
def test_paper_is_light_and_shows_what_was_folded(store: RunStore, opened: Any) -> None:
    page = opened(as_text(store, scripted(store), "html"), dark=True)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".log")).to_be_visible()
    expect(page.locator(".tools")).to_be_hidden()
    assert dark != page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert page.locator(".plot-loss svg").evaluate("svg => svg.viewBox.baseVal.width") <= 680
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".log")).to_be_hidden()


@pytest.mark.browser
def test_nothing_is_wider_than_paper(store: RunStore, opened: Any) -> None:
    """A browser would shrink every page for one wide table, and cut what is left of it."""
    long = "a-name-without-any-blank" * 5
    group = scripted(
        store, title=long, facts={"environment": {"model_revision": "5f3c" * 16, long: long}},
        answers=(long, long, long), precisions=",".join(PRECISIONS), probe_every="20",
        cross_precisions="fp32,nvfp4,nvfp4-2d,mxfp4,nf4,fp8", merge_check="true",
    )  # fmt: skip
    page = opened(as_text(store, group, "html", rows=True))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    width = page.evaluate("document.body.getBoundingClientRect().width")
    assert width == PAPER
    beyond = page.evaluate(
        "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right >"
        " document.body.getBoundingClientRect().right + 1).map(e => e.outerHTML.slice(0, 80))"
    )
    assert beyond == []
