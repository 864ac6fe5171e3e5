"""What pages are sent: drawn once for all, only what changed, and next to nothing otherwise."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any

import gradio as gr
import httpx
import pytest

from benchmarks.bench_page import Nobody, Visitor, fill, page
from benchmarks.bench_store import a_step
from playground import hardware
from playground.presets import load_preset
from playground.store import RunStore
from playground.ui import scenes as module
from playground.ui import text
from playground.ui.build import RESTS, build_app, launch
from playground.ui.scenes import Scenes
from playground.ui.watch import Scene
from tests.ui.conftest import SHARED_AS, Served
from tests.ui.waiting import free_port, until


class Drawn:
    """Counts how often a scene is drawn; two parts, of which one never changes."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, scene: Scene, may_change: bool) -> list[object]:
        self.times += 1
        steps = [arm.last_step.step for arm in scene.arms if arm.last_step] if scene.group else []
        return [f"steps {steps}", f"may {may_change}"]


def unpacked(news: bytes | None) -> dict[str, Any]:
    assert news is not None
    return json.loads(gzip.decompress(news))


@pytest.fixture
def store(tmp_path) -> RunStore:
    return RunStore(tmp_path)


@pytest.fixture
def group(store: RunStore) -> str:
    return fill(store, arms=2, steps=20)


def test_twenty_pages_are_drawn_for_once(store: RunStore, group: str, monkeypatch) -> None:
    monkeypatch.setattr(module, "REST", 0)
    draw = Drawn()
    scenes = Scenes(store, lambda run: "", draw)
    pages = [scenes.show(group, False) for _ in range(20)]
    assert draw.times == 1 and all(parts == pages[0] for parts in pages)
    scenes.show(group, True)
    assert draw.times == 2, "who may change things sees other buttons"
    store.append(store.get_group(group).run_ids[0], a_step(21))
    news = [scenes.news(group, pages[0][0], False) for _ in range(20)]
    assert draw.times == 3 and all(packed is news[0] for packed in news)


def test_a_page_is_sent_what_changed_alone(store: RunStore, group: str, monkeypatch) -> None:
    monkeypatch.setattr(module, "REST", 0)
    scenes = Scenes(store, lambda run: "", Drawn())
    first, *_ = scenes.show(group, False)
    assert scenes.news(group, first, False) is None
    store.append(store.get_group(group).run_ids[0], a_step(21))
    sent = unpacked(scenes.news(group, first, False))
    steps, may = sent["parts"]
    assert "21" in steps and may == gr.skip()
    assert scenes.news(group, sent["stamp"], False) is None
    for stale in ("", "of another server"):
        everything = unpacked(scenes.news(group, stale, False))
        assert everything == {"stamp": sent["stamp"], "parts": [steps, "may False"]}


def test_what_has_not_changed_is_not_drawn_again_for_a_page_that_shows_it(store, group) -> None:
    draw = Drawn()
    stamp, *_ = Scenes(store, lambda run: "", draw).show(group, False)
    another = Scenes(store, lambda run: "", draw)  # as after a restart, or once it was put away
    assert another.news(group, stamp, False) is None and draw.times == 1


def test_drawing_rests_but_the_newest_comes_in_the_end(store, group, monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(module.time, "thread_time", lambda: now[0])
    scenes = Scenes(store, lambda run: "", Drawn())
    stamp, *_ = scenes.show(group, False)
    [drawing] = scenes._drawn.values()
    object.__setattr__(drawing, "took", 0.5)
    store.append(store.get_group(group).run_ids[0], a_step(21))
    now[0] += 0.5 * module.REST - 0.1
    assert scenes.news(group, stamp, False) is None, "it rests"
    assert "21" in scenes.show(group, False)[1], "a page that is opened gets what is now"
    store.append(store.get_group(group).run_ids[0], a_step(22))
    assert "22" in unpacked(scenes.news(group, stamp, False))["parts"][0], "it took no time"


def test_bytes_of_a_question_on_eight_long_runs(store: RunStore) -> None:
    """Promised: under 1 KB when nothing is new, under 200 KB when something is."""
    group = fill(store, arms=8, steps=10_000)
    with page(store) as url:
        visitor = Visitor(url, group)
        opened = visitor.open()
        idle = visitor.tick()
        store.append(store.get_group(group).run_ids[0], a_step(10_001))
        news = until(lambda: (reply := visitor.tick()).plain and reply, "news")
    assert len(opened.plain) > 200_000, "so much there is to send"
    assert opened.wire < 100_000  # 18,656
    assert idle.wire == 0
    assert news.wire < 200_000  # 16,908; 393,841 unpacked


def test_a_deleted_comparison_is_said_to_be_gone_at_once(tmp_path) -> None:
    store = RunStore(tmp_path)
    group = store.create_group("quick", "t", load_preset("quick").configs, "1:1")
    store.request_stop(*group.run_ids)
    slow = Scenes(store, lambda run_id: "", lambda scene, may: [scene.problem])
    stamp, _ = slow.show(group.id, True)
    key, drawing = next(iter(slow._drawn.items()))
    slow._drawn[key] = replace(drawing, took=1e9)  # it would rest for years
    store.delete(group.id)
    [problem] = unpacked(slow.news(group.id, stamp, True))["parts"]
    assert "was deleted; open History" in problem


def test_what_visitors_are_told_is_what_they_may_see_in_their_language(shared: Served) -> None:
    group = fill(shared.store, arms=2, steps=3)
    asked = {"group": group, "stamp": "an older one"}
    chinese = {"Host": SHARED_AS, "Accept-Language": "zh-TW"}
    with httpx.Client(base_url=shared.url, headers={"Host": SHARED_AS}) as visitor:
        [stop] = [p for p in visitor.get("/news", params=asked).json()["parts"] if is_stop(p)]
        assert not stop["interactive"]
        words = visitor.get("/news", params=asked, headers=chinese).json()["parts"]
        assert not any(map(is_stop, words)), "not in English"
        gone = visitor.get("/news", params={"group": "<i>x", "stamp": ""}).json()["parts"]
        assert "&lt;i&gt;x" in gone[1] and "<i>x" not in "".join(map(str, gone[1:]))


def test_gradios_queue_rests_where_there_is_nothing_to_do(tmp_path) -> None:
    """Looking a thousand times a second took 4.8 % of a core with nobody there; so it takes 0.3."""
    app = build_app(RunStore(tmp_path), Nobody(), hardware.detect())  # type: ignore[arg-type]
    assert vars(app._queue).keys() >= RESTS.keys(), "Gradio calls them something else"
    launch(app, "127.0.0.1", free_port(), tmp_path)
    assert {name: vars(app._queue)[name] for name in RESTS} == RESTS
    app.close(verbose=False)


def is_stop(part: Any) -> bool:
    return isinstance(part, dict) and part.get("value") == text.STOP
