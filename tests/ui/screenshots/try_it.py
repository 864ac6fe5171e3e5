"""Try it: before a question, and answered; the child that answers has no models."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.ui.screenshots.camera import Shot
from tests.ui.screenshots.homes import over


def ask(page: Page) -> None:
    page.locator("#try-examples button").first.click()
    page.locator("#try-ask").click()
    page.locator('.answers[aria-busy="false"]').wait_for()
    page.locator("#try-sampling > button").click()


SHOTS = [
    Shot("try-empty", path="?page=try", ready="#try-empty .empty"),
    Shot("try", over, "?page=try&group={answered}", "#try-ask"),
    Shot("answered", over, "?page=try&group={answered}", "#try-ask", prepare=ask),
    Shot("try-zh", over, "?page=try&group={answered}", "#try-ask", locale="zh-TW"),
]
