"""Formats: numbers, a layer and all layers; what is shown is computed, by its own children."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.ui.screenshots.camera import Shot

SIXTEEN = "6 -3 1.5 0.2 -0.7 2.4 4.8 -4.1 0 0.9 -1.2 3.4 2.9 -0.3 1.1 -5.9"
WRONG = "1 2 abc"
ONE_BLOCK = "document.querySelectorAll('#lens-numbers-panel .cells li:not(.key)').length === 16"


def all_there(page: Page) -> None:
    page.locator(".by-layer").wait_for()
    page.locator("#lens-layer-panel .histogram").first.wait_for()


def look_at(page: Page, numbers: str) -> None:
    page.locator("#lens-numbers textarea").fill(numbers)
    page.locator(".lens-buttons button").first.click()


def typed(page: Page) -> None:
    all_there(page)
    look_at(page, SIXTEEN)
    page.wait_for_function(ONE_BLOCK)


def wrong(page: Page) -> None:
    look_at(page, WRONG)
    page.locator("#lens-numbers-notice .is-error").wait_for()


FILLED = "#lens-numbers-panel .cells"

SHOTS = [
    Shot("formats", path="?page=formats", ready=FILLED, prepare=all_there),
    Shot("typed", path="?page=formats", ready=FILLED, prepare=typed),
    Shot("mistyped", path="?page=formats", ready=FILLED, prepare=wrong),
    Shot("formats-zh", path="?page=formats", ready=FILLED, prepare=all_there, locale="zh-TW"),
]
