"""Healing changes the base, once, at its step, and nothing else; resumed beyond it, it is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from playground.config import RunConfig
from playground.events import Eval, Event, Facts, Message, Stage, Status, Step
from playground.training.adapter import trainable
from playground.training.heal import heal, still_settling
from playground.training.loop import train
from tests.assertions import bits_equal
from tests.training.prepared import facts, held_out, judged, logits, only, ready, train_a_little

Configure = Callable[..., RunConfig]
HEALING = {"precision": "nvfp4", "max_steps": 6, "heal_after": 0.5, "heal_to": "fp32"}


def nothing() -> None:
    """Nobody asks to stop."""


def run(config: RunConfig, folder: Path) -> list[Event]:
    return list(train(config, folder=folder))


def test_up_to_its_step_a_run_is_as_if_it_never_healed(
    configure: Configure, tmp_path: Path
) -> None:
    plain = run(configure(precision="nvfp4", max_steps=6), tmp_path / "plain")
    healed = run(configure(**HEALING), tmp_path / "healed")
    losses = [[step.loss for step in only(Step, events)] for events in (plain, healed)]
    assert losses[0][:3] == losses[1][:3]
    assert all(a != b for a, b in zip(losses[0][3:], losses[1][3:], strict=True))
    assert facts(plain)["batches_sha256"] == facts(healed)["batches_sha256"]

    known = facts(healed)
    assert (known["healed_at_step"], known["healed_to"]) == (4, "fp32")
    assert (known["effective"], known["how"]) == ("nvfp4", "emulated")  # as asked for
    assert "healed_at_step" not in facts(plain)
    (said,) = [m.text for m in only(Message, healed) if m.text.startswith("Healing")]
    assert "from step 4 on, the base is in FP32 and no longer in NVFP4" in said


def test_the_evaluation_after_is_that_of_the_wider_base(
    configure: Configure, tmp_path: Path
) -> None:
    events = run(configure(**HEALING), tmp_path)
    on_wider = judged(configure(), tmp_path / "adapter")
    assert held_out(events, "after") == on_wider
    assert on_wider != judged(configure(precision="nvfp4"), tmp_path / "adapter")


def test_a_run_that_heals_before_its_first_step_is_the_wider_precision_s(
    configure: Configure, tmp_path: Path
) -> None:
    """All of the training goes through the exchanged base: a mistake in it would show."""
    wide = run(configure(max_steps=5, lora_dropout=0.2), tmp_path / "wide")
    options = HEALING | {"max_steps": 5, "heal_after": 0.01, "lora_dropout": 0.2}
    healed = run(configure(**options), tmp_path / "healed")
    for kind in ("loss", "grad_norm", "tokens"):
        got, want = ([getattr(s, kind) for s in only(Step, e)] for e in (healed, wide))
        assert got == want, kind
    assert held_out(healed, "after") == held_out(wide, "after")
    assert held_out(healed, "before") != held_out(wide, "before")


def test_the_adapter_s_parameters_stay_the_same_objects(configure: Configure) -> None:
    prepared = ready(configure(**HEALING))
    train_a_little(prepared)
    before = trainable(prepared.model)
    assert list(heal(prepared, 3, nothing)) == []
    events = list(heal(prepared, 4, nothing))
    assert [e.name for e in only(Stage, events)] == ["healing", "training"]
    after = trainable(prepared.model)
    assert list(after) == list(before)
    assert all(after[name] is parameter for name, parameter in before.items())
    assert prepared.recipe.name == "fp32"
    assert list(heal(prepared, 5, nothing)) == []
    assert [n for n in range(1, 9) if still_settling(prepared, n)] == [1, 2, 3, 4, 5]


def test_resumed_beyond_its_step_it_comes_back_healed(configure: Configure) -> None:
    config = configure(**HEALING)
    at_once, resumed = ready(config), ready(config)
    for prepared, number in ((at_once, 4), (resumed, 6)):
        train_a_little(prepared)
        events = list(heal(prepared, number, nothing))
        assert facts(events) == {"kind": "facts", "healed_at_step": 4, "healed_to": "fp32"}
        assert prepared.healed_at == number
    bits_equal(logits(resumed.model), logits(at_once.model))
    assert still_settling(resumed, 7) and not still_settling(resumed, 8)


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_sixteen_bits_and_more_have_nothing_to_heal(precision: str, configure: Configure) -> None:
    prepared = ready(configure(**(HEALING | {"precision": precision})))
    assert list(heal(prepared, 6, nothing)) == []
    assert prepared.recipe.name == precision


def test_the_steps_after_it_are_marked_as_warm_up(configure: Configure, tmp_path: Path) -> None:
    events = run(configure(**(HEALING | {"max_steps": 8})), tmp_path)
    assert facts(events)["healed_at_step"] == 5
    assert [s.step for s in only(Step, events) if s.warmup] == [1, 2, 5, 6]


def test_healing_to_fp16_scales_the_loss_from_the_start(
    configure: Configure, tmp_path: Path
) -> None:
    events = run(configure(**(HEALING | {"heal_to": "fp16"})), tmp_path)
    assert [step.loss_scale for step in only(Step, events)] == [65536] * 6
    assert events[-1] == Status(status="finished")
    unscaled = run(configure(precision="nvfp4", max_steps=6), tmp_path / "plain")
    assert all(step.loss_scale is None for step in only(Step, unscaled))
    # A power of two changes no digit: up to the switch the two learn the same.
    losses = [[step.loss for step in only(Step, e)][:3] for e in (events, unscaled)]
    assert losses[0] == losses[1]


def test_stop_is_heard_while_healing(configure: Configure, tmp_path: Path) -> None:
    events: list[Event] = []

    def asked() -> bool:
        return bool(events) and events[-1] == Stage(
            name="healing", detail="NVFP4 gives way to FP32"
        )

    for event in train(configure(**HEALING), folder=tmp_path, should_stop=asked):
        events.append(event)
    assert [step.step for step in only(Step, events)] == [1, 2, 3]
    assert events[-1] == Status(status="stopped")
    assert not (tmp_path / "adapter").exists()
    assert "healed_at_step" not in facts(events)


@pytest.mark.parametrize("broken_off", ["before", "while", "after"])
def test_stopped_around_healing_and_resumed_it_goes_on_as_if_nothing_had_been(
    broken_off: str, configure: Configure, tmp_path: Path
) -> None:
    """Before: step 3 is the last. While: so it is, with no base in place. After: step 4 is."""
    config = configure(**HEALING, lora_dropout=0.2, eval_every=1)
    whole = run(config, tmp_path / "whole")
    seen: list[Event] = []

    def asked() -> bool:
        if broken_off == "while":
            return any(stage.name == "healing" for stage in only(Stage, seen))
        return len(only(Step, seen)) == (3 if broken_off == "before" else 4)

    for event in train(config, folder=tmp_path / "parts", should_stop=asked):
        seen.append(event)
    assert seen[-1] == Status(status="stopped")
    parts = seen + list(train(config, folder=tmp_path / "parts", resume=True))
    assert [s.step for s in only(Step, parts)] == [1, 2, 3, 4, 5, 6]
    for kind in (Step, Eval):
        # An evaluation after the last step before the stop is made again, to the same figure.
        told = [[(e.step, e.loss) for e in only(kind, events)] for events in (parts, whole)]
        assert list(dict.fromkeys(told[0])) == told[1]
    assert facts(parts)["healed_at_step"] == 4
    assert facts(parts)["batches_sha256"] == facts(whole)["batches_sha256"]
    assert parts[-1] == Status(status="finished")


def test_more_memory_after_healing_is_told(configure: Configure, tmp_path: Path) -> None:
    events = run(configure(**HEALING), tmp_path)
    steps = only(Step, events)
    used = [step.memory_mib for step in steps]
    weights = facts(run(configure(max_steps=1), tmp_path / "wide"))
    grown = weights["weights_mib"] - facts(events)["weights_mib"]
    assert used[3] - used[2] == pytest.approx(grown, rel=0.01)
    assert max(used[1:3]) < min(used[3:])
    assert torch.tensor([s.peak_mib for s in steps]).diff().min() >= 0


def test_facts_are_told_once(configure: Configure, tmp_path: Path) -> None:
    events = run(configure(**HEALING), tmp_path)
    assert sum(f.healed_to is not None for f in only(Facts, events)) == 1
