"""A run that was stopped, killed or paused goes on as if nothing had been: to the last bit."""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from playground import worker
from playground.config import RunConfig, SettingsError
from playground.events import CrossEval, Eval, EvalRows, Event, Facts, Message, Stage, Status, Step
from playground.failures import ResumeError
from playground.store import RunStore
from playground.training import loop
from playground.training.loop import train

Configure = Callable[..., RunConfig]
STEPS = 8


def only(kind: type, events: list[Event]) -> list:
    return [event for event in events if isinstance(event, kind)]


def until_step(events: Iterator[Event], last: int, seen: list[Event]) -> None:
    """What comes of a run up to step ``last``; then its process is gone."""
    for event in events:
        seen.append(event)
        if isinstance(event, Step) and event.step == last:
            break
    events.close()


def stopped_after(config: RunConfig, folder: Path, last: int, **options: bool) -> list[Event]:
    """The events of a run that was asked to stop after step ``last``."""
    seen: list[Event] = []
    asked = lambda: any(isinstance(e, Step) and e.step == last for e in seen)  # noqa: E731
    for event in train(config, folder=folder, should_stop=asked, **options):
        seen.append(event)
    assert seen[-1] == Status(status="stopped")
    return seen


def kept(*parts: list[Event]) -> dict:
    """What a store holds after these events: a later one takes the place of an earlier."""
    events = [event for part in parts for event in part]
    facts: dict = {}
    for event in only(Facts, events):
        facts |= event.model_dump(exclude_none=True)
    facts.pop("resumed_at_step", None)  # all that tells an interrupted run from a whole one
    times = {"step_ms", "tokens_per_s", "warmup"}
    return {
        "steps": {e.step: e.model_dump(exclude=times) for e in only(Step, events)},
        "evals": {(e.step, e.when): e for e in only(Eval, events)},
        "rows": {(e.step, e.when): e for e in only(EvalRows, events)},
        "facts": facts,
        "status": only(Status, events)[-1],
    }


def adapter(folder: Path) -> bytes:
    return (folder / "adapter" / "adapter_model.safetensors").read_bytes()


@pytest.fixture(autouse=True)
def _another_process() -> None:
    """Whatever state the generators are in, a run has its own."""
    torch.manual_seed(999)
    random.seed(999)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("precision", "settings"),
    [
        ("fp32", {}),
        ("fp16", {}),  # the loss scaler's state
        ("nvfp4", {}),
        ("nvfp4-2d", {}),  # the seeds of stochastic rounding
        ("nvfp4-2d", {"gradient_checkpointing": True, "grad_accum_steps": 2, "eval_every": 3}),
        ("mxfp4", {"heal_after": 0.5, "heal_to": "nvfp4-2d"}),
        ("nvfp4-2d", {"heal_after": 0.25, "heal_to": "fp16", "probe_every": 2}),
    ],
)
def test_stopped_and_resumed_twice_it_ends_with_the_same_bits(
    precision: str, settings: dict, configure: Configure, tmp_path: Path
) -> None:
    config = configure(precision=precision, max_steps=STEPS, lora_dropout=0.2, **settings)
    whole = list(train(config, folder=tmp_path / "whole"))
    parts = [stopped_after(config, tmp_path / "parts", 3)]
    parts.append(stopped_after(config, tmp_path / "parts", 6, resume=True))
    parts.append(list(train(config, folder=tmp_path / "parts", resume=True)))
    assert [e.step for part in parts for e in only(Step, part)] == [*range(1, STEPS + 1)]
    assert kept(*parts) == kept(whole)
    assert adapter(tmp_path / "parts") == adapter(tmp_path / "whole")
    assert [p.name for p in (tmp_path / "parts").iterdir()] == ["adapter"]
    assert [m.text for m in only(Message, parts[1]) if "Resumed" in m.text] == [
        "Resumed after step 3."
    ]
    assert [e.resumed_at_step for e in only(Facts, parts[1]) if e.resumed_at_step] == [4]
    assert not any(e.when == "before" for part in parts[1:] for e in only(Eval, part))


def test_killed_it_makes_the_steps_after_its_last_checkpoint_again(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(precision="nvfp4-2d", max_steps=STEPS, lora_dropout=0.2, checkpoint_every=3)
    whole = list(train(config, folder=tmp_path / "whole"))
    killed: list[Event] = []
    until_step(train(config, folder=tmp_path / "parts"), 5, killed)
    rest = list(train(config, folder=tmp_path / "parts", resume=True))
    assert [e.step for e in only(Step, rest)] == [4, 5, 6, 7, 8]
    assert kept(killed, rest) == kept(whole)
    assert adapter(tmp_path / "parts") == adapter(tmp_path / "whole")


def test_killed_before_its_first_step_it_does_not_evaluate_again(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(max_steps=2, checkpoint_every=50)
    seen: list[Event] = []
    until_step(train(config, folder=tmp_path), 1, seen)
    rest = list(train(config, folder=tmp_path, resume=True))
    assert [e.step for e in only(Step, rest)] == [1, 2]
    assert [e.when for e in only(Eval, rest)] == ["after"]


def test_without_a_checkpoint_it_starts_again_and_says_so(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(max_steps=2, checkpoint_every=0)
    seen: list[Event] = []
    until_step(train(config, folder=tmp_path), 1, seen)
    (tmp_path / "checkpoints" / "step-000001.partial").mkdir(parents=True)  # killed in mid-writing
    rest = list(train(config, folder=tmp_path, resume=True))
    assert [e.step for e in only(Step, rest)] == [1, 2]
    assert Message(
        level="info", text="There is no checkpoint to go on from, so it starts again from step 0."
    ) in only(Message, rest)
    assert rest[-1].status == "finished"
    assert [p.name for p in tmp_path.iterdir()] == ["adapter"]


def test_one_that_never_came_to_its_first_step_misses_no_checkpoint(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(max_steps=1, checkpoint_every=50)
    assert list(train(config, folder=tmp_path, should_stop=lambda: True))[-1].status == "stopped"
    rest = list(train(config, folder=tmp_path, resume=True))
    assert rest[-1].status == "finished"
    assert not [m for m in only(Message, rest) if "no checkpoint" in m.text]


def test_a_new_run_in_the_same_folder_goes_on_from_nothing(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(max_steps=4)
    stopped_after(config, tmp_path, 2)
    events = list(train(config, folder=tmp_path))
    assert [e.step for e in only(Step, events)] == [1, 2, 3, 4]


@pytest.mark.parametrize("stage", ["evaluating", "saving the adapter"])
def test_stopped_after_its_last_step_it_only_concludes(
    stage: str, configure: Configure, tmp_path: Path
) -> None:
    config = configure(max_steps=3)
    seen: list[Event] = []

    def asked() -> bool:
        trained = any(isinstance(e, Step) and e.step == 3 for e in seen)
        return trained and isinstance(seen[-1], Stage) and seen[-1].name == stage

    for event in train(config, folder=tmp_path, should_stop=asked):
        seen.append(event)
    assert seen[-1] == Status(status="stopped") and not (tmp_path / "adapter").exists()
    rest = list(train(config, folder=tmp_path, resume=True))
    assert only(Step, rest) == []
    assert [e.when for e in only(Eval, rest)] == ["after"]
    assert kept(seen, rest) == kept(list(train(config, folder=tmp_path / "whole")))


def test_stopped_with_its_base_already_gone_it_judges_the_adapter_again(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(precision="nvfp4", max_steps=3, cross_precisions=("fp16", "bf16"))
    seen: list[Event] = []
    asked = lambda: bool(only(CrossEval, seen))  # noqa: E731
    for event in train(config, folder=tmp_path, should_stop=asked):
        seen.append(event)
    assert seen[-1] == Status(status="stopped") and (tmp_path / "adapter").exists()
    rest = list(train(config, folder=tmp_path, resume=True))
    assert only(Step, rest) == [] and rest[-1] == Status(status="finished")
    whole = list(train(config, folder=tmp_path / "whole"))
    assert only(CrossEval, rest) == only(CrossEval, whole)
    assert adapter(tmp_path) == adapter(tmp_path / "whole")


def test_out_of_memory_in_mid_step_the_rest_is_made_by_a_resumed_run(
    configure: Configure, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the worker: what is stored of it, and that it goes on from its last checkpoint."""
    config = configure(max_steps=4, grad_accum_steps=2, checkpoint_every=2)
    (run_id,) = store.create_group("quick", "t", [config], "1:1.0").run_ids
    calls: list[int] = []

    def full(model: torch.nn.Module, batch: object) -> torch.Tensor:
        calls.append(1)
        if len(calls) == 6:  # the second micro-batch of step 3
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return summed(model, batch)

    summed = loop.summed_loss
    monkeypatch.setattr(loop, "summed_loss", full)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the tests' own process
    assert store.claim_next("1:1.0") and worker.main(run_id, store.home, train) == 0
    failed = store.get_run(run_id)
    assert (failed.status, failed.cause) == ("failed", "out of memory")
    assert failed.error and failed.error.startswith(
        "Out of memory in step 3, asking for 2.00 GiB more (predicted: 1 MiB in all): set "
        "micro_batch_size to 2 and grad_accum_steps to 4, which learns from the same 8 rows a step"
    )
    assert [s.step for s in store.steps(run_id)] == [1, 2]
    store.settle(run_id, "failed", None, owner="1:1.0")
    store.requeue(run_id, owner="1:1.0")
    assert store.claim_next("1:1.0") and worker.main(run_id, store.home, train) == 0
    assert store.get_run(run_id).status == "finished"
    assert [s.step for s in store.steps(run_id)] == [1, 2, 3, 4]
    assert len(calls) == 6 + 4


def test_the_first_steps_of_each_process_are_warm_up(configure: Configure, tmp_path: Path) -> None:
    config = configure(max_steps=6)
    stopped_after(config, tmp_path, 3)
    rest = only(Step, list(train(config, folder=tmp_path, resume=True)))
    assert [e.warmup for e in rest] == [True, True, False]


def test_evaluating_on_the_way_leaves_no_trace(configure: Configure, tmp_path: Path) -> None:
    config = configure(precision="nvfp4-2d", lora_dropout=0.2, max_steps=4)
    often = configure(precision="nvfp4-2d", lora_dropout=0.2, max_steps=4, eval_every=1)
    plain, looked = (kept(list(train(c, folder=tmp_path)))["steps"] for c in (config, often))
    assert plain == looked


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"precision": "fp16"},
            "The checkpoint of step 2 was made in NVFP4 and this run is in FP16; a run goes on in "
            "its own precision only, so start a new one.",
        ),
        (
            {"learning_rate": 0.5, "lora_r": 8},
            "The checkpoint of step 2 was made with another lora_r and learning_rate; a run goes "
            "on with its own settings only, so start a new one.",
        ),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_before_anything_is_loaded(
    changes: dict, sentence: str, configure: Configure, tmp_path: Path
) -> None:
    stopped_after(configure(precision="nvfp4"), tmp_path, 2)
    with pytest.raises(SettingsError) as refused:
        next(train(configure(**{"precision": "nvfp4"} | changes), folder=tmp_path, resume=True))
    assert str(refused.value) == sentence
    assert (tmp_path / "checkpoints" / "step-000002").is_dir()


def test_rows_that_have_changed_meanwhile_are_noticed(
    configure: Configure, dataset_file: Path, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(dataset_file.read_text())
    config = configure(dataset=str(rows))
    stopped_after(config, tmp_path / "run", 2)
    rows.write_text(dataset_file.read_text().replace("+", "-"))
    with pytest.raises(ResumeError, match="are not those of the first 2 steps any more; put the"):
        list(train(config, folder=tmp_path / "run", resume=True))
    rows.write_text(dataset_file.read_text())
    assert list(train(config, folder=tmp_path / "run", resume=True))[-1].status == "finished"


def test_going_on_with_another_device_is_said(configure: Configure, tmp_path: Path) -> None:
    stopped_after(configure(), tmp_path, 2)
    path = tmp_path / "checkpoints" / "step-000002" / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"device": "Some GPU"}))
    events = list(train(configure(), folder=tmp_path, resume=True))
    (warning,) = [m for m in only(Message, events) if m.level == "warning"]
    assert warning.text.startswith("The steps up to 2 were made on Some GPU, the rest on ")


def test_a_setting_that_came_later_does_not_spoil_old_checkpoints(
    configure: Configure, tmp_path: Path
) -> None:
    stopped_after(configure(), tmp_path, 2)
    path = tmp_path / "checkpoints" / "step-000002" / "run.json"
    old = json.loads(path.read_text())
    del old["config"]["measure"], old["config"]["training"]["compile"]
    path.write_text(json.dumps(old))
    assert list(train(configure(), folder=tmp_path, resume=True))[-1].status == "finished"
