"""What is seen through a link: the login, and the page of one who only watches."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.ui.conftest import NAME
from tests.ui.screenshots.camera import Shot
from tests.ui.screenshots.homes import running


def fail_to_log_in(page: Page) -> None:
    page.locator("input").first.fill(NAME)
    page.locator("input").nth(1).fill("wrong")
    page.locator("button").first.click()
    page.get_by_role("alert").wait_for()


WATCHED = "#results .charts .plot-loss .line"
LINK = {"home": running, "shared": True}

SHOTS = [
    Shot("login", path="login", ready="main form", **LINK),
    Shot("login-wrong", path="login", ready="main form", prepare=fail_to_log_in, **LINK),
    Shot("login-zh", path="login", ready="main form", locale="zh-TW", **LINK),
    Shot("visitor", path="?group={running}", ready=WATCHED, **LINK),
]
