"""How one state is brought up and taken: wide and narrow, light and dark, in readable parts.

A full page at 390 pixels is too long for one picture, so each is cut into strips that are laid side
by side.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

from playground.store import RunStore

SIZES = {1400: (1400, 1000), 390: (390, 844)}
PART = {1400: (1, 1500), 390: (3, 1300)}
"""By width: strips in a picture, and how high each is, in pixels."""
_GAP, _BETWEEN = 12, (128, 128, 128)
PATIENCE_MS = 300_000  # models are loaded where a state shows what they say

Home = Callable[[RunStore], Mapping[str, str]]
Act = Callable[[Page], None]


def nothing(store: RunStore) -> dict[str, str]:
    """A home folder in which nothing has run."""
    return {}


def stay(page: Page) -> None:
    """Takes the page as it comes."""


@dataclass(frozen=True)
class Shot:
    """One state to be taken.

    Attributes:
        home: fills the home folder; shots of the same one share a server. Returns ids by name.
        path: what is opened; ``{name}`` stands for an id of ``home``'s.
        ready: what is there once the page can be prepared.
        prepare: brings the state up, once.
        pose: before each picture, for what a resized window loses.
        shared: through a link, by one who has not logged in.
        printed: on paper instead, as the browser prints it.
    """

    name: str
    home: Home = nothing
    path: str = ""
    ready: str = "#heading :is(.heading, .empty)"
    prepare: Act = stay
    pose: Act = stay
    locale: str = "en-US"
    shared: bool = False
    printed: bool = False


def take(browser: Browser, shot: Shot, url: str, ids: Mapping[str, str], folder: Path) -> None:
    """Writes ``NAME-WIDTH-light-1.png`` and so on into ``folder``."""
    width, height = SIZES[1400]
    viewport = {"width": width, "height": height}
    context = browser.new_context(viewport=viewport, color_scheme="light", locale=shot.locale)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    address = shot.path.format(**ids)
    page.goto(address if address.startswith("file:") else f"{url}/{address}")
    page.locator(shot.ready).first.wait_for()
    shot.prepare(page)
    if shot.printed:
        print_out(page, folder, shot.name)
    else:
        each_way(page, shot, folder)
    context.close()


def each_way(page: Page, shot: Shot, folder: Path) -> None:
    """Wide and narrow, light and dark."""
    for wide, size in SIZES.items():
        page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        for colour in ("light", "dark"):
            page.emulate_media(color_scheme=colour)
            settle(page)
            shot.pose(page)
            settle(page)
            picture = page.screenshot(full_page=True)
            keep(picture, wide, folder, f"{shot.name}-{wide}-{colour}")


def print_out(page: Page, folder: Path, name: str) -> None:
    """A PDF, and a picture of each of its pages where something here can draw them."""
    path = folder / f"{name}.pdf"
    page.pdf(path=path, prefer_css_page_size=True, format="A4", print_background=False)
    try:
        import pypdfium2
    except ImportError:
        print(f"{path} has no pictures: that takes the package pypdfium2.")
        return
    for number, sheet in enumerate(pypdfium2.PdfDocument(path), start=1):
        sheet.render(scale=1.6).to_pil().save(folder / f"{name}-{number}.png")


def settle(page: Page) -> None:
    """Waits until nothing moves: transitions, and what is drawn anew in another size."""
    page.evaluate("Promise.all(document.getAnimations().map(a => a.finished.catch(() => 0)))")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def keep(picture: bytes, width: int, folder: Path, name: str) -> None:
    """Cuts a long picture into strips and writes as many files as they take."""
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    strips, high = PART[width]
    tops = list(range(0, whole.height, high))
    for old in folder.glob(f"{name}-*.png"):
        old.unlink()
    for part in range(0, len(tops), strips):
        cut = [
            whole.crop((0, top, whole.width, min(top + high, whole.height)))
            for top in tops[part : part + strips]
        ]
        sheet = Image.new(
            "RGB",
            (sum(c.width + _GAP for c in cut) - _GAP, max(c.height for c in cut)),
            _BETWEEN,
        )
        for place, strip in enumerate(cut):
            sheet.paste(strip, (place * (whole.width + _GAP), 0))
        sheet.save(folder / f"{name}-{part // strips + 1}.png")
