"""What the charts are given, and what the panels say: plain functions over hand-made arms."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from playground import hardware
from playground.events import Eval, Message, Stage, Step
from playground.presets import load_preset
from playground.store import RunStore
from playground.ui import arms, charts, details, figures, history, marks, panels, text
from playground.ui.build import here
from playground.ui.history import overlay
from playground.ui.history.asking import Listing
from playground.ui.log import log
from playground.ui.watch import Seen, first_choice, look
from tests import fakes
from tests.compare.arms import EMULATED, NATIVE, arm, step

ARMS = [arm("fp16", after=0.5, **NATIVE), arm("nvfp4", after=0.52, **NATIVE)]


def test_the_payload_is_json_even_when_a_run_diverged() -> None:
    steps = [step(1, 3.0), step(2, math.nan), step(3, math.inf), step(4, 2.0, skipped=True)]
    sent = charts.payload("g", [arm("fp16", steps=steps, status="diverged")])
    line = json.loads(json.dumps(sent, allow_nan=False))["panels"][0]["lines"][0]
    assert line["y"] == [3.0, None, None, 2.0]
    assert line["marks"] == [[2, "not finite"], [3, "not finite"], [4, "skipped update"]]


def test_one_step_is_a_point_on_the_chart() -> None:
    sent = charts.payload("g", [arm("fp16", steps=[step(1)])])
    assert [len(p["lines"][0]["x"]) for p in sent["panels"]] == [1, 1, 1]


def test_an_emulated_arm_makes_no_claim_of_speed() -> None:
    counted = arm("fp16", memory_source="counted tensor bytes (CPU)", **EMULATED)
    notes = {p["key"]: p["note"] for p in charts.payload("g", [counted])["panels"]}
    assert notes["loss"] is None
    assert "emulated" in notes["tokens_per_s"]
    assert "emulated" in notes["memory_mib"]
    assert notes["memory_mib"].endswith("counted tensor bytes (CPU)")
    assert not any(p["note"] for p in charts.payload("g", ARMS)["panels"])


def test_every_speed_and_every_memory_in_use_says_that_it_was_emulated() -> None:
    emulated, native = (arm("fp16", peak_mib=64.0, **how) for how in (EMULATED, NATIVE))
    for key in ("throughput", "step_ms", "peak"):
        assert text.EMULATED_FIGURE in details.CELLS[key](emulated)
        assert text.EMULATED_FIGURE not in details.CELLS[key](native)
    unknown = arm("fp16", how=None, steps=[])
    assert not any("emulated" in cell(unknown) for cell in details.CELLS.values())
    assert panels.badge(None) == ""


def test_evaluations_are_points_of_their_own() -> None:
    points = charts.payload("g", ARMS)["panels"][0]["points"]
    assert [(p["arm"], p["x"], p["y"]) for p in points] == [
        ("fp16", 0, 2.0), ("fp16", 9, 0.5), ("nvfp4", 0, 2.0), ("nvfp4", 9, 0.52),
    ]  # fmt: skip


@pytest.fixture
def long_run(tmp_path) -> tuple[RunStore, str]:
    store = RunStore(tmp_path)
    preset = load_preset("quick", {"max_steps": "5000"})
    group = store.create_group("quick", "long", preset.configs, "1:1")
    for run_id in group.run_ids:
        events = [Step.model_validate(step(n, 4 / n).model_dump()) for n in range(1, 5001)]
        store.append(run_id, *events)
    return store, group.id


def test_five_thousand_steps_stay_small_and_keep_the_beginning(long_run) -> None:
    store, group_id = long_run
    scene = look(store, group_id, Seen())
    sent = charts.payload(group_id, [a.record for a in scene.arms])
    xs = sent["panels"][0]["lines"][0]["x"]
    assert len(xs) <= charts.MAX_POINTS
    assert xs[0] == 1 and xs[-1] == 5000 and sum(x <= 100 for x in xs) >= 5
    assert len(json.dumps(sent)) < 200_000


def test_the_memory_chart_knows_the_peak_so_far() -> None:
    steps = [step(n, memory_mib=5.0, peak_mib=peak) for n, peak in ((1, 7.0), (2, 7.0), (3, 9.0))]
    steps.append(step(4, memory_mib=5.0, peak_mib=9.0))
    panels_ = charts.payload("g", [arm("fp16", steps=steps)])["panels"]
    told = {panel["key"]: panel["lines"][0].get("peaks") for panel in panels_}
    assert told == {"loss": None, "tokens_per_s": None, "memory_mib": [(1, 7.0), (3, 9.0)]}


def test_the_loss_axis_exaggerates_nothing() -> None:
    assert all(panel["from_zero"] for panel in charts.payload("g", ARMS)["panels"])


def test_one_diamond_for_one_step() -> None:
    both = arm("fp16", after=0.5)
    both = replace(both, evals=[*both.evals, Eval(step=9, when="after", loss=0.4, tokens=10)])
    assert [p["y"] for p in charts.payload("g", [both])["panels"][0]["points"]] == [2.0, 0.4]


def test_the_steps_inside_a_zoom_are_all_there(long_run) -> None:
    store, group_id = long_run
    near = charts.detail(store, group_id, 10, 20)
    assert near["loss"][0]["x"] == list(range(9, 22))
    far = charts.detail(store, group_id, 0, 5000)
    assert len(far["memory_mib"][1]["x"]) <= charts.MAX_POINTS


def test_tokens_and_seconds_are_sums_over_every_step_drawn_or_not(long_run) -> None:
    store, group_id = long_run
    sums = charts.totals(store, group_id)[store.get_group(group_id).run_ids[1]]
    assert len(sums["step"]) <= charts.MAX_POINTS and sums["step"][-1] == 5000
    drawn = {s.step for s in store.steps(store.get_group(group_id).run_ids[1], max_points=600)}
    assert drawn - {1} <= set(sums["step"])
    for step_, tokens, seconds, joules in zip(*sums.values(), strict=True):
        assert tokens == 100 * step_ and seconds == pytest.approx(0.2 * step_)
        assert joules is None, "nobody measured any"
    assert charts.totals(RunStore(store.home), group_id).keys() == {
        *store.get_group(group_id).run_ids
    }


def test_joules_are_summed_where_they_were_measured(tmp_path) -> None:
    store = RunStore(tmp_path)
    run_id = store.create_group("quick", "t", load_preset("quick").configs, "1:1").run_ids[0]
    # A step shorter than the meter's tick has its share in the next one.
    store.append(run_id, step(1, energy_j=3.0), step(2), step(3, energy_j=5.0))
    assert [row[3] for row in store.totals(run_id, 8)] == [3.0, 3.0, 8.0]


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"device": {"kind": "cpu"}}, text.NO_METER),
        ({"device": {"kind": "cuda"}}, text.NO_ENERGY),
        ({}, text.NO_ENERGY),
        ({"device": {"kind": "cuda"}, "energy_source": "a meter"}, None),
    ],
)
def test_where_no_joules_were_measured_the_charts_say_why(facts, why) -> None:
    assert charts.payload("g", [arm("fp16", **facts)])["no_energy"] == why


def test_an_arm_that_ran_out_of_memory_has_a_mark_of_its_own(tmp_path) -> None:
    store = RunStore(tmp_path)
    group = store.create_group("quick", "t", load_preset("quick").configs, "1:1")
    run = store.claim_next("1:1")
    store.append(run.id, step(1), step(2))
    store.settle(run.id, "failed", "No room.", owner="1:1", cause="out of memory")
    assert marks.of(store.get_run(run.id), store.last_step(run.id)) == [
        (2, "out of memory", "out of memory")
    ]
    assert store.get_group(group.id).runs[0].cause == "out of memory"


def test_a_page_is_redrawn_only_when_something_changed(tmp_path) -> None:
    store = RunStore(tmp_path)
    group = store.create_group("quick", "t", load_preset("quick").configs, "1:1")
    scene = look(store, None, Seen())
    assert scene.group.id == group.id
    assert look(store, group.id, scene.seen) is None
    other = store.create_group("quick", "other", load_preset("quick").configs, "1:1")
    scene = look(store, group.id, scene.seen)
    assert [waiting.id for waiting in scene.queue] == [group.id, other.id]
    store.append(other.run_ids[0], Message(level="info", text="elsewhere"))
    assert look(store, group.id, scene.seen) is None
    store.append(group.run_ids[0], step(1))
    assert len(look(store, group.id, scene.seen).arms[0].record.steps) == 1


def test_a_page_opened_without_a_link_shows_the_live_comparison(tmp_path) -> None:
    store = RunStore(tmp_path)
    assert first_choice(store) is None
    assert look(store, None, Seen()).group is None
    live = store.create_group("quick", "live", load_preset("quick").configs, "1:1")
    store.claim_next("1:1")
    store.create_group("quick", "newer, waits", load_preset("quick").configs, "1:1")
    assert first_choice(store) == live.id


def test_an_unknown_group_is_a_sentence(tmp_path) -> None:
    scene = look(RunStore(tmp_path), "g-none<script>", Seen())
    assert "&lt;script&gt;" in panels.heading(scene) and "<script>" not in panels.heading(scene)


def test_the_log_tells_how_a_run_went_and_what_it_printed(tmp_path) -> None:
    store = RunStore(tmp_path)
    group = store.create_group("quick", "t", load_preset("quick").configs, "1:1")
    assert text.LOG_EMPTY in log(look(store, group.id, Seen()))
    run = store.claim_next("1:1")
    store.append(run.id, Eval(step=0, when="before", loss=4.2, tokens=9), step(1, 4.0))
    store.append(run.id, Eval(step=1, when="after", loss=3.5, tokens=9, exact_match=0.5))
    store.settle(run.id, "failed", "No room.", owner="1:1")
    shown = log(look(store, group.id, Seen(), {run.id: "Traceback" + "x" * 9000}.get))
    said = ["started at", "4.200 before training", "step 1 of 60", "3.500 after", "failed: No room"]
    assert [shown.index(words) for words in said] == sorted(shown.index(words) for words in said)
    assert "50.0 % of" in shown and "printed at last" in shown and len(shown) < 6000


def test_what_ended_promises_nothing(tmp_path) -> None:
    store = RunStore(tmp_path)
    group = store.create_group("quick", "t", load_preset("quick").configs, "1:1")
    waiting = look(store, group.id, Seen())
    store.request_stop(*group.run_ids)
    stopped = look(store, group.id, Seen())
    for scene, says in ((waiting, True), (stopped, False)):
        sent = charts.payload(group.id, scene.records)
        shown = panels.outcome(scene) + details.coverage(scene.records) + json.dumps(sent)
        assert (" yet" in shown or "once" in shown) == says


def test_whatever_a_run_says_is_text(tmp_path) -> None:
    store = RunStore(tmp_path)
    evil = "<img src=x onerror=alert(1)>"
    group = store.create_group("quick", evil, load_preset("quick").configs, "1:1")
    run = store.claim_next("1:1")
    store.append(run.id, Stage(name=evil, detail=evil), Message(level="error", text=evil))
    store.append(run.id, Eval(step=0, when="before", loss=1.0, tokens=1))
    store.settle(run.id, "failed", evil, owner="1:1")
    scene = look(store, group.id, Seen(), lambda run_id: evil)
    parts = [panels.heading(scene), arms.progress(scene), log(scene)]
    parts += [
        panels.outcome(scene),
        details.table(scene.records, True),
        history.render(store, Listing())[1],
    ]
    for part in parts:
        assert "<img" not in part
    assert "&lt;img" in parts[0]


@pytest.mark.parametrize(
    ("capability", "native"),
    [("6.1", "FP32 run"), ("7.0", "FP32 and FP16 run"), ("9.0", "FP32, FP16 and BF16 run")],
)
def test_the_masthead_claims_no_more_than_the_device_can(capability: str, native: str) -> None:
    device = replace(hardware.detect(), kind="cuda", compute_capability=capability)
    assert native in here(device) and "nothing about a GPU" not in here(device)
    assert "self-test" in here(replace(device, fp4_native=True))
    assert "nothing about a GPU" in here(replace(device, kind="cpu", compute_capability=None))


def test_the_details_give_the_numbers_of_arms_that_ran_for_real() -> None:
    table = details.table(ARMS, True)
    assert "native" in table and "0.5000" in table and "500.0" in table
    assert table.count("is-yes") == 3


def test_rows_trained_on_are_told_from_rows_there_are() -> None:
    few = arm("fp16", steps=[step(n) for n in range(1, 5)], rows={"train": 3000, "eval": 128})
    assert few.config.training.micro_batch_size == 4
    shown = details.CELLS["rows"](few)
    assert "16 trained on" in shown and "of 3,000 to train on; 128 held out" in shown


def test_history_tells_steps(tmp_path) -> None:
    store = RunStore(tmp_path)
    store.create_group("quick", "t", load_preset("quick", {"max_steps": "7"}).configs, "1:1")
    assert "7 steps of each" in history.render(store, Listing())[1]


def test_unfair_arms_are_told_apart() -> None:
    other = arm("nvfp4", batches_sha256="c" * 64, environment={"torch": "2.12"})
    shown = details.fair([ARMS[0], other], True)
    assert shown.count("is-no") == 2 and "environment.torch" in shown


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "–"), (math.nan, "NaN"), (0, "0"), (0.01234, "0.01234"), (1234.5, "1,234"),
     (-2.5, "−2.500"), (1e-7, "1.00e−07")],
)  # fmt: skip
def test_numbers_are_readable(value, said: str) -> None:
    assert figures.number(value) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (1205, "20 min"), (7500, "2 h 5 min")],
)
def test_durations_are_readable(seconds: float, said: str) -> None:
    assert figures.duration(seconds) == said


def test_runs_of_several_comparisons_are_drawn_each_for_itself(tmp_path) -> None:
    store = RunStore(tmp_path)
    groups = [
        store.create_group("quick", title, load_preset("quick").configs, "1:1")
        for title in ("one", "a title that is far too long for a legend of charts")
    ]
    runs = [store.get_run(g.run_ids[1]) for g in groups]  # NVFP4 both times
    for run in runs:
        store.append(run.id, *(fakes.step(n) for n in range(1, 6)))
    shown = ",".join(run.id for run in runs)
    found = overlay.payload(overlay.look(store, [run.id for run in runs]))
    assert (found["group"], found["address"]) == (shown, "runs")
    assert [arm["id"] for arm in found["arms"]] == [run.id for run in runs]
    assert [arm["colour"] for arm in found["arms"]] == ["run-1", "run-2"]
    assert found["arms"][0]["label"] == "NVFP4, seed 42, of “one”"
    assert found["arms"][1]["label"].endswith("far too long fo…”")
    assert [len(line["x"]) for line in found["panels"][0]["lines"]] == [5, 5]
    finer = charts.detail(store, shown, 2, 4)["loss"]
    assert [line["label"] for line in finer] == [arm["label"] for arm in found["arms"]]
    assert set(charts.totals(store, shown)) == {run.id for run in runs}
