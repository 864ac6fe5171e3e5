"""The finished adapter on other bases: the figures are those of a base loaded by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
import torch

from playground.config import RunConfig, SettingsError
from playground.events import CrossEval, Event, Message, Stage, Status, Step
from playground.training import cross
from playground.training.loop import train
from tests.training.prepared import facts, held_out, judged, only, ready

Configure = Callable[..., RunConfig]


def run(config: RunConfig, folder: Path, **options: bool) -> list[Event]:
    return list(train(config, folder=folder, **options))


def crossed(events: list[Event]) -> dict[tuple[str, bool], float]:
    return {(e.base, e.merged): e.loss for e in only(CrossEval, events)}


@pytest.mark.parametrize(
    ("precision", "settings", "expected"),
    [
        ("nvfp4", {}, []),
        ("nvfp4", {"cross_precisions": ("nvfp4",)}, []),  # its own: that is the Eval after
        (
            "nvfp4",
            {"cross_precisions": ("fp16", "nvfp4", "fp16"), "merge_check": True},
            [("fp16", False), ("bf16", True), ("nvfp4", True)],
        ),
        ("mxfp4", {"merge_check": True}, [("bf16", True), ("mxfp4", True)]),
        ("fp16", {"merge_check": True}, [("fp16", True), ("nvfp4", True)]),
        ("bf16", {"merge_check": True}, [("bf16", True), ("nvfp4", True)]),
        ("fp32", {"merge_check": True}, [("bf16", True), ("nvfp4", True)]),
    ],
)
def test_what_is_judged_follows_from_the_settings(
    precision: str, settings: dict, expected: list, configure: Configure
) -> None:
    prepared = ready(configure(precision=precision, **settings))
    assert cross.judgements(prepared) == expected


def test_a_healed_run_is_judged_on_the_base_that_it_left(
    configure: Configure, tmp_path: Path
) -> None:
    settings = {"cross_precisions": ("nvfp4", "fp32"), "heal_after": 0.5, "heal_to": "fp32"}
    events = run(configure(precision="nvfp4", **settings), tmp_path)
    assert list(crossed(events)) == [("nvfp4", False)]
    assert crossed(events)["nvfp4", False] == judged(
        configure(precision="nvfp4"), tmp_path / "adapter"
    )


@pytest.mark.parametrize("precision", ["fp32", "nvfp4"])
def test_each_figure_is_that_of_peft_on_a_base_loaded_by_itself(
    precision: str, configure: Configure, tmp_path: Path
) -> None:
    config = configure(
        precision=precision,
        max_steps=12,
        cross_precisions=("fp32", "bf16", "nvfp4", "mxfp4"),
        merge_check=True,
    )
    events = run(config, tmp_path)
    found = crossed(events)
    own = {("fp32", False), ("nvfp4", False)} - {(precision, False)}
    assert set(found) == own | {
        ("bf16", False), ("mxfp4", False), ("bf16", True), ("nvfp4", True)
    }  # fmt: skip
    for (base, merged), loss in found.items():
        other = judged(configure(precision=base), tmp_path / "adapter", merged)
        # peft sums in another order, and a sum beside a boundary of the grid may round away.
        assert loss == (pytest.approx(other, rel=1e-3) if merged else other), (base, merged)
    after = held_out(events, "after")
    assert all(loss != after for loss in found.values())
    assert {e.tokens for e in only(CrossEval, events)} == {e.tokens for e in _evals(events)}


def _evals(events: list[Event]) -> list:
    from playground.events import Eval

    return only(Eval, events)


def test_merging_costs_more_on_a_coarser_grid(configure: Configure, tmp_path: Path) -> None:
    """Half a step of the 4-bit grid is more than most of the update: the reason for the check."""
    events = run(configure(max_steps=12, merge_check=True), tmp_path)
    found, apart = crossed(events), held_out(events, "after")
    lost = {base: abs(loss - apart) for (base, _), loss in found.items()}
    assert lost["bf16"] < 0.1 * lost["nvfp4"]


def test_it_comes_last_and_shows_in_nothing_else(configure: Configure, tmp_path: Path) -> None:
    plain = run(configure(precision="nvfp4"), tmp_path / "plain")
    saved: list[bool] = []
    events: list[Event] = []
    asked = configure(precision="nvfp4", cross_precisions=("fp32",), merge_check=True)
    for event in train(asked, folder=tmp_path / "asked"):
        events.append(event)
        if isinstance(event, CrossEval):
            saved.append((tmp_path / "asked" / "adapter" / "adapter_model.safetensors").is_file())
    assert saved == [True, True, True]
    assert facts(events) == facts(plain)  # its peak included
    assert events[-1] == Status(status="finished")
    from_saving = next(i for i, e in enumerate(events) if e == Stage(name="saving the adapter"))
    stages = only(Stage, events[from_saving:])
    assert {stage.name for stage in stages} == {"saving the adapter", "evaluating"}
    assert [s.detail for s in stages if s.progress == 1.0] == [
        "loss of 4 held-out rows, on a base in FP32",
        "loss of 4 held-out rows, merged into BF16",
        "loss of 4 held-out rows, merged into NVFP4",
    ]
    read = [
        (tmp_path / name / "adapter" / "adapter_model.safetensors").read_bytes()
        for name in ("plain", "asked")
    ]
    assert read[0] == read[1]


OOM = "Out of memory while evaluating after step 4, asking for 2.00 GiB more: "


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SettingsError("It has no layer for this."), "It has no layer for this."),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), OOM),
        (MemoryError(), "Out of memory while evaluating after step 4"),
        (RuntimeError("shapes disagree\nand more"), "shapes disagree"),
    ],
)
def test_a_base_that_cannot_be_had_costs_a_warning_and_not_the_run(
    error: Exception,
    said: str,
    configure: Configure,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rebase = cross.rebase

    def fails_on_bf16(prepared: object, precision: str, **options: object) -> list[str]:
        found = rebase(prepared, precision, **options)
        if precision == "bf16":
            raise error
        return found

    monkeypatch.setattr(cross, "rebase", fails_on_bf16)
    events = run(configure(cross_precisions=("bf16", "fp16")), tmp_path)
    assert list(crossed(events)) == [("fp16", False)]
    (warning,) = [told for told in only(Message, events) if told.level == "warning"]
    assert said in warning.text
    assert warning.text.startswith("The adapter could not be judged on a base in BF16: ")
    assert events[-1] == Status(status="finished")
    assert (tmp_path / "adapter" / "adapter_config.json").is_file()


def test_a_mistake_of_ours_is_no_warning(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> list[str]:
        raise TypeError("a mistake")

    monkeypatch.setattr(cross, "rebase", broken)
    with pytest.raises(TypeError, match="a mistake"):
        run(configure(cross_precisions=("bf16",)), tmp_path)


class Counting:
    """Memory that knows whether someone asked it to look away."""

    def __init__(self) -> None:
        self.log: list[str] = []

    @contextmanager
    def aside(self) -> Iterator[None]:
        self.log.append("aside")
        yield
        self.log.append("back")


@pytest.mark.parametrize("stop", [False, True])
def test_its_memory_is_set_aside_and_nothing_of_it_stays(stop: bool, configure: Configure) -> None:
    prepared = ready(configure(precision="nvfp4", cross_precisions=("fp32", "fp16")))
    prepared.memory, base = Counting(), prepared.model.get_base_model()

    def check() -> None:
        assert prepared.memory.log == ["aside"]
        if stop and prepared.recipe.name == "fp32":
            raise KeyboardInterrupt

    told: list[Event] = []
    with pytest.raises(KeyboardInterrupt) if stop else nullcontext():
        told += cross.cross_evaluate(prepared, check)
    assert len(only(CrossEval, told)) == (0 if stop else 2)
    assert prepared.memory.log == (["aside"] if stop else ["aside", "back"])
    assert all(p.is_meta is not p.requires_grad for p in base.parameters())
    assert all(b.is_meta for b in base.buffers())


def _until(asked: Callable[[Event], bool], events: list[Event]) -> Callable[[], bool]:
    return lambda: any(asked(event) for event in events)


@pytest.mark.parametrize("progress", [None, 0.0])
def test_stop_is_heard_while_judging_and_the_adapter_is_whole(
    progress: float | None, configure: Configure, tmp_path: Path
) -> None:
    def asked(event: Event) -> bool:
        judging = isinstance(event, Stage) and event.detail.endswith("merged into BF16")
        return judging and event.progress == progress

    events: list[Event] = []
    config = configure(cross_precisions=("fp16",), merge_check=True)
    stream: Iterator[Event] = train(config, folder=tmp_path, should_stop=_until(asked, events))
    for event in stream:
        events.append(event)
    assert list(crossed(events)) == [("fp16", False)]
    assert events[-1] == Status(status="stopped")
    assert judged(configure(), tmp_path / "adapter") == held_out(events, "after")

    resumed = run(config, tmp_path, resume=True)
    assert not only(Step, resumed)
    assert held_out(resumed, "after") == held_out(events, "after")
    whole = run(config, tmp_path / "whole")
    assert crossed(resumed) == crossed(whole) and len(crossed(whole)) == 3
