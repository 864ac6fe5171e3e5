"""The terminal twin: exit codes, the JSON of the contract, one sentence for bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from playground import __main__ as terminal
from playground.launcher import Launcher
from playground.store import Group, RunStore, StoreError
from tests import fakes
from tests.conftest import until, until_over
from tests.fakes_cli import use_scripts

ROOT = Path(__file__).parent.parent
Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def say(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs a command in this process with scripted workers: (exit code, stdout, stderr)."""
    use_scripts(monkeypatch.setattr)
    monkeypatch.setattr(terminal, "interrupted", lambda: lambda: False)  # pytest's own signals
    monkeypatch.setenv("PLAYGROUND_HOME", str(home))
    monkeypatch.setenv("PLAYGROUND_SINKS", "")  # --log-to sets it: to be put back

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["playground", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            terminal.main()
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return run


def _started(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """A terminal of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fakes_cli", *arguments, "--home", str(home)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class TestCompare:
    def test_runs_to_its_end_and_writes_the_contract(self, say: Say, tmp_path: Path) -> None:
        file = tmp_path / "out.json"
        code, out, err = say(
            "compare", "quick", "--set", "dataset=steady", "--set", "max_steps=20",
            "--title", "[red]mine[/red] ../../x", "--json", file,
        )  # fmt: skip
        assert (code, err) == (0, "")
        result = json.loads(file.read_text())
        assert result["preset"] == "quick" and result["group"].startswith("g-")
        assert result["device"]["name"] == "Scripted CPU"
        fp16, nvfp4 = result["runs"]
        assert (fp16["requested"], nvfp4["requested"]) == ("fp16", "nvfp4")
        assert {r["status"] for r in result["runs"]} == {"finished"}
        assert fp16["steps"] == 20 and fp16["tokens"] == 20 * 480 and fp16["warmup_steps"] == 2
        assert (fp16["eval_loss_before"], fp16["eval_loss_after"]) == (4.0, 0.6)
        assert nvfp4["memory"]["weights_mib"] == 4.5 / 8
        assert nvfp4["coverage"] == {
            "converted": 28, "skipped": [], "share_of_linear_weights": 0.9,
        }  # fmt: skip
        assert result["fair"]["same_batches"] is True
        assert result["verdict"]["text"] in out
        assert "[red]mine[/red] ../../x" in out  # as typed, not as colour

    def test_says_what_happens_line_by_line_without_a_terminal(self, say: Say) -> None:
        _, out, _ = say("compare", "quick", "--set", "dataset=steady", "--set", "max_steps=20")
        lines = out.splitlines()
        for line in (
            "FP16: training",
            "FP16: held-out loss before training 4.0000, 0% answered exactly",
            "FP16: info: Scripted run complete.",
            "FP16: finished",
            "NVFP4: held-out loss after training 0.6000, 80% answered exactly",
            "NVFP4: finished",
        ):
            assert line in lines
        assert lines.index("FP16: finished") < lines.index("NVFP4: finished")
        steps = [line for line in lines if line.startswith("FP16: step 20/20, loss 1.7876")]
        assert steps == ["FP16: step 20/20, loss 1.7876, 24,000 tokens/s, emulated"]

    @pytest.mark.parametrize("script", ["raises", "diverges", "killed"])
    def test_a_run_that_does_not_finish_is_exit_code_1(
        self, say: Say, tmp_path: Path, script: str
    ) -> None:
        file = tmp_path / "out.json"
        code, out, _ = say("compare", "quick", "--set", f"dataset={script}", "--json", file)
        assert code == 1
        runs = json.loads(file.read_text())["runs"]
        assert all(r["error"] and r["status"] != "finished" for r in runs)
        assert runs[0]["error"] in out

    def test_run_is_one_precision(self, say: Say, tmp_path: Path) -> None:
        file = tmp_path / "out.json"
        settings = ("--set", "dataset=steady", "--set", "max_steps=1", "--json", file)
        assert say("run", "quick", "--precision", "nvfp4", *settings)[0] == 0
        assert [r["requested"] for r in json.loads(file.read_text())["runs"]] == ["nvfp4"]

    def test_figures_go_where_they_are_asked_to(self, say: Say, home: Path) -> None:
        settings = ("--set", "dataset=steady", "--set", "max_steps=1")
        assert say("run", "quick", "--log-to", "tensorboard", *settings)[0] == 0
        assert [p.name for p in home.glob("tensorboard/*/*")] == ["1-fp16-seed42"]

    @pytest.mark.parametrize("asked", [("--seeds", "2"), ("--set", "seeds=2")])
    def test_seeds_repeat_each_precision(self, say: Say, tmp_path: Path, asked: tuple) -> None:
        file = tmp_path / "out.json"
        code, out, _ = say(
            "compare", "quick", "--set", "dataset=steady", "--set", "max_steps=1", *asked,
            "--json", file,
        )  # fmt: skip
        result = json.loads(file.read_text())
        assert code == 0
        assert [(r["requested"], r["seed"]) for r in result["runs"]] == [
            ("fp16", 42), ("nvfp4", 42), ("fp16", 43), ("nvfp4", 43)
        ]  # fmt: skip
        assert "FP16, seed 42: finished" in out and "NVFP4, seed 43: finished" in out
        assert result["verdict"]["loss_delta_noise"] == 0  # the script says the same each time
        assert result["fair"]["only_difference"] == ["precision"]
        assert result["verdict"]["headline"].startswith("NVFP4 is within noise of FP16")

    def test_waits_in_the_queue_while_another_run_is_live(
        self, say: Say, store: RunStore, launch: Callable[..., Launcher]
    ) -> None:
        launcher = launch()
        other = launcher.start(fakes.preset("steady", steps=60, precisions="fp16"), title="Mine")
        until(lambda: store.steps(other.run_ids[0]), "the other run's first step")
        code, out, _ = say("run", "quick", "--set", "dataset=steady", "--set", "max_steps=1")
        assert code == 0
        assert f"Another run is live: 'Mine' in FP16 ({other.run_ids[0]})." in out
        ended = store.get_run(other.run_ids[0])
        assert ended.status == "finished" and ended.ended_at
        started = store.list_groups()[0].runs[0].started_at
        assert started and ended.ended_at <= started


class TestInterrupted:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_ctrl_c_stops_the_run_and_leaves_nothing(
        self, home: Path, store: RunStore, number: signal.Signals
    ) -> None:
        process = _started(home, "compare", "quick", "--set", "dataset=loading")

        def tokenising() -> bool:
            groups = store.list_groups()
            stage = groups and groups[0].runs[0].stage
            return bool(stage) and stage.name == "tokenising"

        until(tokenising, "the run to tokenise")
        process.send_signal(number)
        process.send_signal(number)  # an impatient second one changes nothing
        out, err = process.communicate(timeout=15)
        assert process.returncode == 1, err
        assert "Stopping; this takes at most 10 seconds." in out
        assert "Traceback" not in err
        runs = store.list_groups()[0].runs
        assert [run.status for run in runs] == ["stopped", "stopped"]
        assert not store.live()

    def test_a_reader_that_goes_away_leaves_no_run_behind(
        self, home: Path, store: RunStore
    ) -> None:
        process = _started(
            home, "compare", "quick", "--set", "dataset=steady", "--set", "max_steps=3000"
        )
        assert process.stdout.readline().startswith("Comparison ")
        process.stdout.close()  # as `| head -1` does
        assert process.wait(timeout=30) == 1
        assert [run.status for run in store.list_groups()[0].runs] == ["stopped", "stopped"]
        assert not store.live()


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["compare", "quik"], "Preset 'quik' is unknown"),
            (["compare", "./none.yaml"], "does not exist"),
            (["compare", "quick", "--set", "max_steps=0"], "max_steps is '0'"),
            (["compare", "quick", "--set", "max_steps"], "has no value; write"),
            (["compare", "quick", "--set", "lr=1"], "Setting 'lr' is unknown"),
            (["compare", "quick", "--set", "precisions=fp16,fp61"], "Precision 'fp61' is unknown"),
            (["compare", "quick", "--seeds", "0"], "'seeds' is '0'; give how often"),
            (
                ["compare", "quick", "--seeds", "3", "--set", "seeds=2"],
                "seeds=2 disagree; give one",
            ),
            (["compare", "quick", "--set", "model=tinny"], "tinny"),
            (["compare", "quick", "--log-to", "wandb"], "'wandb', which is no place to log to"),
            (["compare", "quick", "--json", "/nowhere/x.json"], "'/nowhere/x.json' cannot be"),
            (["compare", "quick", "--json", "/dev/null/x.json"], "(Not a directory); choose"),
            (["compare", "quick", "--json", "x" * 300], "(File name too long); choose another"),
            (["compare", "~nosuchuser/x.yaml"], "'~nosuchuser/x.yaml' begins with the name of a"),
            (["list", "--home", "~nosuchuser/x"], "'~nosuchuser/x' begins with the name of a user"),
            (["run", "quick", "--precision", "fp61"], "Precision 'fp61' is unknown"),
            (
                ["show", "g-1"],
                "holds no runs; start one with `.venv/bin/python -m playground compare",
            ),
            (["stop", "g-1"], "holds no runs"),
            (["resume", "g-1"], "holds no runs"),
            (["list", "--json", "/nowhere/x.json"], "cannot be written"),
        ],
    )
    def test_one_sentence_exit_1_and_nothing_created(
        self, say: Say, home: Path, arguments: list[str], says: str
    ) -> None:
        if "dataset=" not in " ".join(arguments) and arguments[0] in ("compare", "run"):
            arguments = [*arguments, "--set", "dataset=steady"]
        code, out, err = say(*arguments)
        assert code == 1 and out == ""
        assert says in err and "Traceback" not in err
        assert len(err.splitlines()) == 1
        assert not home.exists()

    @pytest.mark.parametrize("arguments", [[], ["compare"], ["dance"], ["list", "--limit", "0"]])
    def test_a_wrong_command_gets_help_not_a_traceback(
        self, say: Say, home: Path, arguments: list[str]
    ) -> None:
        code, out, err = say(*arguments)
        assert code == 2 and "Traceback" not in out + err and "Usage" in out + err
        assert not home.exists()

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"", "has no rows"),
            (b'{"foo": 1}\n{"foo": 2}\n', "The columns foo are not a known format"),
            (b'{"text": "a"}\nno json\n', "Line 2 of 'rows.jsonl' is not JSON"),
        ],
    )
    def test_a_file_that_cannot_be_learned_from_is_refused_once(
        self, home: Path, tmp_path: Path, content: bytes, says: str
    ) -> None:
        (tmp_path / "rows.jsonl").write_bytes(content)
        done = subprocess.run(
            [sys.executable, "-m", "playground", "compare", "quick", "--home", str(home),
             "--set", f"dataset={tmp_path / 'rows.jsonl'}"],
            cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 1 and done.stdout == ""
        assert says in done.stderr and len(done.stderr.splitlines()) == 1
        assert not home.exists()

    def test_the_real_catalog_refuses_before_anything_is_created(self, home: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "playground", "compare", "quick", "--set", "dataset=iso-date"],
            cwd=ROOT,
            env=os.environ | {"PLAYGROUND_HOME": str(home)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1 and done.stdout == ""
        assert "iso-date" in done.stderr and len(done.stderr.splitlines()) == 1
        assert not home.exists()


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
        process = _started(home, "compare", "quick", "--set", "dataset=loading")
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
        process = _started(home, "compare", "quick", "--set", "dataset=loading")
        until(lambda: store.live() and store.live()[0].stage, "the other's run")
        process.kill()
        process.communicate()
        group = store.list_groups()[0]
        assert say("stop", group.run_ids[0])[0] == 0
        assert [run.status for run in store.get_group(group.id).runs] == [
            "stopped",
            "interrupted",
        ]


class TestPauseAndResume:
    @pytest.fixture
    def group(self, home: Path, store: RunStore) -> Iterator[Group]:
        """Two runs of 40 steps in another terminal, the first of them under way."""
        process = _started(home, "compare", "quick", "--set", "dataset=steady",
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
        process = _started(home, "run", "quick", "--set", "dataset=steady", "--set", "max_steps=60")
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


def test_a_database_that_cannot_be_used_is_one_sentence(
    say: Say, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> list:
        raise StoreError("database or disk is full")

    monkeypatch.setattr(RunStore, "search", full)
    code, out, err = say("list")
    assert (code, out) == (1, "")
    assert err == (
        "The run database cannot be used: database or disk is full; see that it can be written "
        "and has room.\n"
    )
