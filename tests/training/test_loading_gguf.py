"""A GGUF file is decoded and rounded a layer at a time too: the same bits, and never all of it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from playground.config import RunConfig, SettingsError
from playground.precision.convert import convert
from playground.precision.registry import recipe_of
from playground.precision.waiting import is_in_file, published
from playground.training.fit import estimate
from playground.training.model import load_base
from playground.training.pretrained import load_checkpoint, load_model
from tests.assertions import bits_equal
from tests.gguf_file import gguf_model, write_gguf
from tests.tiny import tiny_llama
from tests.training.test_loading import allocated_mib, bound_mib, tensors

CPU = torch.device("cpu")
MIB = 2**20
Configure = Callable[..., RunConfig]


@pytest.mark.parametrize(("kind", "tied"), [("Q8_0", True), ("Q4_1", False), ("BF16", False)])
def test_it_is_what_decoding_whole_and_then_converting_gives(
    kind: str, tied: bool, tmp_path: Path, configure: Configure
) -> None:
    file = write_gguf(tiny_llama(tie_word_embeddings=tied), tmp_path / "m.gguf", kind)
    entry = gguf_model(file, tmp_path / "parsed")
    config = configure(model=str(file), precision="nvfp4")
    base = load_base(entry, config, recipe_of(config), CPU, self_tests=tmp_path / "self-tests.json")
    whole = load_checkpoint(entry, 64, torch.float32, keep=tmp_path / "parsed").model
    waits = load_model(entry, 64, torch.float32, linears_in_file=True, keep=tmp_path / "parsed")
    assert sum(map(is_in_file, waits.parameters())) == 14
    for name, weight in waits.named_parameters():
        bits_equal(published(weight), whole.get_parameter(name), name)
    coverage = convert(whole, recipe_of(config), CPU)
    assert base.coverage == coverage and not base.unused
    mine, theirs = tensors(base.model), tensors(whole)
    assert list(mine) == list(theirs)
    for name, tensor in mine.items():
        bits_equal(tensor, theirs[name], name)
    assert (base.model.lm_head.weight is base.model.model.embed_tokens.weight) is tied


def test_what_the_file_lacks_or_has_in_another_shape_is_refused(
    tmp_path: Path, configure: Configure
) -> None:
    lacks = write_gguf(tiny_llama(), tmp_path / "lacks.gguf", block_count=3)
    with pytest.raises(SettingsError, match=r"lacks 9 tensors \(model.layers.2.*, \.\.\.\)"):
        load_model(gguf_model(lacks, tmp_path), 64, torch.float32, linears_in_file=True)
    other = write_gguf(tiny_llama(), tmp_path / "other.gguf", feed_forward_length=96)
    with pytest.raises(SettingsError, match="down_proj.weight' of model .* is 32 x 64 in its weig"):
        load_model(gguf_model(other, tmp_path), 64, torch.float32, linears_in_file=True)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """21 million weights in blocks; the largest matrix is 24 MiB in fp32."""
    sizes = {"hidden_size": 1024, "intermediate_size": 6144, "num_attention_heads": 8}
    model = tiny_llama(num_hidden_layers=2, tie_word_embeddings=False, **sizes)
    return write_gguf(model, tmp_path_factory.mktemp("large") / "m.gguf")


def peak_mib(work: Callable[[], Any]) -> tuple[float, Any]:
    """Of torch's allocator and of numpy's, which decodes: their sum is never less than the most."""
    tracemalloc.start()
    try:
        peak, result = allocated_mib(work)
        return peak + tracemalloc.get_traced_memory()[1] / MIB, result
    finally:
        tracemalloc.stop()


def test_it_takes_the_packed_size_two_layers_and_what_is_not_quantised(
    large: Path, tmp_path: Path, configure: Configure
) -> None:
    entry = gguf_model(large, tmp_path / "parsed")
    config = configure(model=str(large), precision="fp8")
    tests = tmp_path / "self-tests.json"
    peak, base = peak_mib(
        lambda: load_base(entry, config, recipe_of(config), CPU, self_tests=tests)
    )
    assert peak <= bound_mib(base.model)
    assert 0.5 * peak < base.loading_peak_mib <= peak
    assert estimate(config).loading_mib == pytest.approx(bound_mib(base.model), rel=0.01)
    del base

    def whole() -> Any:
        return convert(load_model(entry, 64, torch.float32), recipe_of(config), CPU)

    assert peak_mib(whole)[0] > 2 * peak
