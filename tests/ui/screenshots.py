"""Pictures of the page to look at: ``python -m tests.ui.screenshots FOLDER [--real]``.

Each state at 1400 and 390 pixels, light and dark, over scripted runs; ``--real`` trains ``quick``
instead and takes the one picture that the README shows.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from playground import hardware
from playground.launcher import Launcher
from playground.store import RunStore
from playground.ui import build_app, launch
from tests import browser_setup
from tests.ui.conftest import FLAGS, free_port
from tests.ui.driving import field, unfold_settings, wait_for_points

SIZES = {"1400": (1400, 1000), "390": (390, 844)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--home", type=Path, help="show what this home folder holds already")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    worker = "playground.worker" if asked.real else "tests.ui.scripted_worker"
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        store = RunStore(asked.home or Path(home))
        launcher = Launcher(store, worker_module=worker)
        app = build_app(store, launcher, hardware.detect())
        port = free_port()
        launch(app, "127.0.0.1", port, store.home)
        browser = playwright.chromium.launch(executable_path=browser_setup.find(), args=FLAGS)
        url = f"http://127.0.0.1:{port}"
        (real if asked.real else scripted)(browser, url, asked.folder, store.home)
        browser.close()
        app.close(verbose=False)
        launcher.close()


def opened(browser: Any, url: str, size: str, dark: bool) -> Page:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    page.goto(url)
    page.get_by_role("button", name="Start comparison").wait_for()
    page.locator("#heading :is(.heading, .empty)").wait_for()
    return page


def each(browser: Any, url: str, folder: Path, name: str, prepare: Any = None) -> None:
    """The same state in every size and colour."""
    for size in SIZES:
        for dark in (False, True):
            page = opened(browser, url, size, dark)
            if prepare:
                prepare(page)
            page.evaluate("new Promise(requestAnimationFrame)")
            path = folder / f"{name}-{size}-{'dark' if dark else 'light'}.png"
            page.screenshot(path=path, full_page=True)
            page.context.close()


def unfold(page: Page) -> None:
    for name in ("Details and proof", "Memory by kind", "What was converted", "Log ▼"):
        page.get_by_role("button", name=name).click()
    unfold_settings(page)
    page.locator("table.whole").wait_for()


def unfold_details(page: Page) -> None:
    page.get_by_role("button", name="Details and proof").click()
    page.locator("table.whole").wait_for()
    hover(page)


def unfold_measured(page: Page) -> None:
    page.get_by_text("All that was found").click()
    page.get_by_role("button", name="Memory by kind").click()
    page.get_by_role("button", name="Details and proof").click()
    page.get_by_role("button", name="seconds", exact=True).click()
    page.locator('.charts[data-axis="time"]').wait_for()
    hover(page)


def wrong(page: Page) -> None:
    page.locator("#field-learning_rate textarea, #field-learning_rate input").fill("0,0002")
    page.get_by_role("button", name="Start comparison").click()
    page.get_by_role("alert").wait_for()


def hover(page: Page) -> None:
    page.locator(".charts .plot").first.wait_for()
    box = page.locator(".plot-loss .plot-box svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.45, box["y"] + box["height"] / 2)


def to_history(page: Page) -> None:
    page.get_by_role("tab", name="History").click()
    page.locator(".past a").first.wait_for()


def scripted(browser: Any, url: str, folder: Path, home: Path) -> None:
    each(browser, url, folder, "idle")
    each(browser, url, folder, "error", wrong)
    (home / "gate").write_text("34")
    page = opened(browser, url, "1400", False)
    page.get_by_role("button", name="Start quick").click()
    ready = "() => (document.querySelector('.charts')?.dataset.points ?? '').startsWith('34')"
    page.wait_for_function(ready)
    each(browser, url, folder, "running", hover)
    (home / "gate").write_text("60")
    expect(page.locator(".verdict-text")).to_contain_text("ends at", timeout=60_000)
    each(browser, url, folder, "finished", hover)
    each(browser, url, folder, "unfolded", unfold)
    for name in ("FP32", "BF16"):
        page.get_by_label(name, exact=True).check()
    page.get_by_role("button", name="Start comparison").click()
    page.locator(".arm-line.arm-fp32").wait_for(timeout=60_000)
    expect(page.locator(".verdict-text")).to_contain_text("ends at", timeout=60_000)
    each(browser, url, folder, "four", unfold_details)
    repeated(page, browser, url, folder, home)
    (home / "script.json").write_text('{"nan_at": [31], "diverge_at": 31, "skipped_at": [9]}')
    page.locator("#field-title").locator("input, textarea").fill("NaN at step 31 " + "x" * 90)
    page.get_by_role("button", name="Start comparison").click()
    expect(page.locator("#heading .chip")).to_have_text("diverged", timeout=60_000)
    each(browser, url, folder, "diverged")
    each(browser, url, folder, "history", to_history)


def repeated(page: Page, browser: Any, url: str, folder: Path, home: Path) -> None:
    """Three seeds: paused half way, then one precision short of memory, everything measured."""
    for name in ("FP32", "BF16"):
        page.get_by_label(name, exact=True).uncheck()
    field(page, "seeds").fill("3")
    page.locator("#form").get_by_role("button", name="Measuring").click()
    for key, value in {"probe_every": "20", "cross_precisions": "fp16, nvfp4"}.items():
        field(page, key).fill(value)
    (home / "gate").write_text("34")
    page.get_by_role("button", name="Start comparison").click()
    expect(page.locator("#heading h2")).to_contain_text("3 seeds", timeout=60_000)
    wait_for_points(page, 0, 34)
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.locator("#heading .chip")).to_have_text("paused", timeout=60_000)
    each(browser, url, folder, "paused")
    script = {"only": "nvfp4", "heal_at": 40, "memory_ends_at": 50}
    (home / "script.json").write_text(json.dumps(script))
    (home / "gate").write_text("60")
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.locator("#heading .chip")).to_have_text("failed", timeout=120_000)
    each(browser, url, folder, "repeated", hover)
    each(browser, url, folder, "measured", unfold_measured)


def real(browser: Any, url: str, folder: Path, home: Path) -> None:
    page = opened(browser, url, "1400", False)
    if page.locator("#heading .empty").count():
        page.get_by_role("button", name="Start quick").click()
    expect(page.locator(".verdict-text")).to_contain_text("ends at", timeout=1_200_000)
    hover(page)
    page.screenshot(path=folder / "screenshot.png", full_page=True)


if __name__ == "__main__":
    main()
