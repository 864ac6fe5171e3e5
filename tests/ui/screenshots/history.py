"""History: the list, one comparison managed, runs laid over each other."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.ui.screenshots.camera import Shot
from tests.ui.screenshots.homes import over


def narrow_down(page: Page) -> None:
    page.locator("#filter-words").locator("input, textarea").fill("quick")
    page.locator("#filter-since").locator("input, textarea").fill("tomorrow")
    page.locator("#past-refused .notice").wait_for()


def tick(page: Page) -> None:
    for box in page.locator("#past .arm > input").all()[:2]:
        box.check()
    page.locator(".ticked a").wait_for()


def manage(page: Page) -> None:
    page.get_by_role("button", name="Manage Four precisions").click()
    page.locator("#managed").wait_for()


def ask_to_delete(page: Page) -> None:
    manage(page)
    page.locator("#managed-delete").click()
    page.get_by_role("dialog").wait_for()


LISTED = ".past a"
LAID = "#overlay-charts .plot-loss .line"

SHOTS = [
    Shot("history-empty", path="?page=history", ready="#past .empty"),
    Shot("history", over, "?page=history", LISTED, prepare=tick),
    Shot("filtered", over, "?page=history", LISTED, prepare=narrow_down),
    Shot("managed", over, "?page=history", LISTED, prepare=manage),
    Shot("delete", over, "?page=history", LISTED, prepare=ask_to_delete),
    Shot("overlay", over, "?runs={runs}", LAID),
    Shot("history-zh", over, "?page=history", LISTED, locale="zh-TW"),
]
