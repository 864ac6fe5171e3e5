"""A model is read and rounded a layer at a time: the same bits, and never all of it in 16 bits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from playground.catalog import resolve_model
from playground.config import RunConfig
from playground.precision.convert import convert, converting
from playground.precision.found import linears
from playground.precision.linear import FrozenLinear
from playground.precision.registry import PRECISION_RECIPES, recipe_of
from playground.precision.waiting import is_in_file
from playground.training.meters import stored_bytes
from playground.training.model import Base, load_base, loading, watched
from playground.training.pretrained import load_checkpoint
from tests.assertions import bits_equal
from tests.tiny import tiny_llama, tiny_tokenizer
from tests.training.prepared import returned

CPU = torch.device("cpu")
MIB = 2**20
Configure = Callable[..., RunConfig]


def streamed(config: RunConfig) -> Base:
    return load_base(resolve_model(config.model), config, recipe_of(config), CPU)


def whole(config: RunConfig) -> tuple[Any, Any]:
    """The old way: everything in floats first, and then into the precision."""
    model = load_checkpoint(resolve_model(config.model), 64, torch.float32).model
    return model, convert(model, recipe_of(config), CPU)


def tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    named = [*model.named_parameters(remove_duplicate=False)]
    named += model.named_buffers(remove_duplicate=False)
    for name, layer in model.named_modules():
        if getattr(layer, "first_seed", None) is not None:
            named.append((f"{name}.first_seed", layer.first_seed))
    return dict(named)


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, str]:
    """By whether the head is tied: in bf16, in several files, with biases."""
    folders = {}
    for tied in (True, False):
        folder = tmp_path_factory.mktemp("sharded")
        model = tiny_llama(tie_word_embeddings=tied, attention_bias=True).to(torch.bfloat16)
        model.save_pretrained(folder, max_shard_size="20KB")
        tiny_tokenizer().save_pretrained(folder)
        assert len(list(folder.glob("*.safetensors"))) > 2
        folders[tied] = str(folder)
    return folders


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize("precision", PRECISION_RECIPES)
def test_it_is_what_loading_whole_and_then_converting_gives(
    precision: str, tied: bool, sharded: dict[bool, str], configure: Configure
) -> None:
    config = configure(model=sharded[tied], precision=precision)
    ours = streamed(config)
    model, coverage = whole(config)
    assert ours.coverage == coverage
    assert [type(m) for m in ours.model.modules()] == [type(m) for m in model.modules()]
    mine, theirs = tensors(ours.model), tensors(model)
    assert list(mine) == list(theirs)
    for name, tensor in mine.items():
        assert tensor.dtype == theirs[name].dtype, name
        bits_equal(tensor, theirs[name], name)
    assert (ours.model.lm_head.weight is ours.model.model.embed_tokens.weight) is tied
    assert not any(p.requires_grad for p in ours.model.parameters())


@pytest.mark.parametrize(
    "options",
    [
        {"precision": "nvfp4", "keep_last_blocks": 1},
        {"precision": "mxfp4", "keep_layers": ["down_proj", "model.layers.0.self_attn.q_proj"]},
        {"precision": "nvfp4-2d", "weight_scale_rule": "four_over_six"},
        {"precision": "nvfp4", "weight_scale_rule": "amax"},
        {"precision": "fp8", "fp8_gradients": "e4m3", "keep_layers": ["o_proj"]},
    ],
)
def test_with_the_options_of_a_recipe_too(
    options: dict[str, Any], sharded: dict[bool, str], configure: Configure
) -> None:
    config = configure(model=sharded[False], **options)
    ours = streamed(config)
    model, coverage = whole(config)
    assert ours.coverage == coverage
    theirs = tensors(model)
    for name, tensor in tensors(ours.model).items():
        bits_equal(tensor, theirs[name], name)


def test_linears_wait_in_their_file_and_leave_no_trace_of_how(
    sharded: dict[bool, str], configure: Configure
) -> None:
    entry = resolve_model(sharded[False])
    model = load_checkpoint(entry, 64, torch.float32, linears_in_file=True).model
    for name, linear in linears(model):
        waits = linear is not model.lm_head
        assert is_in_file(linear.weight) is waits, name
        assert linear.weight.dtype == (torch.bfloat16 if waits else torch.float32), name
    assert model.model.embed_tokens.weight.dtype == torch.float32
    plain = load_checkpoint(entry, 64, torch.float32).model
    assert not hasattr(model, "hf_quantizer") and not getattr(model, "is_quantized", False)
    assert vars(model.config) == vars(plain.config)


# --- how much memory it takes ---


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, str]:
    """By whether the head is tied: 43 million weights in bf16; the largest is 24 MiB in fp32."""
    sizes = {
        "hidden_size": 1024,
        "intermediate_size": 6144,
        "num_hidden_layers": 2,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "head_dim": 128,
    }
    folders = {}
    for tied in (True, False):
        folder = tmp_path_factory.mktemp("large")
        with torch.device("meta"):
            model = tiny_llama(tie_word_embeddings=tied, **sizes)
        model = model.to(torch.bfloat16).to_empty(device="cpu")
        model.tie_weights()
        for parameter in model.parameters():
            parameter.data.uniform_(-1, 1)
        model.save_pretrained(folder, max_shard_size="40MB")
        tiny_tokenizer().save_pretrained(folder)
        assert len(list(folder.glob("*.safetensors"))) > 2
        folders[tied] = str(folder)
    return folders


def allocated_mib(work: Callable[[], Any], folder: str | None = None) -> tuple[float, Any]:
    """The most that torch's allocator gave out, work space of operations included.

    The profiler counts a mapped file as allocated too: those of ``folder`` are told by their size,
    and left out.
    """
    mapped = (
        {file.stat().st_size for file in Path(folder).glob("*.safetensors")} if folder else set()
    )
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profiler:
        result = work()
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    sizes = [e.nbytes() for e in sorted(events, key=lambda e: e.start_ns())]
    assert mapped <= set(sizes)
    return max(accumulate(size for size in sizes if abs(size) not in mapped)) / MIB, result


@pytest.fixture
def seen_by_the_profiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which looks at one thread only; transformers would cast in others."""
    monkeypatch.setenv("HF_DEACTIVATE_ASYNC_LOAD", "1")


def bound_mib(model: nn.Module) -> float:
    """The packed size, two of the largest layers in fp32, and what is not quantised."""
    everything = stored_bytes([*model.parameters(), *model.buffers()])
    frozen = [m for m in model.modules() if isinstance(m, FrozenLinear)]
    return (everything + 2 * 4 * max(m.in_features * m.out_features for m in frozen)) / MIB


@pytest.mark.usefixtures("seen_by_the_profiler")
@pytest.mark.parametrize(
    ("precision", "tied"),
    [("fp8", True), ("fp8", False), ("mxfp4", False), ("nf4", False), ("nvfp4", False)],
)
def test_it_takes_the_packed_size_two_layers_and_what_is_not_quantised(
    precision: str, tied: bool, large: dict[bool, str], configure: Configure
) -> None:
    config = configure(model=large[tied], precision=precision, weight_scale_rule="amax")
    peak, base = allocated_mib(lambda: streamed(config), large[tied])
    assert peak <= bound_mib(base.model)
    assert 0.7 * peak < base.loading_peak_mib <= peak


def test_what_another_library_decoded_whole_counts_whole() -> None:
    """As some GGUF is: its tensors lie in numpy's memory, which torch may not resize either."""
    model = tiny_llama()
    for parameter in model.parameters():
        parameter.data = torch.from_numpy(parameter.detach().numpy().copy())
    exact = stored_bytes([*model.parameters(), *model.buffers()]) / MIB
    work = watched(model, converting(model, PRECISION_RECIPES["fp8"], CPU))
    assert returned(work)[1] >= exact


@pytest.mark.usefixtures("seen_by_the_profiler")
def test_the_old_way_takes_more(large: dict[bool, str], configure: Configure) -> None:
    config = configure(model=large[False], precision="fp8")
    peak, (model, _) = allocated_mib(lambda: whole(config), large[False])
    assert peak > 1.5 * bound_mib(model)


def test_stop_is_heard_between_tensors(large: dict[bool, str], configure: Configure) -> None:
    config, asked = configure(model=large[True], precision="fp8"), []

    def check() -> None:
        asked.append(1)
        if len(asked) == 8:
            raise KeyboardInterrupt

    entry, shares = resolve_model(config.model), []
    work = loading(entry, config, recipe_of(config), CPU, check=check)
    with pytest.raises(KeyboardInterrupt):
        for share in work:
            shares.append(share)
    assert len(asked) == 8 and 0 < shares[-1] < 0.5


def test_the_share_that_is_done_is_that_of_the_weights(
    sharded: dict[bool, str], configure: Configure
) -> None:
    config = configure(model=sharded[False], precision="nvfp4")
    shares = list(loading(resolve_model(config.model), config, recipe_of(config), CPU))
    assert len(shares) == 15 and shares == sorted(shares) and shares[-1] == 1.0
