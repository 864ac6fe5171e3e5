"""How far each arm has come, in words: several seeds, failures, what can be resumed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from playground.events import Facts, Stage, Status
from playground.presets import load_preset
from playground.store import Group, RunStore
from playground.ui import arms, marks, panels
from playground.ui.watch import Scene, Seen, look
from tests.compare.arms import step


def test_progress_shows_stage_step_and_time_left(tmp_path) -> None:
    store = RunStore(tmp_path)
    group = store.create_group("quick", "t", load_preset("quick").configs, "1:1")
    run = store.claim_next("1:1")
    store.append(run.id, Stage(name="tokenising", detail="1 200 of 2 000 rows", progress=0.6))
    shown = arms.progress(look(store, group.id, Seen()))
    assert "tokenising, 1 200 of 2 000 rows" in shown
    assert "width:60.0%" in shown and "waits for its turn" in shown
    store.append(run.id, Stage(name="training"), *(step(n) for n in range(1, 31)))
    shown = arms.progress(look(store, group.id, Seen()))
    assert "about 6 s left" in shown  # 30 steps of 200 ms
    assert 'aria-valuenow="30"' in shown
    assert "of steps left in all 2 runs; loading and evaluation come on top" in shown


def test_the_time_left_is_that_of_the_whole_comparison(tmp_path) -> None:
    store = RunStore(tmp_path)
    preset = load_preset("quick", {"precisions": "fp32,fp16,nvfp4"})
    group = store.create_group("quick", "t", preset.configs, "1:1")
    runs = look(store, group.id, Seen()).arms
    assert arms.remaining_of_all_s(runs, now=0.0) is None
    ended = replace(runs[0].run, status="finished", started_at=100.0, ended_at=150.0)
    going = replace(runs[1].run, status="running", started_at=150.0)
    runs = [replace(a, run=run) for a, run in zip(runs, (ended, going, runs[2].run), strict=True)]
    assert arms.remaining_of_all_s(runs, now=160.0) == 40 + 50
    one = replace(runs[1], record=replace(runs[1].record, steps=[step(n) for n in range(1, 31)]))
    assert arms.remaining_of_all_s([one, runs[2]], now=160.0) == 6 + 16


def test_a_run_that_failed_early_says_when_and_at_what(tmp_path) -> None:
    store = RunStore(tmp_path)
    group = store.create_group("quick", "t", load_preset("quick").configs, "1:1")
    run = store.claim_next("1:1")
    store.append(run.id, Stage(name="loading", detail="model tiny"))
    store.settle(run.id, "failed", "There is no model.", owner="1:1")
    shown = arms.progress(look(store, group.id, Seen()))
    assert "after 0 s, while loading" in shown and "took" not in shown


@pytest.fixture
def store(tmp_path) -> RunStore:
    return RunStore(tmp_path)


def group_of(store: RunStore, **overrides: str) -> Group:
    return store.create_group("quick", "t", load_preset("quick", overrides).configs, "1:1")


def ends(store: RunStore, *status: Status | None) -> None:
    """The next runs of the queue end one after another; None finishes."""
    for ending in status:
        run = store.claim_next("1:1")
        store.append(run.id, *(step(n) for n in range(1, 61)), ending or Status(status="finished"))


def scene_of(store: RunStore, group: Group) -> Scene:
    return look(store, group.id, Seen())


def test_repetitions_share_a_line_with_a_bar_each(store) -> None:
    group = group_of(store, seeds="3")
    ends(store, None, None, None)  # both precisions of seed 42, FP16 of seed 43
    run = store.claim_next("1:1")
    store.append(run.id, Stage(name="training"), *(step(n) for n in range(1, 13)))
    shown = arms.progress(scene_of(store, group))
    assert shown.count("arm-line") == 2 and shown.count('role="progressbar"') == 6
    assert "NVFP4, seed 43: step 12 of 60" in shown
    assert "2 of 3 finished" in shown and "1 of 3 finished; seed 43: training" in shown
    assert "120<i>/</i>180" in shown and "72<i>/</i>180" in shown


OUT = Status(
    status="failed",
    error="Out of memory in step 61, asking for 2.00 GiB more: set micro_batch_size to 8.",
    cause="out of memory",
)


def test_a_failure_says_kind_step_sentence_and_what_can_be_done(store) -> None:
    group = group_of(store)
    ends(store, OUT)
    shown = arms.progress(scene_of(store, group))
    assert "<b>out of memory</b> after step 60" in shown
    assert "asking for 2.00 GiB more: set “Rows per pass” to 8" in shown
    assert "Resume goes on" in shown and "The other runs go on" in shown


def test_repetitions_that_failed_alike_are_told_of_once(store) -> None:
    group = group_of(store, seeds="3", precisions="nvfp4")
    ends(store, OUT, None, OUT)
    shown = arms.progress(scene_of(store, group))
    assert shown.count("arm-error") == 1 and "after step 60, seed 42 and 44" in shown


def test_nothing_is_promised_of_a_run_that_cannot_be_resumed(store) -> None:
    group = group_of(store)
    refused = Status(status="failed", error="No such layer.", cause="refused")
    ends(store, refused, Status(status="diverged", error="NaN.", cause="not finite"))
    scene = scene_of(store, group)
    assert not scene.resumable and "Resume" not in arms.progress(scene)


@pytest.mark.parametrize(
    ("kind", "status", "word"), [("stop", "stopped", "stopping"), ("pause", "paused", "pausing")]
)
def test_what_was_asked_is_said_until_it_is_done(store, kind: str, status: str, word: str) -> None:
    group = group_of(store)
    run = store.claim_next("1:1")
    store.request_stop(*group.run_ids, kind=kind)
    scene = scene_of(store, group)
    assert scene.asked == {kind} and not scene.resumable
    assert f"{word} after this step" in arms.progress(scene)
    store.settle(run.id, status, None, owner="1:1")
    scene = scene_of(store, group)
    assert scene.resumable and f'chip is-{status}">{status}' in panels.heading(scene)


def test_a_resumed_run_waits_to_go_on(store) -> None:
    group = group_of(store)
    store.request_stop(*group.run_ids, kind="pause")
    store.requeue(*group.run_ids, owner="1:1")
    assert "waits to go on" in arms.progress(scene_of(store, group))


def test_only_a_run_that_went_on_took_its_time_since_it_was_resumed(store) -> None:
    group = group_of(store)
    store.request_stop(*group.run_ids, kind="pause")  # both before their first step
    store.requeue(*group.run_ids, owner="1:1")
    ends(store, None, None)
    shown = arms.progress(scene_of(store, group))
    assert shown.count("took 0 s") == 2 and "since it was resumed" not in shown
    store.append(group.run_ids[0], Facts(resumed_at_step=3))
    assert arms.progress(scene_of(store, group)).count("took 0 s since it was resumed") == 1


def test_a_run_is_marked_where_it_healed_was_resumed_and_ended_badly(store) -> None:
    group = group_of(store)
    run = store.claim_next("1:1")
    store.append(run.id, step(1), step(2), Facts(healed_at_step=2, healed_to="bf16"), OUT)
    store.append(run.id, Facts(resumed_at_step=1))
    found = marks.of(store.get_run(run.id), store.last_step(run.id))
    assert [mark[:2] for mark in found] == [(2, "healed"), (1, "resumed"), (2, "out of memory")]
    assert found[0][2] == "healed: BF16 from here on" and found[2][2] == "out of memory"
    assert marks.of(store.get_run(group.run_ids[1]), None) == []
