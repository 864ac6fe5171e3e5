"""A run says what it will take, and that is what it then takes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from playground.config import RunConfig
from playground.data.batches import steps_of
from playground.data.tokenise import Example
from playground.events import Facts, Message
from playground.failures import Place, from_exception
from playground.hardware import Device
from playground.training import predicted as predictions
from playground.training import prepare
from playground.training.loop import train
from playground.training.predicted import largest_shape, predicted
from tests.training.prepared import facts, only

PARTS = ("weights", "adapters", "optimizer", "gradients", "activations", "peak")
HERE = Device("this CPU", "cpu", None, None, None, False, None, "", 2)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"precision": "fp16", "gradient_checkpointing": True},
        {"precision": "nvfp4", "packing": True},
        {"precision": "nvfp4", "packing": True, "gradient_checkpointing": True},
        {"precision": "nvfp4-2d", "keep_last_blocks": 1, "grad_accum_steps": 2},
        {"precision": "nvfp4", "heal_after": 0.5, "heal_to": "bf16"},
        {"precision": "nf4", "lora_dropout": 0.1, "target_modules": ["q_proj", "down_proj"]},
    ],
    ids=lambda options: ", ".join(options) or "as they are",
)
def test_what_is_predicted_is_what_is_measured(
    options: dict[str, Any], configure: Callable[..., RunConfig], tmp_path: Path
) -> None:
    config = configure(max_steps=4, weight_scale_rule="amax", **options)
    known = facts(list(train(config, folder=tmp_path)))
    for part in PARTS:
        told, taken = known[f"predicted_{part}_mib"], known[f"{part}_mib"]
        assert told == pytest.approx(taken, rel=1e-6), part


def test_memory_that_runs_out_while_loading_has_the_prediction_beside_it(
    configure: Callable[..., RunConfig], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> Iterator[float]:
        yield 0.5
        raise MemoryError

    monkeypatch.setattr(prepare, "loading", fails)
    config, place = configure(), Place()
    with pytest.raises(MemoryError) as full:
        for event in train(config, folder=tmp_path):
            place = place.after(event)
    said = from_exception(full.value, config, place).error or ""
    assert re.match(r"Out of memory while loading the model \(predicted: \d+ MiB in all\): ", said)


def rows(*lengths: int) -> list[Example]:
    return [Example([1] * n, [-100] * (n // 2) + [1] * (n - n // 2), [], None) for n in lengths]


@pytest.mark.parametrize("packing", [False, True])
def test_the_largest_micro_batch_is_the_one_that_comes(
    packing: bool, configure: Callable[..., RunConfig]
) -> None:
    config = configure(micro_batch_size=3, grad_accum_steps=2, max_steps=3, packing=packing)
    examples = rows(4, 9, 30, 12, 7, 64, 5, 8)
    steps = steps_of(config, examples, 0)
    came = [batch for _ in range(3) for batch in next(steps)]
    largest = max(came, key=lambda batch: batch.input_ids.numel())
    found = largest_shape(config, examples, on_gpu=True)
    assert found == (*largest.input_ids.shape, largest.supervised_tokens)


def test_nothing_that_a_run_draws_is_drawn(configure: Callable[..., RunConfig]) -> None:
    config = configure(precision="nvfp4-2d", lora_dropout=0.1)
    before = (torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1].tolist())
    events = list(predicted(config, published(config), rows(9, 12), HERE, None))
    assert events[0].predicted_peak_mib > 0
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (random.getstate(), numpy.random.get_state()[1].tolist()) == before[1:]


def test_a_model_that_cannot_be_told_runs_all_the_same(
    configure: Callable[..., RunConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise NotImplementedError("no rule for aten::odd")

    monkeypatch.setattr(predictions, "estimate", fails)
    (said,) = predicted(configure(), None, rows(9), HERE, None)
    assert said.level == "warning"
    assert "could not be predicted (NotImplementedError: no rule for aten::odd)" in said.text


def test_what_will_not_fit_is_said_with_what_would_help(
    configure: Callable[..., RunConfig],
) -> None:
    config = configure()
    small = replace(HERE, name="a small GPU", kind="cuda", memory_mib=1200)
    told = list(predicted(config, published(config), rows(9, 12), small, 100.0))
    assert not only(Message, told)  # 1024 for the driver and a few for the model
    known, said = predicted(config, published(config), rows(9, 12), small, 190.0)
    assert isinstance(known, Facts) and said.level == "warning"
    assert "a small GPU has 1.0 GiB free" in said.text and "set micro_batch_size to 2" in said.text


def published(config: RunConfig) -> Any:
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(config.model)
