"""What pages are sent: drawn once for all, only what changed, and next to nothing otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.bench_page import Visitor, fill, page
from benchmarks.bench_store import a_step
from playground.presets import load_preset
from playground.store import RunStore
from playground.ui import scenes as module
from playground.ui.scenes import Scenes
from playground.ui.watch import Scene, Seen


class Drawn:
    """Counts how often a scene is drawn; two parts, of which one never changes."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, scene: Scene, may_change: bool) -> list[object]:
        self.times += 1
        steps = [arm.last_step.step for arm in scene.arms if arm.last_step] if scene.group else []
        return [scene.seen, f"steps {steps}", f"may {may_change}"]


@pytest.fixture
def store(tmp_path) -> RunStore:
    return RunStore(tmp_path)


@pytest.fixture
def group(store: RunStore) -> str:
    return fill(store, arms=2, steps=20)


def test_twenty_pages_are_drawn_for_once(store: RunStore, group: str) -> None:
    draw = Drawn()
    scenes = Scenes(store, lambda run: "", draw)
    pages = [scenes.show(Seen(group), False) for _ in range(20)]
    assert draw.times == 1 and all(parts[1:] == pages[0][1:] for parts in pages)
    scenes.show(Seen(group), True)
    assert draw.times == 2, "who may change things sees other buttons"


def test_a_page_is_sent_what_changed_alone(store: RunStore, group: str, monkeypatch) -> None:
    monkeypatch.setattr(module, "REST", 0)
    scenes = Scenes(store, lambda run: "", Drawn())
    seen, *_ = scenes.show(Seen(group), False)
    assert scenes.show(seen, False) is None and not scenes.has_news(seen, False)
    store.append(store.get_group(group).run_ids[0], a_step(21))
    assert scenes.has_news(seen, False)
    later, steps, may = scenes.show(seen, False)
    assert "21" in steps and may == {"__type__": "update"}
    assert scenes.show(later, False) is None


def test_drawing_rests_but_the_newest_comes_in_the_end(store, group, monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(module.time, "thread_time", lambda: now[0])
    scenes = Scenes(store, lambda run: "", Drawn())
    seen, *_ = scenes.show(Seen(group), False)
    [drawing] = scenes._drawn.values()
    object.__setattr__(drawing, "took", 0.5)
    store.append(store.get_group(group).run_ids[0], a_step(21))
    now[0] += 0.5 * module.REST - 0.1
    assert not scenes.has_news(seen, False), "it rests"
    assert "21" in scenes.show(Seen(group), False)[1], "a page that is opened gets what is now"
    now[0] += 0.2
    assert scenes.has_news(seen, False) and "21" in scenes.show(seen, False)[1]


def test_bytes_of_a_tick_on_eight_long_runs(store: RunStore) -> None:
    """Promised: under 1 KB when nothing is new, under 200 KB when something is."""
    group = fill(store, arms=8, steps=10_000)
    with page(store) as url:
        visitor = Visitor(url, group)
        opened = visitor.open()
        idle = visitor.tick()
        store.append(store.get_group(group).run_ids[0], a_step(10_001))
        news = visitor._ask(visitor.news_at)
    assert opened.plain > 200_000, "so much there is to send"
    assert opened.wire < 100_000  # 18,565
    assert idle.plain < 1000  # 172
    assert news.wire < 200_000  # 16,960; 394,038 unpacked


def test_a_deleted_comparison_is_said_to_be_gone_at_once(tmp_path) -> None:
    store = RunStore(tmp_path)
    group = store.create_group("quick", "t", load_preset("quick").configs, "1:1")
    store.request_stop(*group.run_ids)
    slow = Scenes(store, lambda run_id: "", lambda scene, may: [scene.seen, scene.problem])
    seen, _ = slow.show(Seen(group.id), True)
    key, drawing = next(iter(slow._drawn.items()))
    slow._drawn[key] = replace(drawing, took=1e9)  # it would rest for years
    store.delete(group.id)
    assert slow.has_news(seen, True)
    _, problem = slow.show(seen, True)
    assert "was deleted; open History" in problem
