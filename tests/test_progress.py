"""A comparison as it runs, drawn in a terminal."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from playground.events import Eval, Status
from playground.progress import clock, number, view, waiting_for
from playground.store import RunStore
from tests import fakes


class TestLiveView:
    def test_a_table_row_for_each_run(self, store: RunStore) -> None:
        group = store.create_group("quick", "[b]t[/b]", fakes.preset("steady", 40).configs, "1:1.0")
        first, _ = group.run_ids
        store.claim_next("1:1.0")
        events = fakes.steady(group.runs[0].config, folder=Path(), should_stop=lambda: False)
        store.append(first, *(next(events) for _ in range(14)))
        console = Console(force_terminal=True, width=160, record=True, file=io.StringIO())
        drawn = view(store, console)
        with drawn:
            drawn.show(store.get_group(group.id))
        text = console.export_text()
        assert "[b]t[/b]" in text
        fp16 = next(line for line in text.splitlines() if "FP16" in line and "10/40" in line)
        for part in ("training", "2.6229", "4.0000", "24,000, emulated", "0:01"):
            assert part in fp16
        assert any("NVFP4" in line and "queued" in line and "0/40" in line
                   for line in text.splitlines())  # fmt: skip

    def test_with_seeds_a_row_for_each_precision_and_one_for_what_runs(
        self, store: RunStore
    ) -> None:
        one = fakes.preset("steady", 40)
        configs = [c.with_seed(s) for s in (42, 43) for c in one.configs]
        group = store.create_group("quick", "t", configs, "1:1.0")
        for run, loss in ((group.runs[0], 0.6), (group.runs[2], 0.8)):
            store.append(run.id, Eval(step=40, when="after", loss=loss, tokens=9))
            store.append(run.id, Status(status="finished"))
        running = store.claim_next("1:1.0")
        store.append(running.id, fakes.step(10))
        console = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
        with view(store, console) as drawn:
            drawn.show(store.get_group(group.id))
        lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
        assert "FP16 2 of 2 done 0.7000 ± 0.1414" in lines
        assert "NVFP4 0 of 2 done –" in lines
        assert any(line.startswith("seed 42 starting 10/40") for line in lines)
        assert not any("seed 43" in line for line in lines)  # it waits, or went well

    def test_figures(self) -> None:
        assert (number(None), number(1234.5, 1), number(float("nan"))) == ("–", "1,234.5", "nan")
        assert (clock(0.4), clock(61), clock(3599.6)) == ("0:00", "1:01", "60:00")

    def test_nothing_to_wait_for(self, store: RunStore) -> None:
        group = store.create_group("quick", "t", [fakes.config()], "1:1.0")
        assert waiting_for(store, group.id) is None
