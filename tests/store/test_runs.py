"""What is appended is read back, whole, in order, and by everybody at once."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.events import Answer, EvalAnswers, Facts, Message, Stage, Status, Step
from playground.store import RunStore, StoreError
from tests import fakes
from tests.conftest import until

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def run_id(store: RunStore) -> str:
    group = store.create_group("quick", "a run", [fakes.config()], "1:1.0")
    return group.run_ids[0]


def test_a_group_keeps_its_configs_in_order_and_its_title_as_typed(store: RunStore) -> None:
    configs = fakes.preset("steady").configs
    group = store.create_group("quick", "FP16 against NVFP4", configs, "1:1.0")
    assert store.get_group(group.id) == group
    assert [run.config for run in group.runs] == configs
    assert [run.position for run in group.runs] == [0, 1]
    assert (group.preset, group.title) == ("quick", "FP16 against NVFP4")
    assert all(run.status == "queued" and run.facts == Facts() for run in group.runs)


@pytest.mark.parametrize(
    "title",
    ["../../x", "a/b", "x" * 300, "🦙 emoji", "$(touch x)", "'; DROP TABLE runs; --", "a\0b"],
)
def test_any_title_is_safe_and_shown_as_typed(store: RunStore, title: str) -> None:
    group = store.create_group("quick", title, [fakes.config()], "1:1.0")
    assert store.get_group(group.id).title == title
    folder = store.run_folder(group.run_ids[0])
    assert folder.parent == store.home / "runs"
    assert set(folder.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_half_a_character_in_a_title_does_not_stop_a_run(store: RunStore) -> None:
    assert store.create_group("quick", "a\udce4", [fakes.config()], "1:1.0").title == "a?"


@pytest.mark.parametrize("unsafe", ["../x", "a/b", "", "-x", "x\n", "."])
def test_no_folder_outside_runs_is_ever_named(store: RunStore, unsafe: str) -> None:
    with pytest.raises(ValueError, match="no id of this store"):
        store.run_folder(unsafe)


def test_events_come_back_as_they_went_in(store: RunStore, run_id: str) -> None:
    events = [
        e
        for e in fakes.steady(fakes.config(), folder=Path(), should_stop=lambda: False)
        if not isinstance(e, Status)
    ]
    store.append(run_id, *events)
    assert store.steps(run_id) == [e for e in events if e.kind == "step"]
    assert store.evals(run_id) == [e for e in events if e.kind == "eval"]
    assert store.messages(run_id) == [e for e in events if e.kind == "message"]
    run = store.get_run(run_id)
    assert run.stage == [e for e in events if e.kind == "stage"][-1]
    assert run.facts == next(e for e in events if e.kind == "facts")


def test_facts_add_up_and_none_never_erases(store: RunStore, run_id: str) -> None:
    store.append(run_id, Facts(how="emulated", weights_mib=1.5))
    store.append(run_id, Facts(peak_mib=9.0))
    facts = store.get_run(run_id).facts
    assert (facts.how, facts.weights_mib, facts.peak_mib) == ("emulated", 1.5, 9.0)
    assert facts.optimizer_mib is None


def test_nan_and_inf_are_kept_and_missing_stays_missing(store: RunStore, run_id: str) -> None:
    store.append(
        run_id,
        fakes.step(1, math.nan, grad_norm=math.inf, memory_mib=None),
        fakes.step(2, math.inf, grad_norm=None),
        fakes.step(3, -math.inf, grad_norm=math.nan),
    )
    first, second, third = store.steps(run_id)
    assert math.isnan(first.loss) and first.grad_norm == math.inf and first.memory_mib is None
    assert second.loss == math.inf and second.grad_norm is None
    assert third.loss == -math.inf and third.grad_norm is not None and math.isnan(third.grad_norm)


def test_an_ended_run_never_changes_state_but_keeps_late_words(
    store: RunStore, run_id: str
) -> None:
    store.append(run_id, Status(status="stopped"))
    ended_at = store.get_run(run_id).ended_at
    store.append(run_id, Status(status="finished"), fakes.step(1))
    run = store.get_run(run_id)
    assert (run.status, run.ended_at) == ("stopped", ended_at)
    assert len(store.steps(run_id)) == 1


def test_a_full_disk_is_called_so_and_what_was_stored_is_there_when_it_has_room(
    store: RunStore, run_id: str
) -> None:
    db = store._connection()
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full"):
        store.append(run_id, *(fakes.step(n) for n in range(1, 2000)))
    assert store.steps(run_id) == []
    db.execute(f"PRAGMA max_page_count = {pages + 1000}")
    store.append(run_id, fakes.step(1))
    assert store.steps(run_id) == [fakes.step(1)]


def test_a_failing_append_leaves_nothing(store: RunStore, run_id: str) -> None:
    token = store.change_token()
    broken = Step.model_construct(**fakes.step(2).model_dump() | {"loss": object()})
    with pytest.raises(Exception, match="not supported"):
        store.append(run_id, fakes.step(1), broken)
    assert store.steps(run_id) == []
    assert store.change_token() == token


def test_errors_and_messages_name_no_home_folder_and_no_token(
    store: RunStore, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("HF_TOKEN", "hush-hush-hush")
    secret = "/home/ann/data is gone; hush-hush-hush; hf_abcdefghijkl"
    store.append(
        run_id,
        Message(level="warning", text=secret),
        Stage(name="loading", detail=secret),
        Status(status="failed", error=secret),
    )
    run = store.get_run(run_id)
    safe = "~/data is gone; ***; ***"
    assert run.stage is not None
    assert (run.error, run.stage.detail, store.messages(run_id)[0].text) == (safe, safe, safe)


def test_a_message_is_kept_once_however_often_a_resumed_run_says_it(
    store: RunStore, run_id: str
) -> None:
    same, other = Message(level="warning", text="Cut."), Message(level="info", text="Cut.")
    store.append(run_id, same, other)
    store.append(run_id, same)
    assert store.messages(run_id) == [same, other]


class TestChangeToken:
    def test_changes_with_whatever_a_page_shows(self, store: RunStore, run_id: str) -> None:
        group_id = store.get_run(run_id).group_id
        said = [
            fakes.step(1),
            Stage(name="x"),
            Message(level="info", text="x"),
            Facts(how="native"),
        ]
        for event in [*said, Status(status="finished")]:
            before, before_any = store.change_token(group_id), store.change_token()
            store.append(run_id, event)
            assert store.change_token(group_id) != before
            assert store.change_token() != before_any

    def test_changes_with_a_new_group_and_a_stop(self, store: RunStore, run_id: str) -> None:
        seen = {store.change_token()}
        store.create_group("quick", "t", [fakes.config()], "1:1.0")
        seen.add(store.change_token())
        store.request_stop(run_id)
        seen.add(store.change_token())
        assert len(seen) == 3

    def test_is_the_groups_own(self, store: RunStore, run_id: str) -> None:
        other = store.create_group("quick", "t", [fakes.config()], "1:1.0")
        before = store.change_token(other.id)
        store.append(run_id, fakes.step(1))
        assert store.change_token(other.id) == before

    def test_does_not_change_with_a_heartbeat(self, store: RunStore, run_id: str) -> None:
        before = store.change_token()
        store.heartbeat(run_id)
        assert store.change_token() == before
        assert store.get_run(run_id).heartbeat_at is not None

    def test_is_found_by_key_without_a_scan(self, store: RunStore) -> None:
        with store.reading() as db:
            plan = db.execute("EXPLAIN QUERY PLAN SELECT revision FROM groups WHERE id = 'x'")
            assert "SEARCH" in plan.fetchone()["detail"]


class TestThinning:
    def test_a_short_run_is_whole(self, store: RunStore, run_id: str) -> None:
        store.append(run_id, fakes.step(1))
        assert [s.step for s in store.steps(run_id, max_points=8)] == [1]
        store.append(run_id, *(fakes.step(n) for n in range(2, 5)))
        assert [s.step for s in store.steps(run_id, max_points=8)] == [1, 2, 3, 4]

    def test_a_run_of_5000_steps_keeps_its_beginning_end_and_budget(
        self, store: RunStore, run_id: str
    ) -> None:
        store.append(run_id, *(fakes.step(n) for n in range(1, 5001)))
        shown = [s.step for s in store.steps(run_id, max_points=400)]
        assert len(shown) <= 400
        assert shown[0] == 1 and shown[-1] == 5000
        assert len([n for n in shown if n <= 100]) >= 3  # the first hundred are still there
        gaps = {b - a for a, b in zip(shown[1:], shown[2:], strict=False)}
        assert max(gaps) <= 32

    def test_points_that_stay_stay_where_they_were(self, store: RunStore, run_id: str) -> None:
        before: list[int] = []
        for start in range(1, 600, 7):
            store.append(run_id, *(fakes.step(n) for n in range(start, start + 7)))
            shown = [s.step for s in store.steps(run_id, max_points=40)]
            assert len(shown) <= 40
            old = [n for n in shown if n <= (before[-1] if before else 0)]
            assert set(old) <= set(before)  # nothing appears among what was drawn
            before = shown

    def test_marks_are_kept_when_their_neighbours_go(self, store: RunStore, run_id: str) -> None:
        odd = {7: math.nan, 101: math.inf, 333: 1.0}
        store.append(
            run_id,
            *(fakes.step(n, odd.get(n, 0.5), skipped=n == 333) for n in range(1, 1001)),
        )
        shown = {s.step for s in store.steps(run_id, max_points=40)}
        assert {7, 101, 333} <= shown

    def test_many_marks_do_not_break_the_budget(self, store: RunStore, run_id: str) -> None:
        store.append(run_id, *(fakes.step(n, math.nan) for n in range(1, 1001)))
        shown = store.steps(run_id, max_points=40)
        assert len(shown) <= 40 and shown[-1].step == 1000

    def test_the_later_part_is_the_same_selection(self, store: RunStore, run_id: str) -> None:
        store.append(run_id, *(fakes.step(n) for n in range(1, 501)))
        whole = store.steps(run_id, max_points=40)
        later = store.steps(run_id, after_step=250, max_points=40)
        assert later == [s for s in whole if s.step > 250]

    def test_an_empty_run_has_no_points(self, store: RunStore, run_id: str) -> None:
        assert store.steps(run_id, max_points=40) == []
        assert store.last_step(run_id) is None

    def test_too_small_a_budget_is_refused(self, store: RunStore, run_id: str) -> None:
        with pytest.raises(ValueError, match="at least 8"):
            store.steps(run_id, max_points=7)


class TestFind:
    def test_by_id_and_by_the_start_of_one(self, store: RunStore) -> None:
        group = store.create_group("quick", "t", fakes.preset("steady").configs, "1:1.0")
        assert store.find(group.id) == group
        assert store.find(group.id[:-1]) == group
        assert store.find(group.run_ids[1][:-2]) == group.runs[1]

    def test_what_is_unknown_or_unclear_is_refused(self, store: RunStore) -> None:
        group = store.create_group("quick", "t", fakes.preset("steady").configs, "1:1.0")
        for wrong in ("nothing", "", "%", "g_"):
            with pytest.raises(SettingsError, match="is unknown"):
                store.find(wrong)
        with pytest.raises(SettingsError, match="could be .* or .*; give more of it"):
            store.find(group.run_ids[0][:-6])
        for ask in (store.get_run, store.get_group):
            with pytest.raises(SettingsError, match="'x' is unknown; `.* list --home .*` shows"):
                ask("x")

    def test_newest_group_first(self, store: RunStore) -> None:
        made = [store.create_group("quick", str(n), [fakes.config()], "1:1.0") for n in range(5)]
        listed = [group.id for group in store.list_groups(limit=3)]
        assert listed == [group.id for group in reversed(made)][:3]


_WRITER = """
import sys
from itertools import count
from pathlib import Path
from playground.store import RunStore, StoreError
from tests import fakes
store, enough = RunStore(sys.argv[1]), Path(sys.argv[3])
for number in count(1):
    # Both or neither: a reader that finds them apart saw half a transaction.
    facts = fakes.facts(fakes.config()).model_copy(update={"skipped_updates": number})
    store.append(sys.argv[2], fakes.step(number), facts)
    if number >= 30 and enough.exists():
        break
"""


def _writer(store: RunStore, run_id: str, enough: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _WRITER, str(store.home), run_id, str(enough)]
    return subprocess.Popen(command, cwd=ROOT)


def test_a_reader_in_mid_run_sees_whole_transactions(
    store: RunStore, run_id: str, tmp_path: Path
) -> None:
    enough = tmp_path / "enough"
    writer = _writer(store, run_id, enough)
    until(lambda: store.last_step(run_id), "the writer's first step")
    seen = set()
    while len(seen) < 20:
        with store.reading() as db:
            step = db.execute("SELECT max(step) FROM steps").fetchone()[0]
            time.sleep(0.002)  # time for the writer to write in between
            fact = db.execute("SELECT max(skipped_updates) FROM facts").fetchone()[0]
        assert step == fact
        seen.add(step)
        assert writer.poll() is None, "the writer gave up"
    enough.touch()
    assert writer.wait(60) == 0


def test_several_processes_write_at_once_and_nothing_is_lost(
    store: RunStore, tmp_path: Path
) -> None:
    enough = tmp_path / "enough"
    enough.touch()
    group = store.create_group("quick", "t", [fakes.config()] * 3, "1:1.0")
    writers = [_writer(store, run, enough) for run in group.run_ids]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert [len(store.steps(run)) for run in group.run_ids] == [30, 30, 30]


class TestHome:
    def test_a_file_in_its_place_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "home").write_text("")
        with pytest.raises(SettingsError, match="cannot be used: .*; choose another one"):
            RunStore(tmp_path / "home")

    def test_a_database_that_is_none_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "playground.db").write_bytes(b"not a database, and long enough to see it" * 99)
        with pytest.raises(SettingsError, match="cannot be opened: .*move playground.db away"):
            RunStore(tmp_path)

    def test_a_home_that_can_only_be_read_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        RunStore(tmp_path).close()
        connect = sqlite3.connect

        def read_only(path: Path, **options: object) -> sqlite3.Connection:
            return connect(f"file:{path}?mode=ro", uri=True, **options)

        # A read-only file system, as sqlite sees it; file permissions would not stop root.
        monkeypatch.setattr(sqlite3, "connect", read_only)
        with pytest.raises(SettingsError, match="readonly database; .*choose another home folder"):
            RunStore(tmp_path)


def test_answers_are_read_back_in_the_order_of_the_rows(store: RunStore, run_id: str) -> None:
    first = Answer(row=0, prompt="2 + 2?", reference="4", answer="22")
    second = Answer(row=1, prompt="3 + 3?", reference="6", answer="6")
    store.append(run_id, EvalAnswers(step=0, when="before", answers=(second, first)))
    assert store.eval_answers(run_id, "before") == [first, second]
    assert store.eval_answers(run_id) == []


def test_half_a_character_in_an_answer_stops_no_run(store: RunStore, run_id: str) -> None:
    found = Answer(row=0, prompt="a\ud83d", reference="b", answer="c")
    store.append(run_id, EvalAnswers(step=9, when="after", answers=(found,)))
    assert store.eval_answers(run_id)[0].prompt == "a?"
