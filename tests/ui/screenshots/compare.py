"""Compare: the cards and the form, and a comparison in every state."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.ui.driving import unfold_settings
from tests.ui.screenshots.camera import Shot
from tests.ui.screenshots.homes import over, running


def unfold(page: Page) -> None:
    for fold in ("details", "measured", "coverage", "export", "log"):
        page.locator(f"#{fold} > button").click()
    page.locator("table.whole").wait_for()


def unfold_details(page: Page) -> None:
    page.locator("#details > button").click()
    page.locator("table.whole").wait_for()


def unfold_measured(page: Page) -> None:
    page.locator(".rest summary").first.click()
    page.locator("#measured > button").click()
    page.get_by_role("button", name="seconds", exact=True).click()
    page.locator('.charts[data-axis="time"]').wait_for()


def wrong(page: Page) -> None:
    page.locator("#field-learning_rate").locator("input, textarea").fill("0,0002")
    page.get_by_role("button", name="Start comparison").click()
    page.locator("#notice [role=alert]").wait_for()


def unfold_form(page: Page) -> None:
    for details in page.locator(".preset summary").all()[:1]:
        details.click()
    page.locator("#gpu-presets > button").click()
    unfold_settings(page)
    page.locator("#preview-button").click()
    page.locator(".previewed").wait_for()
    page.locator("#fit-button").click()
    page.locator(".fitted").wait_for()


def hover(page: Page) -> None:
    """A value is read off the chart."""
    page.locator("#results .plot-loss .plot-box svg").scroll_into_view_if_needed()
    box = page.locator("#results .plot-loss .plot-box svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.45, box["y"] + box["height"] / 2)


def focus(page: Page) -> None:
    page.locator("#start").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")


DRAWN = "#results .charts .plot-loss .line"
CHINESE = {"locale": "zh-TW"}

SHOTS = [
    Shot("idle"),
    Shot("error", prepare=wrong),
    Shot("form", prepare=unfold_form),
    Shot("focus", pose=focus),
    Shot("running", running, "?group={running}", DRAWN, pose=hover),
    Shot("finished", over, "?group={finished}", DRAWN),
    Shot("hovered", over, "?group={finished}", DRAWN, pose=hover),
    Shot("unfolded", over, "?group={finished}", DRAWN, prepare=unfold),
    Shot("four", over, "?group={four}", DRAWN, prepare=unfold_details, pose=hover),
    Shot("ladder", over, "?group={ladder}", DRAWN, prepare=unfold_details, pose=hover),
    Shot("paused", over, "?group={paused}", DRAWN),
    Shot("repeated", over, "?group={repeated}", DRAWN, pose=hover),
    Shot("measured", over, "?group={repeated}", DRAWN, prepare=unfold_measured),
    Shot("diverged", over, "?group={diverged}", DRAWN),
    Shot("idle-zh", **CHINESE),
    Shot("finished-zh", over, "?group={finished}", DRAWN, prepare=unfold, **CHINESE),
    Shot("running-zh", running, "?group={running}", DRAWN, **CHINESE),
]
