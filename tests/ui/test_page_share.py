"""The share rules in a real browser: one who logs in, one who only watches, and their addresses."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.report.scripted import scripted
from tests.ui.conftest import NAME, PASSWORD, Served
from tests.ui.driving import open_tab, start_quick, wait_for_points

pytestmark = pytest.mark.browser


def log_in(page: Page) -> None:
    page.get_by_role("link", name="Log in").click()
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#account")).to_contain_text(f"Logged in as {NAME}")


def test_a_visitor_sees_everything_and_can_press_nothing(shared: Served, visit) -> None:
    shared.hold_at(20)
    owner = visit(shared.url, ready="Log in to start")
    log_in(owner)
    start_quick(owner)
    wait_for_points(owner, 0, 20)

    watching = visit(shared.url, ready="Log in to start")
    expect(watching.locator("#account")).to_contain_text("You are watching")
    wait_for_points(watching, 0, 20)
    starts = watching.get_by_role("button", name="Log in to start").all()
    assert len(starts) > 2  # the form's and the cards'
    for start in starts:
        expect(start).to_be_disabled()
    for name in ("Stop", "Pause"):
        expect(watching.get_by_role("button", name=name, exact=True)).to_be_disabled()
    # What is disabled is only a courtesy: enabled by hand, the server refuses all the same.
    watching.evaluate("document.getElementById('stop').disabled = false")
    watching.locator("#stop").click()
    expect(watching.get_by_text("so it asks for a login")).to_be_visible()
    shared.hold_at(40)
    wait_for_points(watching, 0, 40)  # live, and it still goes on
    assert len(shared.store.list_groups()) == 1
    assert all(run.stop_kind is None for run in shared.store.live())

    open_tab(watching, "History")
    expect(watching.locator("#past")).to_contain_text("Quick look")
    shared.hold_at(60)
    open_tab(watching, "Compare")
    expect(watching.locator(".verdict-text")).to_contain_text("NVFP4 ends at")

    owner.get_by_role("button", name="Log out").click()
    expect(owner.locator("#start")).to_have_text("Log in to start")
    expect(owner.locator("#start")).to_be_disabled()


def test_an_address_opens_its_page_and_comparison_for_a_visitor(shared: Served, visit) -> None:
    group = scripted(shared.store, "Quick look").id
    owner = visit(f"{shared.url}/?group={group}", ready="Log in to start")
    log_in(owner)
    expect(owner.locator(".verdict-text")).to_contain_text("NVFP4 ends at")
    open_tab(owner, "History")
    expect(owner).to_have_url(f"{shared.url}/?group={group}&page=history")

    other = visit(owner.url, ready=None)
    expect(other.get_by_role("tab", name="History")).to_have_attribute("aria-selected", "true")
    expect(other.locator("#past")).to_contain_text("Quick look")
    other.locator("#account").get_by_role("link", name="Log in").click()
    other.get_by_role("link", name="Back to the page").click()
    expect(other.get_by_role("tab", name="History")).to_have_attribute("aria-selected", "true")
    open_tab(other, "Compare")
    expect(other.locator(".verdict-text")).to_contain_text("NVFP4 ends at")
    expect(other).not_to_have_url(f"{shared.url}/?page=history")


def test_a_wrong_password_keeps_the_name(shared: Served, visit) -> None:
    page = visit(f"{shared.url}/login", ready="Log in", dark=True, may_fail=True)
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not go together")
    expect(page.get_by_label("Name")).to_have_value(NAME)


def test_a_page_for_this_machine_alone_speaks_of_no_login(served: Served, visit) -> None:
    page = visit(f"{served.url}/?page=nonsense")
    expect(page.get_by_text("Nothing has run yet")).to_be_visible()
    assert page.get_by_text("Log in").count() == 0
    expect(page.get_by_role("button", name="Start comparison")).to_be_enabled()
    expect(page.get_by_role("tab", name="Compare")).to_have_attribute("aria-selected", "true")
