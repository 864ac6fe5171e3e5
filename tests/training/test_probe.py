"""A look at rounding errors finds the right operands, and the run never knows of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.testing import CompileCounter

from playground.config import RunConfig
from playground.data.batches import MicroBatch, batches
from playground.events import Event, LayerError, Step
from playground.precision.convert import convert
from playground.precision.error import rounding_error
from playground.precision.registry import PRECISION_RECIPES
from playground.training.adapter import add_adapter, trainable
from playground.training.loop import train
from playground.training.loss import summed_loss
from playground.training.prepare import Prepared, prepare
from playground.training.probe import probe, probed_layers
from tests.tiny import tiny_llama

CPU = torch.device("cpu")
Configure = Callable[..., RunConfig]
TIMES = {"step_ms", "tokens_per_s"}


def steps(events: list[Event]) -> list[dict[str, Any]]:
    return [e.model_dump(exclude=TIMES) for e in events if isinstance(e, Step)]


def errors(events: list[Event]) -> list[LayerError]:
    return [e for e in events if isinstance(e, LayerError)]


@pytest.mark.parametrize(
    "settings",
    [
        {"precision": "fp32"},
        {"precision": "fp16", "grad_accum_steps": 2},
        {"precision": "nvfp4"},
        {"precision": "nvfp4-2d"},
        {"precision": "nvfp4-2d", "gradient_checkpointing": True},
    ],
    ids=lambda s: "-".join(map(str, s.values())),
)
def test_the_run_is_the_same_to_the_bit_with_and_without(
    configure: Configure, tmp_path: Path, settings: dict[str, Any]
) -> None:
    settings = {"lora_dropout": 0.2, "max_steps": 3, "train_rows": 16, **settings}
    with_looks = list(train(configure(probe_every=1, **settings), folder=tmp_path / "a"))
    without = list(train(configure(probe_every=0, **settings), folder=tmp_path / "b"))
    assert steps(with_looks) == steps(without)
    assert {e.step for e in errors(with_looks)} == {1, 2, 3}
    assert errors(without) == []
    adapters = [(tmp_path / f / "adapter/adapter_model.safetensors").read_bytes() for f in "ab"]
    assert adapters[0] == adapters[1]


def test_looks_come_after_step_1_and_then_when_due(configure: Configure, tmp_path: Path) -> None:
    found = errors(list(train(configure(probe_every=3, max_steps=7), folder=tmp_path)))
    assert sorted({e.step for e in found}) == [1, 3, 6]


@pytest.fixture
def prepared(configure: Configure) -> Callable[..., tuple[Prepared, list[MicroBatch]]]:
    """A run that is about to make its first step, and the micro-batches of it."""

    def make(**settings: Any) -> tuple[Prepared, list[MicroBatch]]:
        work = prepare(configure(probe_every=1, **settings), lambda: None)
        try:
            while True:
                next(work)
        except StopIteration as done:
            run = done.value
        first = next(batches(run.train, 4, 2, seed=0, pad_id=run.pad_id))
        return run, first

    return make


def by_tensor(found: list[LayerError]) -> dict[str, list[float]]:
    tensors = ("weight", "activation", "gradient")
    return {t: [e.relative_error for e in found if e.tensor == t] for t in tensors}


@pytest.mark.parametrize(
    ("precision", "bounds"),
    [
        # From the least to the most that the layers of this model showed, with room on both sides.
        ("fp32", {"weight": (0, 0), "activation": (0, 0), "gradient": (0, 0)}),
        ("bf16", dict.fromkeys(("weight", "activation", "gradient"), (1e-3, 2.5e-3))),
        (
            "nvfp4",
            {"weight": (0.06, 0.1), "activation": (0.07, 0.13), "gradient": (1e-3, 2.5e-3)},
        ),
        ("nvfp4-2d", {"weight": (0.08, 0.13), "activation": (0.07, 0.13), "gradient": (0.1, 0.2)}),
    ],
)
def test_each_operand_errs_as_its_format_does(
    prepared: Callable[..., Any], precision: str, bounds: dict[str, tuple[float, float]]
) -> None:
    run, first = prepared(precision=precision)
    found = by_tensor(list(probe(run, 1, first, None)))
    assert [len(of) for of in found.values()] == [4, 4, 4]  # two layers in each of two blocks
    for tensor, (least, most) in bounds.items():
        assert all(least <= error <= most for error in found[tensor]), (tensor, found[tensor])


def test_the_gradient_looked_at_is_the_one_of_the_backward_pass(
    prepared: Callable[..., Any],
) -> None:
    run, first = prepared(precision="nvfp4-2d")
    layers = probed_layers(run.model)
    with torch.random.fork_rng():
        looked_at = {(e.layer, e.tensor): e for e in probe(run, 1, first, 8.0)}
    seen: dict[str, torch.Tensor] = {}

    def keep(name: str, layer: nn.Module, dx: Any, dy: tuple[torch.Tensor]) -> None:
        seen[name] = dy[0]

    for name, layer in layers.items():
        layer.register_full_backward_hook(partial(keep, name))
    operand = run.model.get_base_model().shared_operand
    with operand.aside():
        tokens = sum(batch.supervised_tokens for batch in first)
        (8.0 * summed_loss(run.model, first[0]) / tokens).backward()
        for name, layer in layers.items():
            expected = rounding_error(seen[name], layer.rounded_gradient(seen[name]))
            assert looked_at[name, "gradient"].relative_error == expected.relative_error


def test_what_underflows_depends_on_the_loss_scale(prepared: Callable[..., Any]) -> None:
    run, first = prepared(precision="fp16")
    lost = {
        scale: [e.zeroed_share for e in probe(run, 1, first, scale) if e.tensor == "gradient"]
        for scale in (2.0**16, 2.0**-14)
    }
    assert max(lost[2.0**16]) < 0.01 < 0.2 < min(lost[2.0**-14])


def test_nothing_is_left_behind(prepared: Callable[..., Any]) -> None:
    run, first = prepared(precision="nvfp4-2d", lora_dropout=0.5)
    operand = run.model.get_base_model().shared_operand
    layer = next(iter(probed_layers(run.model).values()))
    before = (torch.get_rng_state(), operand.seed(layer.first_seed))
    list(probe(run, 1, first, None))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.equal(operand.seed(layer.first_seed), before[1])
    assert all(p.grad is None for p in run.model.parameters())
    hooks = [m for m in run.model.modules() if m._forward_hooks]
    assert hooks == []


def test_a_healed_run_shows_the_errors_of_what_healed_it(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(
        precision="nvfp4", heal_after=0.5, heal_to="bf16", probe_every=1, max_steps=2
    )
    found = errors(list(train(config, folder=tmp_path)))
    by_step = {n: by_tensor([e for e in found if e.step == n]) for n in (1, 2)}
    for tensor in ("weight", "activation"):
        assert min(by_step[1][tensor]) > 0.05 > 2.5e-3 > max(by_step[2][tensor])


def test_layers_kept_in_16_bits_are_not_looked_at(prepared: Callable[..., Any]) -> None:
    run, first = prepared(precision="nvfp4", keep_last_blocks=1)
    assert {e.layer for e in probe(run, 1, first, None)} == {
        "model.layers.0.self_attn.o_proj",
        "model.layers.0.mlp.down_proj",
    }


def test_compiled_blocks_are_looked_at_too_and_not_compiled_again(
    prepared: Callable[..., Any],
) -> None:
    run, first = prepared(precision="nvfp4")
    eager = list(probe(run, 1, first, None))
    compiled = CompileCounter()
    for block in run.model.get_base_model().model.layers:
        block.compile(backend=compiled)
    summed_loss(run.model, first[0])
    graphs = compiled.frame_count
    assert graphs > 0 and list(probe(run, 1, first, None)) == eager
    summed_loss(run.model, first[0])
    assert compiled.frame_count == graphs


class TestWhichLayers:
    @staticmethod
    def of(model: nn.Module) -> list[str]:
        convert(model, PRECISION_RECIPES["fp32"], CPU)
        return list(probed_layers(model))

    def test_attention_and_mlp_of_the_first_middle_and_last_block(self) -> None:
        names = self.of(tiny_llama(num_hidden_layers=5))
        parts = ("self_attn.o_proj", "mlp.down_proj")
        assert names == [f"model.layers.{i}.{part}" for i in (0, 2, 4) for part in parts]

    def test_one_block_is_looked_at_once(self) -> None:
        assert len(self.of(tiny_llama(num_hidden_layers=1))) == 2

    def test_the_adapter_around_them_changes_no_name(self, configure: Configure) -> None:
        model = tiny_llama()
        names = self.of(model)
        wrapped = add_adapter(model, configure().lora, seed=0)
        assert trainable(wrapped)
        assert list(probed_layers(wrapped)) == names

    def test_layers_without_blocks(self) -> None:
        model = nn.Sequential(*(nn.Linear(16, 16) for _ in range(4)))
        assert self.of(model) == ["0", "2", "3"]

    def test_blocks_that_are_one_part(self) -> None:
        model = nn.Module()
        model.blocks = nn.ModuleList(
            nn.Sequential(nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 16))) for _ in range(2)
        )
        assert self.of(model) == ["blocks.0.0.0", "blocks.0.0.1", "blocks.1.0.0", "blocks.1.0.1"]


class TestRoundingError:
    def test_is_the_ratio_of_norms_and_the_share_of_lost_elements(self) -> None:
        exact = torch.tensor([3.0, 4.0, 0.0, 0.5])
        rounded = torch.tensor([3.0, 3.0, 0.0, 0.0])
        found = rounding_error(exact, rounded)
        assert found.relative_error == pytest.approx(math.sqrt(1.25 / 25.25))
        assert found.zeroed_share == 1 / 3

    @pytest.mark.parametrize(
        ("exact", "rounded", "relative", "zeroed"),
        [
            ([0.0], [0.0], 0.0, 0.0),
            ([0.0], [1.0], math.inf, 0.0),
            ([1e-30], [0.0], 1.0, 1.0),  # its square is no fp32 number
            ([math.inf], [math.inf], math.nan, 0.0),
            ([1.0], [math.inf], math.inf, 0.0),
            ([], [], 0.0, 0.0),
        ],
    )
    def test_at_the_edges(
        self, exact: list[float], rounded: list[float], relative: float, zeroed: float
    ) -> None:
        found = rounding_error(torch.tensor(exact), torch.tensor(rounded))
        assert found.relative_error == pytest.approx(relative, nan_ok=True)
        assert found.zeroed_share == zeroed

    def test_of_any_two_types(self) -> None:
        exact = torch.ones(4, dtype=torch.bfloat16)
        assert rounding_error(exact, torch.ones(4, dtype=torch.float16)) == (0.0, 0.0)
