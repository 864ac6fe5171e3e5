"""Which Linears a precision takes over, and what is said of the others."""

from __future__ import annotations

import weakref

import pytest
import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from playground.config import SettingsError
from playground.precision.convert import convert, converting
from playground.precision.found import linears
from playground.precision.linear import FrozenLinear
from playground.precision.registry import PRECISION_RECIPES
from tests.assertions import bits_equal
from tests.tiny import tiny_llama

CPU = torch.device("cpu")


def converted(model: nn.Module, name: str = "nvfp4"):  # type: ignore[no-untyped-def]
    return convert(model, PRECISION_RECIPES[name], CPU)


@pytest.mark.parametrize("name", PRECISION_RECIPES)
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
def test_all_linears_but_the_head(name: str, tied: bool) -> None:
    model = tiny_llama(tie_word_embeddings=tied)
    coverage = converted(model, name)
    assert coverage.converted == 2 * 7
    assert [(s.name, s.reason) for s in coverage.skipped] == [
        ("lm_head", "the output head stays in the compute type")
    ]
    assert type(model.lm_head) is nn.Linear
    layers = sum(m.in_features * m.out_features for m in model.modules() if _is_frozen(m))
    head = model.lm_head.weight.numel()
    assert coverage.share_of_linear_weights == layers / (layers + head)
    assert (model.lm_head.weight is model.model.embed_tokens.weight) is tied
    assert not any(p.requires_grad for p in model.parameters())


def _is_frozen(module: nn.Module) -> bool:
    return isinstance(module, FrozenLinear)


class Odd(nn.Module):
    """A Linear that fits no block, one shared with an embedding, one used twice, and an odd one."""

    def __init__(self) -> None:
        super().__init__()
        self.narrow = nn.Linear(20, 32)
        self.embed = nn.Embedding(10, 32)
        self.shared = nn.Linear(32, 10, bias=False)
        self.shared.weight = self.embed.weight
        self.once = nn.Linear(32, 32)
        self.twice = self.once
        self.special = nn.modules.linear.NonDynamicallyQuantizableLinear(32, 32)


def test_what_cannot_be_converted_is_listed_with_its_reason() -> None:
    model = Odd()
    coverage = converted(model)
    assert {s.name: s.reason for s in coverage.skipped} == {
        "narrow": "its 20 input features are not a multiple of 16",
        "shared": "its matrix is shared with an embedding",
        "special": "a NonDynamicallyQuantizableLinear is not a plain Linear",
    }
    assert coverage.converted == 1
    assert model.once is model.twice


def test_mxfp4_needs_blocks_of_32() -> None:
    model = nn.Sequential(nn.Linear(48, 32), nn.Linear(32, 32))
    (skipped,) = converted(model, "mxfp4").skipped
    assert skipped.name == "0"
    assert skipped.reason == "its 48 input features are not a multiple of 32"


def test_a_weight_beyond_fp16_is_skipped_not_made_infinite() -> None:
    model = nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 16))
    with torch.no_grad():
        model[1].weight[0, 0] = 1e5
    (skipped,) = converted(model, "fp16").skipped
    assert skipped.name == "1"
    assert "1e+05" in skipped.reason and "FP16" in skipped.reason


@pytest.mark.parametrize("name", PRECISION_RECIPES)
def test_a_conv1d_becomes_the_linear_that_it_is(name: str) -> None:
    torch.manual_seed(0)
    conv, linear = Conv1D(48, 32), nn.Linear(32, 48)
    linear.weight.data, linear.bias.data = conv.weight.data.T.contiguous(), conv.bias.data
    ours, theirs = nn.Sequential(conv), nn.Sequential(linear)
    assert converted(ours, name) == converted(theirs, name)
    assert type(ours[0]) is type(theirs[0])
    bits_equal(ours[0].decoded_weight(), theirs[0].decoded_weight())
    x = torch.randn(3, 32)
    torch.testing.assert_close(ours(x), theirs(x))


class Experts(nn.Module):
    """As models keep them: the matrices of four in one tensor, and a router that is no Linear."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.zeros(4, 32, 16))
        self.router = nn.Parameter(torch.zeros(4, 16))
        self.proj = nn.Linear(16, 64)


def test_matrices_that_no_linear_holds_are_listed_and_counted() -> None:
    coverage = converted(nn.Sequential(Experts()))
    assert {s.name: s.reason for s in coverage.skipped} == {
        "0.up": "a tensor of 3 dimensions that Experts multiplies with by itself, no Linear",
        "0.router": "a tensor of 2 dimensions that Experts multiplies with by itself, no Linear",
    }
    assert coverage.share_of_linear_weights == 1024 / (1024 + 2048 + 64)


def test_a_model_without_a_linear_is_refused() -> None:
    with pytest.raises(SettingsError, match="it has no Linear at all.*another model"):
        converted(nn.Sequential(nn.Embedding(4, 4)))


def test_a_model_of_no_size_is_refused() -> None:
    with pytest.raises(SettingsError, match="no Linear with a weight.*size of 0"):
        converted(nn.Sequential(nn.Linear(0, 4)))


def test_a_weight_is_freed_before_the_next_is_rounded() -> None:
    model = tiny_llama(tie_word_embeddings=False)
    exact = [weakref.ref(m.weight.untyped_storage()) for _, m in linears(model)]
    work = converting(model, PRECISION_RECIPES["nvfp4"], CPU)
    for done, taken in enumerate(work):
        assert sum(ref() is not None for ref in exact) == len(exact) - done
        del taken
    assert sum(ref() is not None for ref in exact) == 1  # the head's


@pytest.mark.parametrize(
    "name",
    [
        "model.layers.1.self_attn.o_proj.weight",
        "model.embed_tokens.weight",
        "model.norm.weight",
        "lm_head.weight",
    ],
)
def test_weights_that_are_not_finite_are_refused_by_name(name: str) -> None:
    model = tiny_llama(tie_word_embeddings=False)
    with torch.no_grad():
        model.get_parameter(name).view(-1)[3:5] = torch.nan
    with pytest.raises(SettingsError, match=f"Tensor '{name}' has 2 weights that are NaN"):
        converted(model)


def test_conversion_can_be_given_up_between_layers() -> None:
    calls = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt

    model = tiny_llama()
    with pytest.raises(KeyboardInterrupt):
        convert(model, PRECISION_RECIPES["nvfp4"], CPU, check=check)
    assert sum(_is_frozen(m) for m in model.modules()) == 2


def test_siblings_of_a_layer_round_their_input_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels import linear

    model = tiny_llama()
    converted(model)
    calls = []
    original = linear.fake_quantize_nvfp4
    monkeypatch.setattr(
        linear, "fake_quantize_nvfp4", lambda x, **k: calls.append(x.shape) or original(x, **k)
    )
    model(torch.tensor([[1, 2, 3]]))
    assert len(calls) == 2 * 4  # q k v | o | gate up | down
