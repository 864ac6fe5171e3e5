"""Layers that stay in 16 bits: which they are, that they really are, and that the run says so."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from playground.config import QuantizationSettings, SettingsError
from playground.events import Coverage
from playground.precision.convert import convert
from playground.precision.keep import KEPT
from playground.precision.operands import SharedOperand
from playground.precision.recipe import Recipe
from playground.precision.registry import PRECISION_RECIPES
from playground.precision.sixteen_bit import SixteenBitLinear
from playground.presets import defaults
from playground.training.meters import weigh
from tests.tiny import tiny_llama

CPU = torch.device("cpu")
LOW = ("fp8", "nvfp4", "nvfp4-2d", "nvfp4-weight-only", "mxfp4", "nf4")
PARTS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
         "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")  # fmt: skip


def recipe(name: str, **options: Any) -> Recipe:
    settings = QuantizationSettings(**(defaults()["quantization"] | options))
    return PRECISION_RECIPES[name].with_options(settings)


def kept(coverage: Coverage) -> list[str]:
    return [layer.name for layer in coverage.skipped if layer.reason == KEPT]


@pytest.mark.parametrize("name", LOW)
def test_the_last_block_stays_in_16_bits_and_is_counted_apart(name: str) -> None:
    whole, model = tiny_llama(), tiny_llama()
    all_in = convert(whole, recipe(name), CPU)
    coverage = convert(model, recipe(name, keep_last_blocks=1), CPU)
    assert coverage.converted == 7
    assert kept(coverage) == [f"model.layers.1.{part}" for part in PARTS]
    assert coverage.share_of_linear_weights == pytest.approx(all_in.share_of_linear_weights / 2)
    for layer in kept(coverage):
        module = model.get_submodule(layer)
        assert isinstance(module, SixteenBitLinear) and module.weight.dtype == torch.bfloat16
    before, after = weigh(whole), weigh(model)
    assert after.bits_per_converted_weight == pytest.approx(before.bits_per_converted_weight)
    assert after.converted_weights_mib == pytest.approx(before.converted_weights_mib / 2)
    in_16_bits = 2 * sum(model.get_submodule(layer).weight.numel() for layer in kept(coverage))
    grown = (after.weights_mib - before.weights_mib) * 2**20
    assert grown == pytest.approx(in_16_bits - before.converted_weights_mib * 2**20 / 2)
    assert after.parameters == before.parameters


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["down_proj"], ["model.layers.0.mlp.down_proj", "model.layers.1.mlp.down_proj"]),
        (["mlp.up_proj"], ["model.layers.0.mlp.up_proj", "model.layers.1.mlp.up_proj"]),
        (
            ["model.layers.1.self_attn.q_proj", "layers.0.mlp.down_proj"],
            ["model.layers.0.mlp.down_proj", "model.layers.1.self_attn.q_proj"],
        ),
    ],
)
def test_layers_are_named_as_target_modules_names_them(names: list[str], found: list[str]) -> None:
    coverage = convert(tiny_llama(), recipe("nvfp4", keep_layers=names), CPU)
    assert kept(coverage) == found
    assert coverage.converted == 14 - len(found)


@pytest.mark.parametrize("name", ["fp32", "bf16", "fp16"])
def test_a_precision_of_16_bits_and_more_keeps_nothing(name: str) -> None:
    coverage = convert(tiny_llama(), recipe(name, keep_last_blocks=1, keep_layers=["x"]), CPU)
    assert coverage.converted == 14 and not kept(coverage)


def test_a_kept_layer_and_its_neighbour_round_the_same_input_each_in_its_way() -> None:
    torch.manual_seed(0)
    model = nn.ModuleDict({"q_proj": nn.Linear(32, 16), "k_proj": nn.Linear(32, 16)})
    plain = recipe("nvfp4").convert(model["k_proj"], CPU, SharedOperand())
    wide = PRECISION_RECIPES["bf16"].convert(model["q_proj"], CPU, SharedOperand())
    convert(model, recipe("nvfp4", keep_layers=["q_proj"]), CPU)
    x = torch.randn(5, 32)
    for _ in range(2):
        assert torch.equal(model["q_proj"](x), wide(x))
        assert torch.equal(model["k_proj"](x), plain(x))


class Experts(nn.Module):
    """A model whose blocks have lists of their own, and a list that is none of blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(32) for _ in range(9))
        self.trunk = nn.ModuleList(self._block() for _ in range(3))

    @staticmethod
    def _block() -> nn.Module:
        experts = nn.ModuleList(nn.Linear(32, 32) for _ in range(5))
        return nn.ModuleDict({"experts": experts})


def test_blocks_are_found_by_what_they_hold() -> None:
    coverage = convert(Experts(), recipe("nvfp4", keep_last_blocks=2), CPU)
    assert kept(coverage) == [f"trunk.{b}.experts.{e}" for b in (1, 2) for e in range(5)]


def test_one_number_does_not_begin_another() -> None:
    model = tiny_llama(num_hidden_layers=12)
    coverage = convert(model, recipe("nvfp4", keep_last_blocks=11), CPU)
    assert coverage.converted == 7  # block 0; block 1 is kept, and 10 and 11 not by its name
    assert len(kept(coverage)) == 11 * 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"keep_last_blocks": 2},
            "keep_last_blocks is 2; this model has 2 blocks and at least one must be left to "
            "round, so choose at most 1.",
        ),
        (
            {"keep_layers": ["down"]},
            "keep_layers names 'down', which no layer of this model is called; choose from "
            "down_proj, gate_proj, k_proj, lm_head, o_proj, q_proj, up_proj, v_proj. "
            "Did you mean 'down_proj'?",
        ),
        (
            {"keep_layers": [part.rpartition(".")[2] for part in PARTS]},
            "No layer of this model can run in nvfp4: kept in 16 bits; the output head stays in "
            "the compute type. Keep fewer layers.",
        ),
    ],
)
def test_refused_in_a_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        convert(tiny_llama(), recipe("nvfp4", **options), CPU)
    assert str(refused.value) == message


def test_a_model_without_blocks_is_asked_for_names() -> None:
    with pytest.raises(SettingsError, match="no list of blocks; name its layers in keep_layers"):
        convert(nn.Sequential(nn.Linear(32, 32)), recipe("nvfp4", keep_last_blocks=1), CPU)
