"""Formats: numbers, a layer and all layers; what is shown is computed, by its own children."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.ui.screenshots.camera import Shot

SIXTEEN = "6 -3 1.5 0.2 -0.7 2.4 4.8 -4.1 0 0.9 -1.2 3.4 2.9 -0.3 1.1 -5.9"
WRONG = "1 2 abc"


def all_there(page: Page) -> None:
    page.locator(".by-layer").wait_for()
    page.locator("#lens-layer-panel .histogram").first.wait_for()


def typed(page: Page) -> None:
    page.locator("#lens-numbers textarea").fill(SIXTEEN)
    page.locator("#lens-numbers textarea").press("Enter")
    page.locator("#lens-numbers-panel .rail").first.wait_for()
    all_there(page)
    page.locator("#lens-numbers textarea").fill(WRONG)
    page.locator(".lens-buttons button").first.click()
    page.locator("#lens-numbers-notice .is-error").wait_for()


FILLED = "#lens-numbers-panel .cells"

SHOTS = [
    Shot("formats", path="?page=formats", ready=FILLED, prepare=all_there),
    Shot("typed", path="?page=formats", ready=FILLED, prepare=typed),
    Shot("formats-zh", path="?page=formats", ready=FILLED, prepare=all_there, locale="zh-TW"),
]
