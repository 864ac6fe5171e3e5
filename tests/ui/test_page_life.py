"""A run outlives every page that shows it, and however often it is asked for, it is one."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.conftest import Served, until
from tests.ui.driving import points, start_quick, wait_for_points

pytestmark = pytest.mark.browser


def test_the_page_is_closed_at_step_5_and_another_browser_has_all_of_it(
    served: Served, visit
) -> None:
    served.hold_at(5)
    page = visit(served.url)
    start_quick(page)
    wait_for_points(page, 0, 5)
    page.context.close()
    served.hold_at(30)
    [run, _] = served.store.list_groups()[0].run_ids
    until(lambda: served.store.last_step(run).step == 30, "the run to go on with no page open")
    other = visit(served.url, width=390)
    wait_for_points(other, 0, 30)
    assert points(other)[0] == 30  # those before it came are there as well
    other.get_by_role("button", name="Stop", exact=True).click()
    expect(other.locator("#outcome")).to_contain_text("stopped at step 30")
    until(lambda: not served.store.live(), "its process to be gone", 10)


def test_five_clicks_in_two_tabs_are_one_comparison_and_nothing_starts_later(
    served: Served, visit
) -> None:
    served.hold_at(3)
    tabs = [visit(served.url), visit(served.url)]
    for click in range(5):
        tabs[click % 2].get_by_role("button", name="Start comparison").click()
    for tab in tabs:
        wait_for_points(tab, 0, 3)
    served.hold_at(60)
    for tab in tabs:
        tab.wait_for_selector(".verdict.is-done")
    [group] = served.store.list_groups()
    assert [(run.status, run.attempt) for run in group.runs] == [("finished", 1)] * 2
    assert served.store.live() == []
