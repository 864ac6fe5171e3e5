"""What list and show print: whole ids, units, how it ran, and no more than 80 columns."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from playground.compare import RunRecord, run_json
from playground.config import PRECISIONS
from playground.events import Facts, Message, Status
from playground.store import Run, RunStore
from playground.tables import cross_table, group_table, groups_table, run_table
from tests import fakes

WIDTH = 80


def drawn(table: RenderableType) -> list[str]:
    console = Console(width=WIDTH, file=io.StringIO(), record=True)
    console.print(table, highlight=False)
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert all(len(line) <= WIDTH for line in lines)
    return lines


def finished(store: RunStore, steps: int = 3, title: str = "t") -> Run:
    """A run that a scripted training carried out."""
    group = store.create_group("quick", title, [fakes.config(steps=steps)], "1:1.0")
    store.claim_next("1:1.0")
    [run] = group.runs
    events = fakes.steady(run.config, folder=Path(), should_stop=lambda: False)
    store.append(run.id, *(e for e in events if not isinstance(e, Message)))
    store.append(run.id, Status(status="finished"))
    return store.get_run(run.id)


def result(store: RunStore, run: Run) -> dict:
    return run_json(RunRecord.of(run, store.steps(run.id), store.evals(run.id)))


def fields(lines: list[str]) -> dict[str, str]:
    return {line[:18].strip(): line[18:].strip() for line in lines}


class TestGroups:
    def test_ids_are_whole_and_long_titles_wrap(self, store: RunStore) -> None:
        title = "[b]Quick look[/b]: " + "very_long_setting=1, " * 6
        ids = [finished(store, title=title).group_id, finished(store, 7).group_id]
        lines = drawn(groups_table(store, [store.get_group(i) for i in ids]))
        for id in ids:
            assert sum(id in line for line in lines) == 1
        assert any("[b]Quick look[/b]" in line for line in lines)
        assert sum(line.count("very_long_setting=1") for line in lines) == 6
        assert any(line.endswith("FP16 finished 3/3") for line in lines)
        assert any(line.endswith("FP16 finished 7/7") for line in lines)

    def test_a_run_that_has_not_begun_has_no_steps(self, store: RunStore) -> None:
        group = store.create_group("quick", "t", fakes.preset("steady", 9).configs, "1:1.0")
        lines = drawn(groups_table(store, [group]))
        assert lines[1].endswith("FP16 queued 0/9, NVFP4 queued 0/9")

    def test_every_precision_at_once(self, store: RunStore) -> None:
        configs = [fakes.config(precision=name) for name in PRECISIONS]
        lines = drawn(groups_table(store, [store.create_group("quick", "t", configs, "1:1.0")]))
        text = " ".join(" ".join(lines).split())
        assert all(f"{info.label} queued 0/5" in text for info in PRECISIONS.values())


WIDEST = max(PRECISIONS, key=lambda name: len(PRECISIONS[name].label))


def widest_run(seed: int = 42, **changes: object) -> dict:
    """What takes the most room in each cell of a group's table."""
    return {
        "requested": WIDEST,
        "seed": seed,
        "how": "weight-only",
        "status": "interrupted",
        "steps": 100_000,
        "train_loss_last": 10.12345,
        "eval_loss_before": 11.12345,
        "eval_loss_after": None,
        "memory": {"weights_mib": 512.25},
        "cross": [],
    } | changes


def test_the_widest_group_fits() -> None:
    result = {"runs": [widest_run()]}
    row = next(line for line in drawn(group_table(result)) if "weight-only" in line)
    for part in (PRECISIONS[WIDEST].label, "interrupted", "100000", "10.1235",
                 "11.1235 → –", "512.25 MiB"):  # fmt: skip
        assert part in row


class TestSeveralSeeds:
    def _result(self) -> dict:
        runs = [
            widest_run(seed, requested=name, status="finished", eval_loss_after=loss)
            for seed, shift in ((42, 0.0), (43, 0.02))
            for name, loss in (("fp16", 10.5 + shift), (WIDEST, 10.6 + shift))
        ]
        found = {"candidate": WIDEST, "loss_delta": -0.1, "loss_delta_noise": 10.25}
        return {"runs": runs, "verdict": {"comparisons": [found]}}

    def test_a_precision_has_its_mean_and_noise_above_its_runs(self) -> None:
        lines = drawn(group_table(self._result()))
        at = next(i for i, line in enumerate(lines) if line.startswith(PRECISIONS[WIDEST].label))
        for part in ("weight-only", "2 of 2 done", "10.6100 ± 0.0141", "−0.1000 ± 10.2500"):
            assert part in lines[at]
        assert lines[at + 1].split() == [
            "seed", "42", "finished", "11.1235", "→", "10.6000"
        ]  # fmt: skip
        assert "seed 43" in lines[at + 2]
        yardstick = next(line for line in lines if line.startswith("FP16"))
        assert "10.5100 ± 0.0141" in yardstick and "± 10" not in yardstick

    def test_what_did_not_finish_is_not_in_the_mean(self) -> None:
        result = self._result()
        result["runs"][3] |= {"status": "interrupted", "eval_loss_after": None}
        lines = drawn(group_table(result))
        row = next(line for line in lines if line.startswith(PRECISIONS[WIDEST].label))
        assert "1 of 2 done" in row and "10.6000" in row and "±" not in row.split("10.6000")[0]
        assert any("interrupted" in line and "11.1235 → –" in line for line in lines)

    def test_a_list_counts_the_runs_of_each_precision(self, store: RunStore) -> None:
        configs = [c.with_seed(s) for s in (1, 2) for c in fakes.preset("steady", 9).configs]
        group = store.create_group("quick", "t", configs, "1:1.0")
        store.append(group.run_ids[0], Status(status="paused"))
        [_, line] = drawn(groups_table(store, [store.get_group(group.id)]))
        assert line.endswith("FP16 1 paused and 1 queued, NVFP4 2 queued")


class TestOtherBases:
    def test_a_row_for_each_adapter_and_a_column_for_each_base(self) -> None:
        crossed = [
            {"base": "fp16", "merged": False, "loss": 0.53},
            {"base": "nvfp4", "merged": True, "loss": None},
        ]
        runs = [widest_run(), widest_run(requested="nvfp4", eval_loss_after=0.5, cross=crossed)]
        head, _, row = drawn(cross_table({"runs": runs}))
        assert "on FP16" in head and "merged into NVFP4" in head
        assert row.split() == ["NVFP4", "0.5000", "0.5300", "–"]

    def test_every_adapter_on_every_base_can_be_read(self) -> None:
        crossed = [
            {"base": base, "merged": merged, "loss": 10.12345}
            for base in PRECISIONS
            for merged in (False, True)
        ]
        runs = [
            widest_run(requested=name, eval_loss_after=10.5, cross=crossed) for name in PRECISIONS
        ]
        lines = drawn(cross_table({"runs": runs}))
        rows = [line for line in lines if "10.5000" in line]
        for info in PRECISIONS.values():
            own = [row for row in rows if row.startswith(f"{info.label}  ")]
            assert sum(row.split().count("10.1235") for row in own) == len(crossed)

    def test_there_is_none_where_none_was_judged(self) -> None:
        assert cross_table({"runs": [widest_run()]}) is None


class TestRun:
    def test_words_with_units_and_how_it_ran(self, store: RunStore) -> None:
        run = finished(store)
        lines = drawn(run_table(run, result(store, run)))
        assert not any("_" in line for line in lines)  # no key of the JSON
        shown = fields(lines)
        assert shown["run"] == run.id and shown["comparison"] == run.group_id
        assert shown["precision"] == "FP16" and shown["status"] == "finished"
        assert shown["how it ran"].startswith("emulated: No GPU was found")
        assert shown["steps"] == "3 of 3" and shown["tokens"] == "1,440, and 96 of padding"
        assert shown["held-out loss"] == "4.0000 → 0.6000 nats a token"
        assert shown["answered exactly"] == "0% → 80%"
        assert shown["speed"] == "24,000 tokens/s (median, 2 warm-up steps left out), emulated"
        assert shown["time of a step"].startswith("20.0 ms (median")
        assert shown["weights"] == "2.00 MiB, tensor bytes, emulated"
        for name in ("adapters", "optimizer", "peak memory"):
            assert " MiB, " in shown[name] and shown[name].endswith(", emulated")
        assert shown["batches"].startswith("sha256 bbbb")
        told = result(store, run)
        told["predicted"] |= {"weights_mib": 1.9, "peak_mib": told["memory"]["peak_mib"]}
        shown = fields(drawn(run_table(run, told)))
        assert shown["weights"].endswith(", emulated; predicted 1.90 MiB (−5.0%)")
        assert shown["peak memory"].endswith("MiB (±0.0%)")
        told["memory"]["peak_mib"] = None
        told["predicted"]["peak_mib"] = 12_345.0
        assert fields(drawn(run_table(run, told)))["predicted peak"] == "12,345.00 MiB"

    def test_what_was_not_measured_has_no_line(self, store: RunStore) -> None:
        group = store.create_group("quick", "t", [fakes.config()], "1:1.0")
        store.append(group.run_ids[0], Status(status="failed", error="It [b]broke[/b]."))
        run = store.get_run(group.run_ids[0])
        shown = fields(drawn(run_table(run, result(store, run))))
        assert shown["status"] == "failed: It [b]broke[/b]." and shown["steps"] == "0 of 5"
        assert not {"speed", "weights", "loss", "held-out loss", "how it ran", "tokens"} & set(
            shown
        )

    def test_target_energy_healing_and_other_bases_have_their_lines(self, store: RunStore) -> None:
        run = finished(store)
        shown = result(store, run) | {
            "cause": "killed",
            "healed_at_step": 46,
            "healed_to": "bf16",
            "target_loss": 0.7,
            "time_to_target": {"steps": 30, "tokens": 14_400, "seconds": 61.25, "joules": 900.4},
            "energy_j": 1800.0,
            "joules_per_token": 0.0625,
            "cross": [
                {"base": "fp16", "merged": False, "loss": 0.5},
                {"base": "nvfp4", "merged": True, "loss": 0.9},
            ],
        }
        found = fields(drawn(run_table(run, shown)))
        assert found["status"] == "finished (killed)" and found["seed"] == "42"
        assert found["healed"] == "from step 46 on in BF16"
        assert found["to the target"].startswith("held-out loss 0.7 at step 30, after 14,400 tok")
        assert found["energy"] == "0.0625 J/token, 1,800 J in all steps, emulated"
        assert found["on FP16"] == "0.5000 nats a token held out"
        assert found["merged, NVFP4"] == "0.9000 nats a token held out"
        missed = shown | {"time_to_target": None}
        found = fields(drawn(run_table(run, missed)))
        assert found["to the target"] == "held-out loss 0.7 not reached"

    def test_another_precision_than_was_asked_for_is_said(self, store: RunStore) -> None:
        run = finished(store)
        store.append(run.id, Facts(effective="nvfp4"))
        run = store.get_run(run.id)
        assert fields(drawn(run_table(run, result(store, run))))["precision"] == (
            "FP16, but ran as NVFP4"
        )

    @pytest.mark.parametrize("path", ["models/mine", "rows.jsonl"])
    def test_a_path_under_the_home_folder_is_short(
        self, store: RunStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: str
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        group = store.create_group("quick", "t", [fakes.config(str(tmp_path / path))], "1:1.0")
        run = group.runs[0]
        lines = drawn(run_table(run, result(store, run)))
        assert fields(lines)["dataset"] == f"~/{path}"
