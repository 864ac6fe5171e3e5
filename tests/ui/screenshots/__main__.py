"""Pictures of every page and state: ``python -m tests.ui.screenshots FOLDER [--only NAME,...]``.

Each state at 1400 and 390 pixels, light and dark, over made-up runs, in files that are named
``STATE-WIDTH-COLOUR-PART.png``. ``--real`` trains ``quick`` instead and takes the one picture that
the README shows.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from playground import users
from playground.generate import Chat
from playground.store import RunStore
from playground.ui.login import Login
from tests import browser_setup
from tests.generate.fake_child import CHILD
from tests.ui.conftest import FLAGS, NAME, PASSWORD, SHARED_AS, serving
from tests.ui.screenshots import compare, formats, history, homes, report, shared, try_it
from tests.ui.screenshots.camera import SIZES, Shot, take

SHOTS = [
    shot
    for page in (compare, history, try_it, formats, shared, report)
    for shot in page.SHOTS
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help=f"of {', '.join(s.name for s in SHOTS)}")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--home", type=Path, help="with --real: what this home folder holds")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_setup.find(), args=FLAGS)
        if asked.real:
            real(browser, asked.folder, asked.home)
        else:
            scripted(browser, asked.folder, chosen(parser, asked.only))
        browser.close()


def chosen(parser: argparse.ArgumentParser, only: str) -> list[Shot]:
    names = [name for name in only.split(",") if name]
    if unknown := set(names) - {shot.name for shot in SHOTS}:
        parser.error(f"no state is called {', '.join(sorted(unknown))}")
    return [shot for shot in SHOTS if shot.name in names or not names]


def scripted(browser: Browser, folder: Path, shots: Sequence[Shot]) -> None:
    """A server for each home folder, and through a link for those who only watch."""

    def server(shot: Shot) -> tuple[str, bool]:
        return shot.home.__name__, shot.shared

    for (_, through_link), alike in groupby(sorted(shots, key=server), key=server):
        alike = list(alike)
        with tempfile.TemporaryDirectory() as made:
            store = RunStore(Path(made))
            ids = alike[0].home(store)
            login = Login({NAME: users.hashed(PASSWORD)}) if through_link else None
            host = SHARED_AS if through_link else None
            chat = Chat(store, child=CHILD)
            worker = "tests.ui.scripted_worker"
            with serving(store.home, worker, login, host, chat) as served:
                for shot in alike:
                    print(shot.name, flush=True)
                    take(browser, shot, served.url, ids, folder)
                homes.end(store)


def real(browser: Browser, folder: Path, home: Path | None) -> None:
    with (
        tempfile.TemporaryDirectory() as made,
        serving(home or Path(made), "playground.worker") as served,
    ):
        width, height = SIZES[1400]
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        page.goto(served.url)
        page.locator("#heading :is(.heading, .empty)").wait_for()
        if page.locator("#heading .empty").count():
            page.get_by_role("button", name="Start quick").click()
        expect(page.locator(".verdict-text")).to_contain_text("ends at", timeout=1_200_000)
        compare.hover(page)
        # As far as the results go: the command below them names the home folder.
        end = page.locator("#details").bounding_box()["y"]
        clip = {"x": 0, "y": 0, "width": width, "height": end}
        page.screenshot(path=folder / "screenshot.png", full_page=True, clip=clip)
        page.close()


if __name__ == "__main__":
    main()
