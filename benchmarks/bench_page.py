"""What a page costs that shows eight precisions over 10,000 steps: server, wire, browser, training.

    python -m benchmarks.bench_page [--arms 8] [--steps 10000] [--visitors 20] [--only tick,...]

tick      a tick that finds nothing new and one that does, asked as a browser asks: milliseconds and
          bytes. Promised: under 5 ms on the server and under 1 KB; under 200 KB.
browser   ten updates in Chromium, looked at in several ways: the longest task of the page's thread.
          Promised: none over 200 ms. And what 200 updates leave behind in memory.
training  the median step of ``quick`` with and without so many pages open, turn and turn about.
          Promised: at most 3 % slower.

What the server spends is the CPU time of its process, so that of another program does not count;
the wire is what a browser receives.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import psutil

from benchmarks.bench_store import BATCH, a_step
from playground import hardware
from playground.config import PRECISIONS, parse_config
from playground.events import Eval, Facts, Status
from playground.launcher import Launcher
from playground.presets import defaults, load_preset
from playground.store import RunStore

PROMISED = {"idle_ms": 5, "idle_bytes": 1000, "news_bytes": 200_000, "task_ms": 200, "slower": 1.03}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3, help="of training, with and without")
    parser.add_argument("--only", default="tick,browser,training")
    given = parser.parse_args()
    print(f"promised: {PROMISED}")
    wanted = given.only.split(",")
    if "tick" in wanted or "browser" in wanted:
        with tempfile.TemporaryDirectory() as home:
            store = RunStore(Path(home))
            group = fill(store, given.arms, given.steps)
            if "tick" in wanted:
                with served(store.home) as (url, server):
                    ticks(store, url, server, group, given.steps, given.repeat)
            if "browser" in wanted:
                from benchmarks.bench_page_browser import browser

                with served(store.home, "--restless") as (url, _):
                    browser(store, url, group)
    if "training" in wanted:
        training(given.visitors, given.rounds)


def fill(store: RunStore, arms: int, steps: int) -> str:
    """A comparison of so many precisions at ``steps`` of twice as many, all of them going on."""
    names = list(PRECISIONS)[:arms]
    values = defaults() | {"model": "tiny", "dataset": "iso-dates"}
    values["training"] = values["training"] | {"max_steps": 2 * steps}
    configs = [parse_config(values | {"precision": name}) for name in names]
    group = store.create_group("quick", "long runs", configs, "1:1.0")
    for run_id in group.run_ids:
        store.append(run_id, Status(status="running"), Facts(how="emulated", peak_mib=24.0))
        for start in range(1, steps + 1, BATCH):
            numbers = range(start, min(start + BATCH, steps + 1))
            store.append(run_id, *(a_step(n) for n in numbers))
        evals = range(0, steps + 1, max(steps // 100, 1))
        store.append(run_id, *(Eval(step=n, when="during", loss=1.0, tokens=900) for n in evals))
    return group.id


class Nobody:
    """A launcher of a bench: it starts and ends nothing."""

    def __getattr__(self, name: str) -> Callable[..., str]:
        return lambda *_, **__: ""


@contextmanager
def page(store: RunStore) -> Iterator[str]:
    from playground.ui import build_app, launch
    from tests.ui.waiting import free_port

    port = free_port()
    app = build_app(store, Nobody(), hardware.detect())  # type: ignore[arg-type]
    launch(app, "127.0.0.1", port, store.home)
    yield f"http://127.0.0.1:{port}"
    app.close(verbose=False)


@contextmanager
def served(home: Path, *flags: str) -> Iterator[tuple[str, psutil.Process]]:
    """The page in a process of its own, whose CPU time is then the server's alone."""
    command = [sys.executable, "-m", "benchmarks.bench_page_server", str(home), *flags]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().strip(), psutil.Process(server.pid)
    finally:
        server.terminate()
        server.wait()


@dataclass(frozen=True)
class Reply:
    """One answer: its bytes on the wire and unpacked."""

    wire: int
    plain: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.plain) if self.plain else None


class Visitor:
    """A page as the server sees it: opened once, then one question for news after another.

    It takes next to nothing of the cores itself, which a browser somewhere else would not share.
    """

    def __init__(self, url: str, group: str | None, name: str = "visitor") -> None:
        self.connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
        self.group, self.session = group, name
        config = self._ask("GET", "/config", {}).body
        charts = next(
            c["id"] for c in config["components"] if c["props"].get("elem_id") == "charts"
        )
        self.load_at = next(
            d
            for d in config["dependencies"]
            if charts in d["outputs"] and any(event == "load" for _, event in d["targets"])
        )
        self.of = {"group": "", "stamp": ""}

    def open(self) -> Reply:
        body = {
            "data": [None] * len(self.load_at["inputs"]),
            "fn_index": self.load_at["id"],
            "session_hash": self.session,
        }
        query = {"group": self.group} if self.group else {}
        reply = self._ask("POST", "/gradio_api/run/predict", query, json.dumps(body))
        self.of = reply.body["data"][0]["of"]
        return reply

    def tick(self) -> Reply:
        """As a browser's: what it is sent is what it shows from then on."""
        reply = self._ask("GET", "/news", self.of)
        if reply.plain:
            self.of = self.of | {"stamp": reply.plain[:80].decode().split('"')[3]}
        return reply

    def _ask(self, method: str, address: str, query: dict[str, str], body: str = "") -> Reply:
        headers = {"Accept-Encoding": "gzip", "Content-Type": "application/json"}
        asked = method, f"{address}?{urlencode(query)}", body or None, headers
        try:
            self.connection.request(*asked)
            answer = self.connection.getresponse()
        except ConnectionError:  # the server ends one that was quiet for five seconds
            self.connection.close()
            self.connection.request(*asked)
            answer = self.connection.getresponse()
        wire = answer.read()
        assert answer.status in (200, 204), f"{address}: {answer.status}"
        packed = answer.headers.get("content-encoding") == "gzip"
        return Reply(len(wire), gzip.decompress(wire) if packed else wire)


def ticks(
    store: RunStore, url: str, server: psutil.Process, group: str, steps: int, repeat: int
) -> None:
    visitor = Visitor(url, group)
    runs = store.get_group(group).run_ids
    report("opened", server, 1, visitor.open)
    report("nothing new", server, 10 * repeat, visitor.tick)
    numbers = iter(range(steps + 1, steps + 1 + repeat))

    def news() -> Reply:
        number = next(numbers)
        store.append(runs[-1], a_step(number))
        while not (reply := visitor.tick()).plain:
            time.sleep(0.5)  # what was drawn before rests for a while
        return reply

    report("news", server, repeat // 2, news)


def report(name: str, server: psutil.Process, times: int, ask: Callable[[], Reply]) -> None:
    before = sum(server.cpu_times()[:2])
    replies = [ask() for _ in range(times)]
    ms = 1000 * (sum(server.cpu_times()[:2]) - before) / times
    wire, plain = max(r.wire for r in replies), max(len(r.plain) for r in replies)
    print(f"{name:<12} {ms:8.2f} ms of CPU, {wire:9,} bytes on the wire, {plain:9,} unpacked")


def training(visitors: int, rounds: int) -> None:
    """``quick``'s first precision, again and again; every other time with pages open."""
    found: dict[int, list[float]] = {0: [], visitors: []}
    shares: list[float] = []
    for _ in range(rounds):
        for count in found:
            with tempfile.TemporaryDirectory() as home:
                steps, share = _steps(Path(home), count)
            found[count] += steps
            shares += [share] if count else []
    alone, watched = (statistics.median(ms) for ms in found.values())
    print(
        f"training     {alone:8.2f} ms a step alone, {watched:.2f} ms with {visitors} pages open: "
        f"{watched / alone:.3f} times; the server took {statistics.median(shares):.1%} of a core"
    )


def _steps(home: Path, visitors: int) -> tuple[list[float], float]:
    """The milliseconds of one run's steps with so many pages that ask once a second, and the share
    of a core that the server took from the first step to the last."""
    store = RunStore(home)
    launcher = Launcher(store)
    changed = {"precisions": "fp32", "eval_every": "0", "exact_match_rows": "0"}
    with served(home) as (url, server):
        group = launcher.start(load_preset("quick", changed | {"max_steps": "120"}))
        over = threading.Event()
        pages = [threading.Thread(target=_watch, args=(url, n, over)) for n in range(visitors)]
        for page_open in pages:
            page_open.start()
        [run] = group.run_ids
        while store.last_step(run) is None and not store.get_group(group.id).over:
            time.sleep(0.2)
        began, spent = time.monotonic(), sum(server.cpu_times()[:2])
        while not store.get_group(group.id).over:
            time.sleep(0.2)
        share = (sum(server.cpu_times()[:2]) - spent) / (time.monotonic() - began)
        over.set()
        for page_open in pages:
            page_open.join()
    launcher.close()
    ended = store.get_run(run)
    assert ended.status == "finished", f"{ended.status}: {ended.error}"
    steps = store.steps(run)
    store.close()
    return [step.step_ms for step in steps if not step.warmup], share


def _watch(url: str, number: int, over: threading.Event) -> None:
    visitor = Visitor(url, None, f"visitor-{number}")
    visitor.open()
    while not over.wait(1.0):
        visitor.tick()


if __name__ == "__main__":
    main()
