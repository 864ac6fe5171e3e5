"""What the browser tests do to a page, and read off it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Page

from playground.ui.text import labels
from tests.report.scripted import scripted

if TYPE_CHECKING:
    from tests.ui.conftest import Served


def points(page: Page) -> list[int]:
    """How many points each arm's loss line has."""
    drawn = page.locator(".charts").get_attribute("data-points") or ""
    return [int(n) for n in drawn.split(",") if n]


def wait_for_points(page: Page, arm: int, least: int) -> None:
    page.wait_for_function(
        "([arm, least]) => Number((document.querySelector('.charts')?.dataset.points ?? '')"
        ".split(',')[arm] ?? 0) >= least",
        arg=[arm, least],
    )


def start_quick(page: Page) -> None:
    page.get_by_role("button", name="Start quick").click()


def open_ended(served: Served, visit: Callable[..., Page], width: int = 1400, **made: Any) -> Page:
    """The page of a comparison that ended before anybody looked: no process, nothing to wait for.

    ``made`` goes to ``scripted``.
    """
    group = scripted(served.store, **made)
    page = visit(f"{served.url}/?group={group.id}", width=width)
    page.wait_for_selector(".verdict.is-done")
    return page


def field(page: Page, name: str):
    return page.locator(f"#field-{name}").locator("input, textarea").first


def at_rest(page: Page) -> None:
    """Waits until what was just shown for the first time is there for good.

    Gradio fills it once more in the frame after, over what was typed meanwhile: a frame that nobody
    types in, except a test.
    """
    page.evaluate("() => new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)))")


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).first.click()
    at_rest(page)


def unfold(page: Page, name: str) -> None:
    """Opens what is folded under a heading; folds it where it is open."""
    page.get_by_role("button", name=f"{name} ▼").click()
    at_rest(page)


def unfold_settings(page: Page) -> None:
    """Opens every section of the form's advanced settings."""
    for name in labels.SECTIONS.values():
        unfold(page, name)
