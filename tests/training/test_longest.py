"""The largest batch goes first, leaves no trace, and says which row was too long."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from playground.config import RunConfig, parse_config
from playground.data.batches import largest_micro_batch, width
from playground.events import Message, Stage, Status, Step
from playground.failures import LONGEST, Place, from_exception
from playground.presets import defaults
from playground.training import longest
from playground.training.adapter import trainable
from playground.training.loop import train
from playground.training.random_state import RandomState
from tests.tiny import save_tiny
from tests.training.prepared import facts, only, ready

LONG = 17  # the row of so many that is not short


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> RunConfig:
    folder = tmp_path_factory.mktemp("longest")
    rows = [{"prompt": f"{i}?", "completion": "x" * (300 if i == LONG else 3)} for i in range(40)]
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    values = defaults() | {
        "model": str(save_tiny(folder / "model")),
        "dataset": str(file),
        "precision": "nvfp4-2d",  # draws random numbers to round by
    }
    values["data"] = values["data"] | {"eval_rows": 2, "max_seq_len": 400}
    values["lora"] = values["lora"] | {"lora_dropout": 0.1}
    values["training"] = values["training"] | {"max_steps": 2, "micro_batch_size": 19}
    return parse_config(values)


@pytest.fixture
def on_any_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(longest, "TRIED_ON", ("cpu", "cuda"))


def test_the_batch_with_the_longest_row(config: RunConfig) -> None:
    run = ready(config)
    sequences = largest_micro_batch(run.config, run.train)
    most = max(len(row.input_ids) for row in run.train)
    assert width(sequences) == most > 300
    assert len(sequences) == config.training.micro_batch_size


def test_it_leaves_everything_as_it_was(config: RunConfig, on_any_device: None) -> None:
    run = ready(config)
    before, python = RandomState.of(run), random.getstate()
    weights = {name: p.detach().clone() for name, p in run.model.state_dict().items()}
    (stage,) = longest.try_longest(run, lambda: None)
    assert stage.name == LONGEST and stage.detail.startswith("19 x ")
    after = RandomState.of(run)
    assert torch.equal(before.cpu, after.cpu) and random.getstate() == python
    assert before.passes is not None and torch.equal(before.passes, after.passes)
    assert all(p.grad is None for p in trainable(run.model).values())
    for name, p in run.model.state_dict().items():
        assert torch.equal(weights[name], p), name


def test_the_run_is_the_same_bit_for_bit(
    config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = list(train(config, folder=tmp_path / "a"))
    monkeypatch.setattr(longest, "TRIED_ON", ("cpu",))
    tried = list(train(config, folder=tmp_path / "b"))
    assert LONGEST not in [e.name for e in only(Stage, plain)]
    assert LONGEST in [e.name for e in only(Stage, tried)]
    assert [e.loss for e in only(Step, plain)] == [e.loss for e in only(Step, tried)]
    assert [e.grad_norm for e in only(Step, plain)] == [e.grad_norm for e in only(Step, tried)]
    for name in ("batches_sha256", "peak_mib", "activations_mib"):
        assert facts(plain)[name] == facts(tried)[name], name


def _full(*_: Any) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def test_memory_that_runs_out_says_which_row(
    config: RunConfig, tmp_path: Path, on_any_device: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longest, "_there_and_back", _full)
    place, said = Place(), []
    with pytest.raises(torch.OutOfMemoryError) as error:
        for event in train(config, folder=tmp_path):
            place = place.after(event)
            said.append(event)
    assert only(Step, said) == []
    (told,) = [e.text for e in only(Message, said) if e.level == "error"]
    assert "19 x 324 tokens, does not fit" in told
    assert f"Line {LONG + 1} of 'rows.jsonl' with 324 tokens; rows have" in told
    status = from_exception(error.value, config, place)
    assert status.cause == "out of memory"
    sentence = status.error or ""
    assert sentence.startswith("Out of memory while trying the longest batch, asking for 2.00 GiB")
    assert "micro_batch_size" in sentence and "gradient_checkpointing" in sentence


def test_a_stop_is_heeded_before_it(
    config: RunConfig, tmp_path: Path, on_any_device: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        pytest.fail("it was tried after Stop")

    monkeypatch.setattr(longest, "_there_and_back", refuse)
    said: list[Any] = []

    def asked() -> bool:
        return any(isinstance(e, Stage) and e.name == LONGEST for e in said)

    for event in train(config, folder=tmp_path, should_stop=asked):
        said.append(event)
    assert only(Status, said)[-1].status == "stopped"
