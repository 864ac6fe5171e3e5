"""`pause` and `resume`, of a comparison and of one run."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground import __main__ as terminal
from playground.store import Group, RunStore
from tests.cli.terminals import Say, started
from tests.conftest import until


class TestPauseAndResume:
    @pytest.fixture
    def group(self, home: Path, store: RunStore) -> Iterator[Group]:
        """Two runs of 40 steps in another terminal, the first of them under way."""
        process = started(home, "compare", "quick", "--set", "dataset=steady",
                           "--set", "max_steps=40")  # fmt: skip
        until(lambda: store.live() and len(store.steps(store.live()[0].id)) >= 3, "its first steps")
        yield store.list_groups()[0]
        process.communicate(timeout=30)

    def test_a_comparison_is_paused_and_gone_on_with_to_its_end(
        self, say: Say, group: Group, store: RunStore, tmp_path: Path
    ) -> None:
        file = tmp_path / "out.json"
        code, out, _ = say("pause", group.id, "--json", file)
        assert code == 0
        assert out.splitlines() == [f"{run_id}: paused" for run_id in group.run_ids]
        assert {r["status"] for r in json.loads(file.read_text())} == {"paused"}
        done = len(store.steps(group.run_ids[0]))
        assert done < 40

        code, out, err = say("resume", group.id, "--json", file)
        assert (code, err) == (0, "")
        assert out.startswith(f"Comparison {group.id}\n") and "NVFP4: finished" in out
        result = json.loads(file.read_text())
        assert result["group"] == group.id
        assert [(r["status"], r["steps"]) for r in result["runs"]] == [("finished", 40)] * 2
        assert result["verdict"]["text"] in out and "Go on with it" not in out

    def test_one_run_of_it_alone(self, say: Say, group: Group, store: RunStore) -> None:
        say("pause", group.id)
        code, out, _ = say("resume", group.run_ids[1])
        assert code == 0
        assert f"python -m playground resume {group.id} --home " in out  # for the other
        assert [r.status for r in store.get_group(group.id).runs] == ["paused", "finished"]

    def test_who_leaves_stops_only_what_they_started_themselves(
        self, say: Say, group: Group, store: RunStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        theirs, ours = group.run_ids
        say("pause", ours)
        monkeypatch.setattr(terminal, "interrupted", lambda: lambda: True)  # Ctrl-C at once
        code, out, _ = say("resume", ours)
        assert code == 1 and "Stopping" in out and "What others started of it goes on.\n" in out
        assert store.get_run(ours).status == "stopped"
        assert not store.get_run(theirs).stop_requested
        until(lambda: store.get_run(theirs).status == "finished", "the other terminal's run")

    def test_what_cannot_be_resumed_is_refused_in_a_sentence(
        self, say: Say, group: Group, store: RunStore
    ) -> None:
        code, out, err = say("resume", group.run_ids[0])
        assert (code, out) == (1, "")
        assert "is running already; it needs no resuming." in err and len(err.splitlines()) == 1
        say("stop", group.id)
        say("resume", group.run_ids[0])
        code, _, err = say("resume", group.run_ids[0])
        assert code == 1 and "is finished; there is nothing left to resume." in err
        assert not store.live()

    def test_a_run_whose_terminal_was_killed_goes_on_in_another(
        self, say: Say, home: Path, store: RunStore
    ) -> None:
        process = started(home, "run", "quick", "--set", "dataset=steady", "--set", "max_steps=60")
        until(lambda: store.list_groups() and store.live()[0].pid, "the run")
        run = store.live()[0]
        until(lambda: store.steps(run.id), "its first step")
        process.kill()
        process.communicate()
        os.kill(run.pid or 0, signal.SIGKILL)
        code, out, _ = say("resume", run.id)
        assert code == 0
        after = store.get_run(run.id)
        assert (after.status, after.attempt) == ("finished", 2)
        assert len(store.steps(run.id)) == 60
