"""`compare` and `run`: exit codes, the JSON of the contract, the queue, Ctrl-C."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from playground.launcher import Launcher
from playground.store import RunStore
from tests import fakes
from tests.cli.terminals import Say, started
from tests.conftest import until


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
        process = started(home, "compare", "quick", "--set", "dataset=loading")

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
        process = started(
            home, "compare", "quick", "--set", "dataset=steady", "--set", "max_steps=3000"
        )
        assert process.stdout.readline().startswith("Comparison ")
        process.stdout.close()  # as `| head -1` does
        assert process.wait(timeout=30) == 1
        assert [run.status for run in store.list_groups()[0].runs] == ["stopped", "stopped"]
        assert not store.live()
