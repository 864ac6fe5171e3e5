"""Try it in a real browser: with a child that has no models, and once with the real one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from playground.generate import Chat
from playground.store import RunStore
from tests.generate.fake_child import CHILD
from tests.generate.finished import finished_group
from tests.trained import copied
from tests.ui.conftest import Served, serving
from tests.ui.driving import open_tab, unfold

Visit = Callable[..., Page]
MODEL_MS = 90_000  # torch is imported and models are loaded


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Served]:
    """The page over two made-up comparisons, whose child has no models."""
    store = RunStore(tmp_path / "home")
    finished_group(store, title="Older")
    finished_group(store, title="Sums")
    with _served(store, CHILD) as page:
        yield page


def _served(store: RunStore, child: tuple[str, ...] | None = None) -> Any:
    chat = Chat(store, child=child) if child else Chat(store)
    return serving(store.home, "tests.ui.scripted_worker", chat=chat)


def opened(visit: Visit, url: str) -> Page:
    page = visit(url)
    open_tab(page, "Try it")
    expect(page.locator("#try-ask")).to_be_visible()
    return page


def ask(page: Page, question: str) -> None:
    page.locator("#try-question textarea").fill(question)
    page.locator("#try-ask").click()


def test_a_question_is_answered_by_all_side_by_side(asked: Served, visit: Visit) -> None:
    page = opened(visit, asked.url)
    page.locator("#try-examples button", has_text="<b>2</b>+2=").click()
    expect(page.locator("#try-question textarea")).to_have_value("<b>2</b>+2=")
    page.locator("#try-ask").click()
    said = page.locator(".answer .said")
    expect(said).to_have_count(3)
    expect(said.nth(2)).to_contain_text("<b>2</b>+2=")  # as it was typed, and no bold 2
    assert page.locator(".answer h4").all_inner_texts()[0].startswith("FP16, untuned")
    expect(page.locator(".answers")).to_have_attribute("aria-busy", "false")


def test_stop_and_whoever_asks_meanwhile(asked: Served, visit: Visit) -> None:
    page, other = opened(visit, asked.url), opened(visit, asked.url)
    stop = page.locator("#try-stop")
    expect(stop).to_be_disabled()
    ask(page, "endless")
    expect(page.locator(".answer .said").first).to_contain_text("word word")
    expect(stop).to_be_enabled()
    ask(other, "me too")
    expect(other.get_by_role("alert")).to_contain_text("Another question is being answered")
    page.locator("#try-stop").click()
    expect(page.locator(".answers")).to_have_attribute("aria-busy", "false")
    expect(page.locator(".answer").first).to_contain_text("stopped")
    expect(stop).to_be_disabled()
    ask(other, "now")
    expect(other.locator(".answer .said").last).to_contain_text("now")


def test_what_cannot_be_asked_is_said_and_nothing_typed_is_lost(
    asked: Served, visit: Visit
) -> None:
    page = opened(visit, asked.url)
    unfold(page, "How the answer is chosen")
    page.locator("#try-temperature input, #try-temperature textarea").fill("warm")
    ask(page, "hello")
    expect(page.get_by_role("alert")).to_contain_text("Temperature is 'warm'; it must be a number")
    expect(page.locator("#try-question textarea")).to_have_value("hello")


def test_an_empty_question_asks_the_example_that_it_shows(asked: Served, visit: Visit) -> None:
    page = opened(visit, asked.url)
    expect(page.locator("#try-question textarea")).to_have_attribute("placeholder", "1+1=")
    page.locator("#try-ask").click()
    expect(page.locator(".answer .said").last).to_contain_text("1+1=")
    expect(page.locator("#try-question textarea")).to_have_value("1+1=")


def test_a_conversation_goes_on_and_ends_with_a_new_one(asked: Served, visit: Visit) -> None:
    page = opened(visit, asked.url)
    go_on, new = page.locator("#try-go-on"), page.locator("#try-new")
    expect(new).to_be_hidden()
    ask(page, "first")
    go_on.click()
    expect(page.locator("#try-earlier .answer")).to_have_count(3)
    expect(page.locator("#try-question textarea")).to_be_focused()
    expect(page.locator("#try-question textarea")).to_have_value("")
    expect(page.locator("#try-answers")).to_be_empty()
    ask(page, "second")
    last = asked.store.list_groups()[0].run_ids[-1]
    said = page.locator("#try-answers .said").last
    expect(said).to_have_text(f"tuned {last}: first, tuned {last}: first, second")
    # The same question once more is no further turn.
    expect(go_on).to_be_visible()
    said.evaluate("(answer) => answer.classList.add('first-time')")
    page.locator("#try-ask").click()
    expect(page.locator(".first-time")).to_have_count(0)  # it was asked again
    expect(said).to_have_text(f"tuned {last}: first, tuned {last}: first, second")
    expect(go_on).to_be_visible()
    new.click()
    expect(page.locator("#try-earlier")).to_be_empty()
    expect(new).to_be_hidden()
    ask(page, "third")
    expect(said).to_have_text(f"tuned {last}: third")


def test_a_conversation_with_a_comparison_deleted_meanwhile_is_no_other_s(
    asked: Served, visit: Visit
) -> None:
    page = opened(visit, asked.url)
    ask(page, "first")
    page.locator("#try-go-on").click()
    expect(page.locator("#try-earlier .answer")).to_have_count(3)
    asked.store.delete(asked.store.list_groups()[0].id)
    open_tab(page, "Formats")
    open_tab(page, "Try it")
    expect(page.locator("#try-group input")).to_have_value(re.compile("Older"))
    expect(page.locator("#try-earlier")).to_be_empty()
    ask(page, "second")
    last = asked.store.list_groups()[0].run_ids[-1]
    expect(page.locator("#try-answers .said").last).to_have_text(f"tuned {last}: second")


def test_another_comparison_is_asked_beside_and_instead(asked: Served, visit: Visit) -> None:
    page = opened(visit, asked.url)
    page.locator("#try-beside input").click()
    page.get_by_role("option", name="Older").click()
    ask(page, "hello")
    heads = page.locator("#try-answers h4")
    expect(heads).to_have_count(5)
    expect(heads.last).to_contain_text("NVFP4, tuned in “Older”")
    expect(page.locator("#try-go-on")).to_be_visible()
    # Whom it is asked of cannot be changed before they have answered.
    ask(page, "endless")
    expect(page.locator(".answer .said").first).to_contain_text("word word")
    expect(page.locator("#try-group input")).to_be_disabled()
    page.locator("#try-stop").click()
    page.locator("#try-group input").click()
    page.get_by_role("option", name="Older").click()
    expect(page.locator("#try-answers")).to_be_empty()
    ask(page, "now")
    expect(page.locator("#try-answers .answer")).to_have_count(3)
    expect(page.locator(".answer .said").last).to_contain_text("now")


def test_a_run_that_starts_takes_the_memory_and_the_page_says_so(
    asked: Served, visit: Visit
) -> None:
    asked.hold_at(3)
    page = opened(visit, asked.url)
    ask(page, "endless")
    expect(page.locator(".answer .said").first).to_contain_text("word word")
    starting = visit(asked.url)
    starting.get_by_role("button", name="Start quick").click()
    expect(page.get_by_role("alert")).to_contain_text("A run has started")
    ask(page, "again")
    expect(page.get_by_role("alert")).to_contain_text("is running or waiting")


def test_held_out_rows_can_be_narrowed_and_show_markup_as_text(asked: Served, visit: Visit) -> None:
    page = opened(visit, asked.url)
    rows = page.locator("table.held-out tbody")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("<b>2</b>+2=")
    page.get_by_label("Where precisions differ").check()
    expect(rows).to_have_count(1)


@pytest.fixture
def trained(trained_home: Path, tmp_path: Path) -> Iterator[Served]:
    """The page over a comparison that has been trained, and the real child."""
    with _served(copied(trained_home, tmp_path / "home")) as page:
        yield page


@pytest.mark.slow
def test_the_real_models_answer(trained: Served, visit: Visit) -> None:
    """What each writes is what its run wrote; the memory is given back on demand."""
    run_id = trained.store.list_groups()[0].run_ids[0]
    before, after = (trained.store.eval_answers(run_id, when)[0] for when in ("before", "after"))
    page = opened(visit, trained.url)
    page.locator("#try-examples button").first.click()
    expect(page.locator("#try-question textarea")).to_have_value(after.prompt)
    page.locator("#try-ask").click()
    done = page.locator('.answers[aria-busy="false"]')
    expect(done).to_be_visible(timeout=MODEL_MS)
    said = page.locator(".answer .said")
    assert said.nth(0).inner_text() == before.answer
    assert said.nth(1).inner_text() == after.answer
    page.locator("#try-free").click()
    expect(page.locator("#try-notice")).to_contain_text("memory is free")
