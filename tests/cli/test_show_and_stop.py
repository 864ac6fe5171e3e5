"""`list`, `show` and `stop`: earlier runs, and those of another terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from playground.launcher import Launcher
from playground.store import RunStore
from tests import fakes
from tests.cli.terminals import Say, started
from tests.conftest import until, until_over


class TestLookingAtRuns:
    @pytest.fixture
    def group_id(self, store: RunStore, launch: Callable[..., Launcher]) -> str:
        group = launch().start(fakes.preset("steady", steps=3), title="$(touch x) 🦙")
        return until_over(store, group.id).id

    def test_list_names_them_newest_first(
        self, say: Say, group_id: str, store: RunStore, tmp_path: Path
    ) -> None:
        newer = store.create_group("quick", "newer", [fakes.config()], "1:1.0").id
        file = tmp_path / "list.json"
        code, out, _ = say("list", "--json", file)
        assert code == 0 and "$(touch x) 🦙" in out and group_id in out
        listed: list[dict[str, Any]] = json.loads(file.read_text())
        assert [g["id"] for g in listed] == [newer, group_id]
        assert [r["status"] for r in listed[1]["runs"]] == ["finished", "finished"]

    def test_list_of_an_empty_home_creates_none(self, say: Say, home: Path) -> None:
        code, out, _ = say("list")
        assert code == 0 and out.startswith("No runs yet in ")
        assert not home.exists()

    def test_a_run_whose_process_is_gone_does_not_read_running(
        self, say: Say, store: RunStore
    ) -> None:
        store.create_group("quick", "lost", [fakes.config()], "1:1.0")
        store.claim_next("1:1.0")
        _, out, _ = say("list")
        assert "FP16 interrupted" in out

    def test_show_a_group_and_a_run(
        self, say: Say, group_id: str, store: RunStore, tmp_path: Path
    ) -> None:
        file = tmp_path / "show.json"
        code, out, _ = say("show", group_id, "--json", file)
        shown = json.loads(file.read_text())
        assert code == 0 and shown["group"] == group_id and shown["verdict"]["text"] in out
        run_id = store.get_group(group_id).run_ids[1]
        code, out, _ = say("show", run_id[:-1], "--json", file)
        assert code == 0 and json.loads(file.read_text())["id"] == run_id
        assert run_id in out and group_id in out and "info: Scripted run complete." in out
        code, _, err = say("show", "r-nothing")
        assert code == 1 and "'r-nothing' is unknown" in err

    def test_stop_of_an_ended_one_says_so(self, say: Say, group_id: str) -> None:
        code, out, _ = say("stop", group_id)
        assert code == 0 and out.count("already finished") == 2

    def test_stop_reaches_a_run_of_another_process(
        self, say: Say, home: Path, store: RunStore, tmp_path: Path
    ) -> None:
        process = started(home, "compare", "quick", "--set", "dataset=loading")
        until(lambda: store.live() and store.live()[0].pid, "the other's run")
        group = store.list_groups()[0]
        file = tmp_path / "stop.json"
        code, _, _ = say("stop", group.id, "--json", file)
        assert code == 0
        assert {r["status"] for r in json.loads(file.read_text())} == {"stopped"}
        process.communicate(timeout=15)
        assert process.returncode == 1  # its runs did not finish

    def test_stop_reaches_a_run_whose_terminal_is_gone(
        self, say: Say, home: Path, store: RunStore
    ) -> None:
        process = started(home, "compare", "quick", "--set", "dataset=loading")
        until(lambda: store.live() and store.live()[0].stage, "the other's run")
        process.kill()
        process.communicate()
        group = store.list_groups()[0]
        assert say("stop", group.run_ids[0])[0] == 0
        assert [run.status for run in store.get_group(group.id).runs] == [
            "stopped",
            "interrupted",
        ]
