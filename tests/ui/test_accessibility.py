"""Every page for everybody: axe-core finds nothing serious, and the keyboard alone does it all."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.ui.conftest import Served
from tests.ui.driving import open_tab, start_quick, unfold_settings, wait_for_points

pytestmark = pytest.mark.browser

BAD = ("serious", "critical")
NOT_OURS: dict[str, str] = {}
"""Rules that Gradio's own markup breaks and we cannot mend, with the reason."""


def faults(page: Page) -> list[str]:
    """What axe-core finds that keeps somebody from using the page: rule, element, why."""
    page.evaluate("Promise.all(document.getAnimations().map(a => a.finished.catch(() => 0)))")
    found: dict[str, Any] = Axe().run(page).response
    assert {"color-contrast", "button-name"} <= {rule["id"] for rule in found["passes"]}
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        if rule["impact"] in BAD and rule["id"] not in NOT_OURS
        for node in rule["nodes"]
    ]


def every_tab(page: Page) -> list[str]:
    found = []
    names = page.get_by_role("tab").all_inner_texts()
    assert names[0] == "Compare" and "History" in names
    for name in names:
        open_tab(page, name)
        found += [f"{name}: {fault}" for fault in faults(page)]
    open_tab(page, "Compare")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_axe_finds_nothing_serious(served: Served, visit, width: int, dark: bool) -> None:
    served.hold_at(20)
    page = visit(served.url, width=width, dark=dark)
    unfold_settings(page)
    found = [f"empty {fault}" for fault in every_tab(page)]
    start_quick(page)
    wait_for_points(page, 0, 20)
    found += [f"live {fault}" for fault in faults(page)]
    served.hold_at(60)
    expect(page.locator("#heading .chip")).to_have_text("finished")
    found += [f"finished {fault}" for fault in every_tab(page)]
    assert found == []


def test_axe_finds_nothing_serious_at_the_login(shared: Served, visit) -> None:
    for dark in (False, True):
        page = visit(f"{shared.url}/login", ready="Log in", dark=dark)
        assert faults(page) == []


def press_until(page: Page, key: str, reached: str, most: int = 150) -> None:
    """Presses Tab until what ``reached`` selects has the focus, and sees that it is shown."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate("s => document.activeElement.matches(s)", reached):
            assert page.evaluate(
                """() => {
                  const style = getComputedStyle(document.activeElement);
                  return style.outlineStyle !== "none" || style.boxShadow !== "none";
                }"""
            ), f"the focus on {reached} cannot be seen"
            return
    pytest.fail(f"{reached} is not reached by {key}")


def test_the_keyboard_alone_starts_stops_and_finds_again(served: Served, visit) -> None:
    served.hold_at(10)
    page = visit(served.url)
    press_until(page, "Tab", "#start")
    page.keyboard.press("Enter")
    wait_for_points(page, 0, 10)
    press_until(page, "Tab", "#stop")
    page.keyboard.press("Space")
    expect(page.locator("#heading .chip")).to_have_text("stopped")
    page.evaluate("document.activeElement.blur()")
    press_until(page, "Shift+Tab", "[data-tab-id=history]", 300)
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="History", exact=True)).to_have_attribute(
        "aria-selected", "true"
    )
    press_until(page, "Tab", 'a[href*="group="]')
    page.keyboard.press("Enter")
    expect(page.locator("#heading")).to_contain_text("stopped")
