"""What a run says in numbers arrives in the sinks that were chosen, and nowhere else.

TensorBoard is the real one. trackio brings uvicorn's faster event loop with it, which would change
the server that every other test drives, so it is no requirement of ours: a stand-in with its
interface is tested always, and the real one where it is installed.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import socket
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from playground.config import SettingsError
from playground.events import CrossEval, Eval, Event, LayerError, Message, Stage
from playground.launcher import Launcher
from playground.sinks import VARIABLE, Arm, Fan, chosen_sinks, fan
from playground.sinks.scalars import scalars
from playground.store import RunStore
from tests import fakes
from tests.conftest import until_over

ARM = Arm("g-1", "1-fp16-seed42")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: socket.socket, address: object) -> None:
        raise AssertionError(f"a sink connects to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


class TestChosen:
    @pytest.mark.parametrize("text", ["", " ", ",", " , "])
    def test_none_by_default(self, text: str) -> None:
        assert chosen_sinks({}) == chosen_sinks({VARIABLE: text}) == ()

    def test_each_once_however_it_is_written(self) -> None:
        assert chosen_sinks({VARIABLE: " TensorBoard,tensorboard, "}) == ("tensorboard",)

    def test_an_unknown_name_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(SettingsError) as refused:
            chosen_sinks({VARIABLE: "tensorbord"})
        assert str(refused.value) == (
            "--log-to (PLAYGROUND_SINKS) names 'tensorbord', which is no place to log to; "
            "choose from tensorboard and trackio. Did you mean 'tensorboard'?"
        )

    def test_a_missing_package_is_refused_with_the_remedy(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(SettingsError, match="trackio, which is not installed; install it with"):
            chosen_sinks({VARIABLE: "trackio"})

    @pytest.mark.parametrize("variable", ["TRACKIO_SPACE_ID", "TRACKIO_SERVER_URL"])
    def test_figures_are_not_sent_elsewhere(
        self, monkeypatch: pytest.MonkeyPatch, variable: str
    ) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
        environment = {VARIABLE: "trackio", variable: "somewhere"}
        with pytest.raises(SettingsError, match=f"{variable} is set, so trackio would send"):
            chosen_sinks(environment)

    def test_no_run_exists_after_a_refusal(
        self, store: RunStore, launch: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(VARIABLE, "wandb")
        with pytest.raises(SettingsError, match="'wandb', which is no place to log to"):
            launch().start(fakes.preset("steady"))
        assert store.list_groups() == []


class TestScalars:
    def test_a_steps_numbers_have_our_columns_names(self) -> None:
        found = scalars(fakes.step(3, math.nan, memory_mib=None))
        assert found is not None and found.step == 3
        columns = {"loss", "grad_norm", "learning_rate", "loss_scale", "skipped", "tokens"}
        columns |= {"padded_tokens", "supervised_tokens", "step_ms", "tokens_per_s", "warmup"}
        assert set(found.values) == {f"steps/{name}" for name in columns | {"peak_mib"}}
        assert math.isnan(found.values["steps/loss"])
        assert found.values["steps/skipped"] == 0.0

    @pytest.mark.parametrize(
        ("event", "step", "values"),
        [
            (
                Eval(step=5, when="during", loss=2.0, tokens=9),
                5,
                {"evals/loss": 2.0, "evals/tokens": 9.0, "evals/exact_match_rows": 0.0},
            ),
            (
                CrossEval(base="nvfp4", merged=True, loss=2.5, tokens=9),
                None,
                {"cross_evals/nvfp4/merged/loss": 2.5},
            ),
            (
                LayerError(
                    step=1, layer="a.b", tensor="weight", relative_error=0.1, zeroed_share=0.2
                ),
                1,
                {
                    "layer_errors/a.b/weight/relative_error": 0.1,
                    "layer_errors/a.b/weight/zeroed_share": 0.2,
                },
            ),
        ],
    )
    def test_so_have_the_others(self, event: Event, step: int | None, values: dict) -> None:
        assert scalars(event) == (step, values)

    def test_words_are_no_numbers(self) -> None:
        assert scalars(Stage(name="x", progress=0.5)) is None
        assert scalars(Message(level="info", text="x")) is None


def tensorboard_values(home: Path, arm: Arm = ARM) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(home / "tensorboard" / arm.group / arm.name)).Reload()
    return {tag: [(e.step, e.value) for e in read.Scalars(tag)] for tag in read.Tags()["scalars"]}


class TestTensorBoard:
    def test_events_become_its_scalars(self, home: Path, no_network: None) -> None:
        sinks = Fan(["tensorboard"], home, ARM)
        cross = CrossEval(base="fp16", merged=False, loss=1.25, tokens=5)
        for event in [fakes.step(1, 4.0), fakes.step(2, math.inf), cross]:
            assert sinks.write(event) == []
        assert sinks.close() == []
        found = tensorboard_values(home)
        assert found["steps/loss"] == [(1, 4.0), (2, math.inf)]
        assert found["cross_evals/fp16/apart/loss"] == [(2, 1.25)]  # at the newest step

    def test_a_resumed_run_hides_what_it_does_again(self, home: Path) -> None:
        for numbers, loss in [((1, 2, 3, 4), 4.0), ((3, 4, 5), 3.0)]:
            sinks = Fan(["tensorboard"], home, ARM)
            for n in numbers:
                sinks.write(fakes.step(n, loss))
            sinks.close()
        steps = [(1, 4.0), (2, 4.0), (3, 3.0), (4, 3.0), (5, 3.0)]
        assert tensorboard_values(home)["steps/loss"] == steps

    @pytest.mark.slow
    def test_a_comparison_has_one_run_for_each_arm(
        self, store: RunStore, launch: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(VARIABLE, "tensorboard")
        group = until_over(store, launch().start(fakes.preset("steady", steps=3)).id)
        assert [run.status for run in group.runs] == ["finished"] * 2
        names = sorted(p.name for p in (store.home / "tensorboard" / group.id).iterdir())
        assert names == ["1-fp16-seed42", "2-nvfp4-seed42"]
        for name, run in zip(names, group.runs, strict=True):
            found = tensorboard_values(store.home, Arm(group.id, name))
            stored = [(s.step, pytest.approx(s.loss)) for s in store.steps(run.id)]
            assert found["steps/loss"] == stored  # fp32 there
            assert [step for step, _ in found["evals/loss"]] == [0, 3]


class StandIn:
    """As much of trackio as we call."""

    def __init__(self) -> None:
        self.module = SimpleNamespace(init=self.init)
        self.started: list[dict[str, Any]] = []
        self.logged: list[tuple[int, dict[str, float]]] = []
        self.finished = 0

    def init(self, **arguments: Any) -> StandIn:
        self.started.append(arguments)
        return self

    def log(self, metrics: dict[str, float], step: int) -> None:
        self.logged.append((step, metrics))

    def finish(self) -> None:
        self.finished += 1


def test_trackio_gets_the_same_and_nothing_of_the_machine(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "trackio", stand_in.module)
    monkeypatch.setenv("TRACKIO_DIR", "elsewhere")
    sinks = Fan(["trackio"], home, ARM)
    assert sinks.write(Stage(name="loading")) == [] and stand_in.started == []
    sinks.write(fakes.step(1, 4.0))
    sinks.close()
    (started,) = stand_in.started
    assert (started["project"], started["name"], started["resume"]) == (*ARM, "allow")
    assert not any(started[k] for k in ("embed", "auto_log_gpu", "auto_log_cpu"))
    assert "space_id" not in started and "server_url" not in started
    assert stand_in.logged == [(1, scalars(fakes.step(1, 4.0)).values)]
    assert stand_in.finished == 1
    assert os.environ["TRACKIO_DIR"] == str(home / "trackio")


@pytest.mark.skipif(
    importlib.util.find_spec("trackio") is None,
    reason="trackio is not installed: pip install trackio==0.43.0 in an environment of its own",
)
def test_the_real_trackio_keeps_them_in_a_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, no_network: None
) -> None:
    monkeypatch.setenv("TRACKIO_DIR", "elsewhere")  # restored afterwards
    sinks = Fan(["trackio"], home, ARM)
    for n in (1, 2):
        assert sinks.write(fakes.step(n, 4.0 / n)) == []
    assert sinks.close() == []
    (file,) = (home / "trackio").glob("*.db")
    with sqlite3.connect(file) as db:
        rows = db.execute("SELECT step, run_name, metrics FROM metrics ORDER BY step").fetchall()
    assert [(row[0], row[1]) for row in rows] == [(1, ARM.name), (2, ARM.name)]
    assert [json.loads(row[2])["steps/loss"] for row in rows] == [4.0, 2.0]


class TestFailures:
    def broken(self, monkeypatch: pytest.MonkeyPatch, fails_at: str) -> None:
        class Broken:
            def __init__(self, *_: object) -> None:
                self._maybe("open")

            def write(self, found: object) -> None:
                self._maybe("write")

            def close(self) -> None:
                self._maybe("close")

            def _maybe(self, what: str) -> None:
                if what == fails_at:
                    raise OSError(28, "No space left on device")

        monkeypatch.setitem(fan._OPENERS, "trackio", Broken)

    @pytest.mark.parametrize("fails_at", ["open", "write", "close"])
    def test_it_is_said_once_and_the_others_go_on(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, fails_at: str
    ) -> None:
        self.broken(monkeypatch, fails_at)
        sinks = Fan(["trackio", "tensorboard"], home, ARM)
        said = [*sinks.write(fakes.step(1, 4.0)), *sinks.write(fakes.step(2, 3.0))]
        said += sinks.close()
        assert [m.text for m in said] == [
            "trackio failed (OSError: [Errno 28] No space left on device), so it gets no more of "
            "this run."
        ]
        assert tensorboard_values(home)["steps/loss"] == [(1, 4.0), (2, 3.0)]

    def test_the_run_goes_on_and_keeps_the_warning(
        self, store: RunStore, launch: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(VARIABLE, "tensorboard")
        (store.home / "tensorboard").write_text("a file in its place")
        launcher: Launcher = launch()
        group = until_over(store, launcher.start(fakes.preset("steady", 2, "fp16")).id)
        assert group.runs[0].status == "finished"
        warnings = [m.text for m in store.messages(group.run_ids[0]) if m.level == "warning"]
        assert len(warnings) == 1 and warnings[0].startswith("tensorboard failed (")
