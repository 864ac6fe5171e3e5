"""The browser's part of ``bench_page``: what its main thread does while charts are updated.

A trace of Chromium's own says what each task of the thread took: the one that draws the page,
between two marks that the page itself sets. Opening the page is told apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.bench_store import a_step
from playground.store import RunStore
from tests import browser_setup
from tests.ui.conftest import FLAGS

UPDATES = 10
MANY = 200
_CATEGORIES = ["toplevel", "blink.user_timing", "devtools.timeline"]
_TASKS = {"RunTask", "ThreadControllerImpl::RunTask"}


@dataclass(frozen=True)
class Ways:
    """How a page is looked at while it is updated."""

    name: str
    width: int = 1400
    smooth: bool = False
    log: bool = False
    zoom: bool = False


WAYS = (
    Ways("as it opens"),
    Ways("smooth, log", smooth=True, log=True),
    Ways("zoomed in", zoom=True),
    Ways("390 px wide, smooth, log", width=390, smooth=True, log=True),
)


class Charts:
    """A page in a browser that shows a comparison, and the comparison's steps."""

    def __init__(self, browser: Browser, store: RunStore, url: str, group: str, width: int) -> None:
        self._store, self._runs = store, store.get_group(group).run_ids
        self._step = 1 + max(store.last_step(run).step for run in self._runs)
        self.page: Page = browser.new_page(viewport={"width": width, "height": 1000})
        self.page.set_default_timeout(120_000)
        self.page.goto(f"{url}/?group={group}")
        self.page.locator(".charts .plot svg .line").first.wait_for()
        self.settle()

    def settle(self) -> None:
        """Until what is under way has been painted."""
        self.page.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def look(self, ways: Ways) -> None:
        if ways.smooth:
            self.page.locator(".smoother select").select_option(index=2)
        if ways.log:
            self.page.get_by_role("button", name="Log scale").click()
        if ways.zoom:
            self.page.locator(".plot-loss svg").first.focus()
            self.page.keyboard.press("+")
        self.settle()

    def update(self, asked_at_once: bool = False) -> None:
        """A step more of every run, drawn and painted."""
        drawn = self.page.locator(".charts").first.get_attribute("data-draws")
        for run in self._runs:
            self._store.append(run, a_step(self._step))
        self._step += 1
        if asked_at_once:  # as when its tab is looked at again
            self.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        self.page.wait_for_function(
            "n => document.querySelector('.charts').dataset.draws !== n", arg=drawn
        )
        self.settle()


def browser(store: RunStore, url: str, group: str) -> None:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser_setup.find(), args=FLAGS)
        for ways in WAYS:
            charts = Charts(chromium, store, url, group, ways.width)
            charts.look(ways)
            with traced(chromium, charts.page) as tasks:
                for _ in range(UPDATES):
                    charts.update()
            tell(f"{UPDATES} updates, {ways.name}", tasks)
            charts.page.close()
        back(chromium, Charts(chromium, store, url, group, 1400))
        memory(Charts(chromium, store, url, group, 1400))
        chromium.close()


def back(chromium: Browser, charts: Charts) -> None:
    """A tab that nobody looked at meanwhile, and then somebody does."""
    hide = "is => Object.defineProperty(document, 'hidden', { value: is, configurable: true })"
    charts.page.evaluate(hide, True)
    for _ in range(1000):
        charts._store.append(charts._runs[0], a_step(charts._step))
        charts._step += 1
    charts.page.evaluate(hide, False)
    with traced(chromium, charts.page) as tasks:
        charts.update(asked_at_once=True)
    tell("looked at again, 1,000 steps later", tasks)
    charts.page.close()


@contextmanager
def traced(chromium: Browser, page: Page) -> Iterator[list[tuple[float, float]]]:
    """Each task of the page's thread within: milliseconds from begin to end, and of a core."""
    found: list[tuple[float, float]] = []
    chromium.start_tracing(page=page, categories=_CATEGORIES)
    page.evaluate("performance.mark('bench-begins')")
    yield found
    page.evaluate("performance.mark('bench-ends')")
    events = json.loads(chromium.stop_tracing())["traceEvents"]
    marks = {e["name"]: e for e in events if e["name"].startswith("bench-")}
    begin, end = marks["bench-begins"], marks["bench-ends"]
    for e in events:
        mine = all(e.get(key) == begin[key] for key in ("pid", "tid"))
        if mine and e["name"] in _TASKS and begin["ts"] <= e["ts"] <= end["ts"]:
            found.append((e.get("dur", 0) / 1000, e.get("tdur", 0) / 1000))
    assert found, "the trace has no tasks of the page's thread"


def tell(what: str, tasks: list[tuple[float, float]]) -> None:
    longest, most = (max(of) for of in zip(*tasks, strict=True))
    long = sum(took > 50 for took, _ in tasks)
    # The two differ where other programs take the cores.
    print(
        f"browser      {longest:6.0f} ms the longest task, {most:6.0f} ms of a core the most, "
        f"{long} of {len(tasks)} over 50 ms: {what}"
    )


def memory(charts: Charts) -> None:
    """What is there after many updates beyond what was there after a few."""
    client = charts.page.context.new_cdp_session(charts.page)
    client.send("Performance.enable")

    def counted() -> dict[str, float]:
        client.send("HeapProfiler.collectGarbage")
        metrics = client.send("Performance.getMetrics")["metrics"]
        wanted = ("JSHeapUsedSize", "Nodes", "JSEventListeners")
        return {m["name"]: m["value"] for m in metrics if m["name"] in wanted}

    def after(updates: int) -> dict[str, float]:
        for _ in range(updates):
            charts.update(asked_at_once=True)
        return counted()

    few, many = after(UPDATES), after(MANY)
    grown = ", ".join(f"{name} {few[name]:,.0f} -> {many[name]:,.0f}" for name in few)
    print(f"memory       {MANY} updates more: {grown}")
    charts.page.close()
