"""The base model of a run: loaded, and put into its precision on its device."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from playground.catalog.models import ModelEntry
from playground.config import RunConfig
from playground.events import Coverage
from playground.precision.convert import Taken, convert, converting
from playground.precision.found import as_linear, linears
from playground.precision.keep import check_kept
from playground.precision.recipe import Recipe
from playground.precision.waiting import is_in_file
from playground.training.adapter import check_targets
from playground.training.meters import MIB, stored_bytes
from playground.training.parsed import beside
from playground.training.pretrained import empty_model, load_checkpoint, load_configuration

_TESTED_TOKENS = 4096  # more would only make the self-test slower


class Base(NamedTuple):
    """A frozen base model in its precision, before any adapter.

    tried: what the self-test said of each backend that might serve, a sentence each.
    unused: as in ``Checkpoint``.
    loading_peak_mib: the most that its tensors occupied while they were read, wherever they were.
    """

    model: Any
    tokenizer: Any
    coverage: Coverage
    tried: list[str]
    unused: list[str]
    loading_peak_mib: float


def load_base(*arguments: Any, **options: Any) -> Base:
    """All of ``loading``, without a word on the way."""
    work = loading(*arguments, **options)
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value


def loading(
    entry: ModelEntry,
    config: RunConfig,
    recipe: Recipe,
    device: torch.device,
    *,
    check: Callable[[], None] = lambda: None,
    self_tests: Path | None = None,
    adjust: Callable[[str, Tensor], Tensor] | None = None,
    published: Any = None,
    tokenizer: Any = None,
) -> Generator[float, None, Base]:
    """Loads a model and puts it into a precision, on ``device``; yields the share that is done.

    A Linear is read from its file when its turn comes to be rounded, so the model never stands in
    floats as a whole (but for a few kinds of GGUF; see ``in_gguf``). What the model's architecture
    and the settings refuse is refused before any weight is fetched. On a GPU the backends that
    might serve are first tried on the model's own shapes.

    Args:
        check: called between the parts of the work and before each Linear; raises to give up.
        self_tests: file that keeps what they came to; None tries them anew. Beside it lies what was
            read of GGUF files.
        adjust: called with each Linear's name and published weight, (N, K), before it is rounded.
        published / tokenizer: the model's, where they were loaded before.
    Raises:
        SettingsError: as ``load_checkpoint``, ``check_kept`` and ``convert``.
    """
    compute = compute_dtype(recipe, device)
    longest = config.data.max_seq_len
    keep = beside(self_tests)
    published = published or load_configuration(entry, longest, keep)
    check()
    shapes = checked_shapes(entry, config, published, compute)
    tokens = config.training.micro_batch_size * longest
    tried = recipe.self_test(device, linear_shapes(shapes, tokens), self_tests)
    convert(shapes, recipe, torch.device("meta"))
    model, tokenizer, unused = load_checkpoint(
        entry,
        longest,
        compute,
        check=check,
        published=published,
        tokenizer=tokenizer,
        linears_in_file=True,
        keep=keep,
    )
    measure = config.measure.probe_every > 0
    work = converting(
        model, recipe, device, check=check, measure=measure, dtype=compute, adjust=adjust
    )
    coverage, peak_mib = yield from watched(model, work)
    return Base(model.to(device), tokenizer, coverage, tried, unused, peak_mib)


def checked_shapes(entry: ModelEntry, config: RunConfig, published: Any, dtype: torch.dtype) -> Any:
    """The model without its weights, if it has the layers that the settings name.

    Raises:
        SettingsError: as ``empty_model``, ``check_kept`` and ``check_targets``.
    """
    shapes = empty_model(entry, published, dtype)
    check_kept(shapes, config.quantization)
    check_targets(shapes, config.lora)
    return shapes


def compute_dtype(recipe: Recipe, device: torch.device) -> torch.dtype:
    """Of all that is no converted Linear: 16-bit products on a CPU are a hundred times slower."""
    return recipe.compute_dtype if device.type == "cuda" else torch.float32


def watched(
    model: nn.Module, work: Generator[Taken, None, Coverage]
) -> Generator[float, None, tuple[Coverage, float]]:
    """Passes on the share of ``work`` that is done; returns its result and the most MiB in use.

    What still lies in its file counts for nothing, nor what lives inside one operation.
    """
    most = stored_bytes(_read(model))
    while True:
        try:
            taken = next(work)
        except StopIteration as done:
            return done.value, most / MIB
        most = max(most, stored_bytes([*_read(model), taken.exact]))
        share = taken.share
        del taken  # or two exact weights would be there at once
        yield share


def _read(model: nn.Module) -> Iterator[Tensor]:
    """All tensors, but not the weights that wait in their file."""
    return (t for t in (*model.parameters(), *model.buffers()) if not is_in_file(t))


def linear_shapes(model: nn.Module, tokens: int) -> tuple[tuple[int, int, int], ...]:
    """(M tokens, N outputs, K inputs) of the products of ``model``, each once, in order of size."""
    found = {tuple(as_linear(module).weight.shape) for _, module in linears(model)}
    head = model.get_output_embeddings()
    if head is not None:
        found -= {tuple(head.weight.shape)}
    return tuple((min(tokens, _TESTED_TOKENS), n, k) for n, k in sorted(found))
