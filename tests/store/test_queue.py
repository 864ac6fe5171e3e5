"""One run at a time over all processes; a queued run belongs to the process that was asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.events import Cause, Outcome
from playground.store import RunStore
from tests import fakes

ROOT = Path(__file__).parent.parent.parent
MINE, OTHER = "1:1.0", "2:2.0"


def _queue(store: RunStore, owner: str, runs: int = 1) -> list[str]:
    return store.create_group("quick", "t", [fakes.config()] * runs, owner).run_ids


def test_runs_are_claimed_in_order_one_at_a_time(store: RunStore) -> None:
    first, second = _queue(store, MINE, runs=2)
    claimed = store.claim_next(MINE)
    assert claimed is not None and (claimed.id, claimed.status) == (first, "running")
    assert claimed.started_at is not None
    assert store.claim_next(MINE) is None
    store.settle(first, "finished", None, owner=MINE)
    claimed = store.claim_next(MINE)
    assert claimed is not None and claimed.id == second


def test_a_run_is_claimed_by_its_owner_only(store: RunStore) -> None:
    (run_id,) = _queue(store, MINE)
    assert store.claim_next(OTHER) is None
    claimed = store.claim_next(MINE)
    assert claimed is not None and claimed.id == run_id


def test_the_queue_has_one_order_over_all_owners(store: RunStore) -> None:
    (first,), (second,) = _queue(store, OTHER), _queue(store, MINE)
    assert store.claim_next(MINE) is None  # the other's run came first
    assert store.claim_next(OTHER) is not None
    store.settle(first, "finished", None, owner=OTHER)
    claimed = store.claim_next(MINE)
    assert claimed is not None and claimed.id == second


def test_nothing_starts_while_an_ended_runs_process_may_still_hold_memory(store: RunStore) -> None:
    first, _ = _queue(store, MINE, runs=2)
    store.claim_next(MINE)
    assert store.set_process(first, 77, 1.0)
    store.append(first, fakes.Status(status="finished"))
    assert store.claim_next(MINE) is None
    assert [run.id for run in store.live()][0] == first
    store.settle(first, "failed", "unheard", owner=MINE)
    assert store.get_run(first).status == "finished"
    assert store.claim_next(MINE) is not None


def test_only_a_running_run_takes_a_process_and_only_one(store: RunStore) -> None:
    (run_id,) = _queue(store, MINE)
    assert not store.set_process(run_id, 77, 1.0)
    store.claim_next(MINE)
    assert store.set_process(run_id, 77, 1.0)
    assert store.set_process(run_id, 77, 1.0)  # launcher and worker both say it
    assert not store.set_process(run_id, 78, 1.0)
    store.settle(run_id, "interrupted", "gone", owner=MINE)
    assert not store.set_process(run_id, 77, 1.0)


def test_settling_needs_the_owner(store: RunStore) -> None:
    (run_id,) = _queue(store, MINE)
    store.settle(run_id, "interrupted", "gone", owner=OTHER)
    assert store.get_run(run_id).status == "queued"
    assert not store.adopt(run_id, owner=OTHER, new_owner="3:3.0")
    assert store.adopt(run_id, owner=MINE, new_owner=OTHER)
    store.settle(run_id, "interrupted", "gone", owner=OTHER)
    run = store.get_run(run_id)
    assert (run.status, run.error) == ("interrupted", "gone")


def test_stop_ends_what_is_queued_and_asks_what_runs(store: RunStore) -> None:
    running, queued, _ = ids = _queue(store, MINE, runs=3)
    store.claim_next(MINE)
    assert not store.stop_requested(running)
    store.request_stop(*ids)
    assert store.stop_requested(running)
    assert store.get_run(running).status == "running"
    assert store.get_run(queued).status == "stopped"
    store.append(running, fakes.Status(status="stopped"))
    assert store.claim_next(MINE) is None


def test_stop_leaves_an_ended_run_as_it_is(store: RunStore) -> None:
    (run_id,) = _queue(store, MINE)
    store.claim_next(MINE)
    store.append(run_id, fakes.Status(status="finished"))
    store.request_stop(run_id)
    run = store.get_run(run_id)
    assert run.status == "finished" and not run.stop_requested


def test_a_pause_ends_what_is_queued_and_asks_what_runs(store: RunStore) -> None:
    running, queued = ids = _queue(store, MINE, runs=2)
    store.claim_next(MINE)
    store.request_stop(*ids, kind="pause")
    assert store.stop_kind(running) == "pause"
    assert [store.get_run(i).status for i in ids] == ["running", "paused"]
    store.request_stop(*ids)
    assert store.stop_kind(running) == "stop"
    assert store.get_run(queued).status == "paused"  # ended is ended
    store.request_stop(running, kind="pause")
    assert store.stop_kind(running) == "stop"


def _ended(store: RunStore, status: Outcome, cause: Cause | None = None) -> str:
    (run_id,) = _queue(store, MINE)
    store.claim_next(MINE)
    store.append(run_id, fakes.step(1), fakes.Status(status=status, error="So.", cause=cause))
    return run_id


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        ("stopped", None),
        ("paused", None),
        ("interrupted", "lost"),
        *(("failed", cause) for cause in ("out of memory", "killed", "crashed", "error")),
    ],
)
def test_an_ended_run_can_be_queued_again(
    store: RunStore, status: Outcome, cause: Cause | None
) -> None:
    run_id = _ended(store, status, cause)
    store.requeue(run_id, owner=OTHER)
    run = store.get_run(run_id)
    assert (run.status, run.attempt, run.owner) == ("queued", 2, OTHER)
    assert (run.error, run.cause, run.stop_kind, run.ended_at) == (None, None, None, None)
    assert len(store.steps(run_id)) == 1
    assert store.claim_next(MINE) is None
    claimed = store.claim_next(OTHER)
    assert claimed and claimed.id == run_id and not claimed.stop_requested


@pytest.mark.parametrize(
    ("status", "cause", "why"),
    [
        ("finished", None, "is finished; there is nothing left"),
        ("diverged", "not finite", "diverged and would again; start it anew"),
        ("failed", "refused", "was refused for its settings and would be again"),
    ],
)
def test_what_would_end_the_same_way_is_not(
    store: RunStore, status: Outcome, cause: Cause | None, why: str
) -> None:
    good, bad = _ended(store, "paused"), _ended(store, status, cause)
    with pytest.raises(SettingsError, match=why):
        store.requeue(good, bad, owner=MINE)
    assert [store.get_run(i).status for i in (good, bad)] == ["paused", status]  # all or none


def test_a_run_whose_process_may_live_is_not(store: RunStore) -> None:
    (run_id,) = _queue(store, MINE)
    with pytest.raises(SettingsError, match="is queued already"):
        store.requeue(run_id, owner=MINE)
    store.claim_next(MINE)
    store.set_process(run_id, 77, 1.0)
    store.append(run_id, fakes.Status(status="paused"))
    with pytest.raises(SettingsError, match="is still leaving; resume it in a moment"):
        store.requeue(run_id, owner=MINE)
    store.settle(run_id, "paused", None, owner=MINE)
    store.requeue(run_id, owner=MINE)


def test_a_resumed_run_takes_its_turn_behind_those_that_wait(store: RunStore) -> None:
    old = _ended(store, "paused")
    (waiting,) = _queue(store, MINE)
    store.requeue(old, owner=MINE)
    claimed = store.claim_next(MINE)
    assert claimed and claimed.id == waiting


def test_live_runs_are_found_without_a_scan(store: RunStore) -> None:
    with store.reading() as db:
        plan = db.execute(
            "EXPLAIN QUERY PLAN SELECT * FROM runs"
            " WHERE (status IN ('queued', 'running') OR pid IS NOT NULL) ORDER BY queued_at, rowid"
        )
        assert "runs_alive" in plan.fetchone()["detail"]


_CLAIMER = """
import sys
from playground.store import RunStore
store = RunStore(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
claimed = store.claim_next(sys.argv[2])
print(claimed.id if claimed else "none", flush=True)
"""


def test_of_processes_that_claim_at_once_one_gets_the_run(store: RunStore) -> None:
    (run_id, _) = _queue(store, MINE, runs=2)
    claimers = [
        subprocess.Popen(
            [sys.executable, "-c", _CLAIMER, str(store.home), MINE],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    assert all(c.stdout and c.stdout.readline() == "ready\n" for c in claimers)
    for claimer in claimers:
        assert claimer.stdin
        claimer.stdin.write("\n")
        claimer.stdin.flush()
    answers = [claimer.communicate(timeout=60)[0].strip() for claimer in claimers]
    assert sorted(answers) == sorted([run_id, "none", "none"])
