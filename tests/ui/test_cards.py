"""What a preset's card says of this machine, and the cards of a person's own."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from playground import fit
from playground.config import PRECISIONS
from playground.events import Facts, Status
from playground.hardware import Device
from playground.own_presets import save_preset
from playground.presets import load_preset, own_folder
from playground.store import Group, RunStore
from playground.ui import cards, expected
from playground.ui.text import cards as text

README = (Path(__file__).parents[2] / "README.md").read_text()
CPU = Device("Some CPU", "cpu", None, None, None, False, None, "No GPU driver is installed.", 2)


def gpu(capability: str) -> Device:
    native = capability in ("10.0", "12.0")
    return Device("Some GPU", "cuda", 0, 32_000, capability, native, None, "It has one.", 2)


def test_how_each_precision_runs_is_what_the_readme_says() -> None:
    table = README.split("## Which precision runs how")[1].split("\n\n")[1]
    said = {}
    for line in table.splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        said[cells[0].strip("`")] = cells[-3:]
    assert set(said) == set(PRECISIONS)
    for name, (on_cpu, on_gpu, on_blackwell) in said.items():
        assert expected.how(name, CPU) == on_cpu, name
        assert expected.how(name, gpu("12.0")) == on_blackwell, name
        way, _, least = on_gpu.partition(" from sm_")
        assert expected.how(name, gpu("9.0")) == way, name
        if least:
            number = int(least)
            assert expected.how(name, gpu(f"{number // 10}.{number % 10}")) == way
            before = number - 1 if number % 10 else number - 5
            assert expected.how(name, gpu(f"{before // 10}.{before % 10}")) == "emulated"


def ran(store: RunStore, seconds: float, device: str = "Some CPU", **changes: str) -> Group:
    """A finished comparison from `quick`, each of whose runs took so long."""
    configs = load_preset("quick", changes).configs
    group = store.create_group("quick", "t", configs, "1:1.0")
    for run in group.runs:
        store.append(run.id, Facts(device={"name": device}), Status(status="finished"))
    with store.writing() as db:
        db.execute(
            "UPDATE runs SET started_at = 1000, ended_at = 1000 + ? WHERE group_id = ?",
            (seconds, group.id),
        )
    return group


class TestHowLong:
    def test_a_real_figure_of_this_machine_comes_with_its_date(self, store: RunStore) -> None:
        ran(store, 31.4)
        assert re.fullmatch(
            r"Took 1 min 3 s here on 19(69|70)-\d\d-\d\d",
            expected.how_long(load_preset("quick"), store, CPU),
        )

    def test_without_one_the_presets_own_word_is_given_as_such(self, store: RunStore) -> None:
        said = expected.how_long(load_preset("quick"), store, CPU)
        assert said == "Takes one to two minutes on two CPU cores"
        unknown = expected.how_long(load_preset("qwen3-4b"), store, CPU)
        assert unknown == text.TIME_UNKNOWN

    def test_what_is_not_the_same_does_not_count(self, store: RunStore) -> None:
        ran(store, 31.4, max_steps="5")
        ran(store, 31.4, device="Another machine's")
        again = ran(store, 31.4)
        with store.writing() as db:
            db.execute("UPDATE runs SET attempt = 2 WHERE group_id = ?", (again.id,))
        assert expected.how_long(load_preset("quick"), store, CPU).startswith("Takes one to two")


def test_ways_to_run_are_told_together() -> None:
    ladder = load_preset("precision-ladder")
    assert expected.how_it_runs(ladder, CPU) == [
        "FP32: native here",
        "BF16, FP16, FP8, NVFP4, NVFP4-2D, NVFP4 W4A16, MXFP4, NF4: emulated here",
    ]
    assert expected.how_it_runs(load_preset("llama-3.1-8b"), gpu("12.0")) == [
        "BF16: native here",
        "NVFP4: native here, once a self-test has passed",
        "NF4: weight-only here",
    ]


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (None, ""),
        (("fits", "fits"), "Fits this machine"),
        (("does not fit", "fits"), "FP16 does not fit; NVFP4 fits"),
        (("unknown", "unknown"), ""),
    ],
)
def test_whether_it_fits_is_told_where_it_is_known(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, verdicts: tuple | None, said: str
) -> None:
    rows = [
        {"precision": name, "verdict": verdict}
        for name, verdict in zip(("fp16", "nvfp4"), verdicts or (), strict=False)
    ]
    known = {"precisions": rows} if verdicts else None
    monkeypatch.setattr(fit, "kept", lambda preset, into, home: known)
    assert expected.fits(load_preset("quick"), store) == said


def test_what_has_run_here_fits(store: RunStore) -> None:
    quick = load_preset("quick")
    assert text.FITS["fits"] not in expected.facts(quick, store, CPU)
    ran(store, 31.4)
    assert text.FITS["fits"] in expected.facts(quick, store, CPU)
    assert text.FITS["fits"] not in expected.facts(quick, store, gpu("12.0"))


def test_what_is_not_here_is_said_before_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(preset: str) -> str:
        return expected.fetched(load_preset(preset))

    assert said("quick") == ""
    assert said("qwen3-4b") == "Fetches 8.04 GB from the Hugging Face hub first"
    assert "asks to accept terms and log in" in said("llama-3.1-8b")
    missing = replace(
        load_preset("quick"), config=load_preset("quick", {"model": "no-such"}).config
    )
    assert "is neither an id" in expected.fetched(missing)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert said("qwen3-4b").startswith("Not here, and the hub may not be asked")


def test_a_visitor_is_told_why_start_cannot_be_pressed(store: RunStore) -> None:
    save_preset(load_preset("quick"), "mine", store.home)
    html = cards.yours(store, CPU, may_change=False)
    assert " disabled>Log in to start</button>" in html
    assert 'data-do="delete"' not in html and 'data-do="input"' not in html


def test_ones_own_are_listed_with_what_is_wrong_with_the_others(store: RunStore) -> None:
    assert text.YOURS_NONE in cards.yours(store, CPU)
    save_preset(load_preset("quick"), "mine", store.home, "<img src=x>")
    (own_folder(store.home) / "bad.yaml").write_text("<img: tiny\n")
    html = cards.yours(store, CPU)
    assert html.count("<article") == 2
    assert html.count('data-do="select"') == 1 and html.count('data-do="delete"') == 2
    assert "<img" not in html
