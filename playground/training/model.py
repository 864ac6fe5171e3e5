"""The base model of a run: loaded, and put into its precision on its device."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from playground.catalog.models import ModelEntry
from playground.config import RunConfig
from playground.events import Coverage
from playground.precision.convert import convert
from playground.precision.keep import check_kept
from playground.precision.recipe import Recipe
from playground.training.pretrained import load_checkpoint

_TESTED_TOKENS = 4096  # more would only make the self-test slower


class Base(NamedTuple):
    """A frozen base model in its precision, before any adapter.

    tried: what the self-test said of each backend that might serve, a sentence each.
    unused: as in ``Checkpoint``.
    """

    model: Any
    tokenizer: Any
    coverage: Coverage
    tried: list[str]
    unused: list[str]


def load_base(
    entry: ModelEntry,
    config: RunConfig,
    recipe: Recipe,
    device: torch.device,
    *,
    check: Callable[[], None] = lambda: None,
    self_tests: Path | None = None,
    adjust: Callable[[nn.Module], None] = lambda model: None,
) -> Base:
    """Loads a model and puts it into a precision, on ``device``.

    On a GPU the backends that might serve are first tried on the model's own shapes.

    Args:
        check: called between the parts of the work; raises to give up.
        self_tests: file that keeps what they came to; None tries them anew.
        adjust: called with the published model, in floats and on the CPU, before it is rounded.
    Raises:
        SettingsError: as ``load_checkpoint``, ``check_kept`` and ``convert``.
    """
    compute = recipe.compute_dtype if device.type == "cuda" else torch.float32
    model, tokenizer, unused = load_checkpoint(entry, config.data.max_seq_len, compute, check=check)
    check_kept(model, config.quantization)
    tokens = config.training.micro_batch_size * config.data.max_seq_len
    tried = recipe.self_test(device, linear_shapes(model, tokens), self_tests)
    adjust(model)
    coverage = convert(model, recipe, device, check=check, measure=config.measure.probe_every > 0)
    return Base(model.to(device), tokenizer, coverage, tried, unused)


def linear_shapes(model: nn.Module, tokens: int) -> tuple[tuple[int, int, int], ...]:
    """(M tokens, N outputs, K inputs) of the products of ``model``, each once, in order of size."""
    found = {(m.out_features, m.in_features) for m in model.modules() if isinstance(m, nn.Linear)}
    head = model.get_output_embeddings()
    if head is not None:
        found -= {tuple(head.weight.shape)}
    return tuple((min(tokens, _TESTED_TOKENS), n, k) for n, k in sorted(found))
