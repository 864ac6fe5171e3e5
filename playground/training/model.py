"""The base model of a run: found, loaded safely, and put into its precision."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from playground.catalog.models import ModelEntry
from playground.config import RunConfig, SettingsError
from playground.data.hub import Unreachable, hub_files
from playground.events import Coverage
from playground.precision.convert import convert
from playground.precision.recipe import Recipe

_TESTED_TOKENS = 4096  # more would only make the self-test slower


class Checkpoint(NamedTuple):
    """A causal language model as it was published, and its tokenizer, with a padding token.

    unused: names of tensors in its files that this architecture has no place for.
    """

    model: Any
    tokenizer: Any
    unused: list[str]


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
) -> Base:
    """Loads a model and puts it into a precision, on ``device``.

    On a GPU the backends that might serve are first tried on the model's own shapes.

    Args:
        check: called between the parts of the work; raises to give up.
        self_tests: file that keeps what they came to; None tries them anew.
    Raises:
        SettingsError: as ``load_checkpoint`` and ``convert``.
    """
    compute = recipe.compute_dtype if device.type == "cuda" else torch.float32
    model, tokenizer, unused = load_checkpoint(entry, config.data.max_seq_len, compute, check=check)
    tokens = config.training.micro_batch_size * config.data.max_seq_len
    tried = recipe.self_test(device, linear_shapes(model, tokens), self_tests)
    coverage = convert(model, recipe, device, check=check)
    return Base(model.to(device), tokenizer, coverage, tried, unused)


def linear_shapes(model: nn.Module, tokens: int) -> tuple[tuple[int, int, int], ...]:
    """(M tokens, N outputs, K inputs) of the products of ``model``, each once, in order of size."""
    found = {(m.out_features, m.in_features) for m in model.modules() if isinstance(m, nn.Linear)}
    head = model.get_output_embeddings()
    if head is not None:
        found -= {tuple(head.weight.shape)}
    return tuple((min(tokens, _TESTED_TOKENS), n, k) for n, k in sorted(found))


def load_checkpoint(
    entry: ModelEntry,
    max_seq_len: int,
    dtype: torch.dtype,
    *,
    check: Callable[[], None] = lambda: None,
) -> Checkpoint:
    """Loads a causal language model in floats, on the CPU, and its tokenizer.

    Reads safetensors or GGUF only, never a pickle, and runs no code that comes with the model.

    Raises:
        SettingsError: it cannot be found or reached, has no safe weights, lacks some that its
            configuration asks for, is already quantised, or reads shorter sequences than
            ``max_seq_len``.
    """
    where = _source(entry)
    tokenizer, model_config = _load(entry, "tokenizer", where), _load(entry, "config", where)
    _refuse_quantised(entry, model_config)
    _refuse_too_long(entry, model_config, max_seq_len)
    check()
    # The configuration is handed over, because reading it from a GGUF file again takes seconds.
    options = {
        "dtype": dtype,
        "use_safetensors": True,
        "config": model_config,
        # What does not fit would be drawn at random: told here, and refused below by name.
        "output_loading_info": True,
        "ignore_mismatched_sizes": True,
    }
    model, loaded = _load(entry, "model", where | options)
    _refuse_incomplete(entry, loaded)
    check()
    model.config.use_cache = False
    if tokenizer.pad_token_id is None:
        # Only the mask and the labels, which go by position, decide what padding is.
        tokenizer.pad_token = tokenizer.eos_token
    return Checkpoint(model, tokenizer, sorted(loaded["unexpected_keys"], key=_natural))


def _source(entry: ModelEntry) -> dict[str, Any]:
    """Arguments of ``from_pretrained`` that say where the model is.

    Raises:
        SettingsError: the hub does not have it, or only weights that can run code when read.
    """
    if entry.path:
        files = {"gguf_file": entry.gguf_file} if entry.gguf_file else {}
        return {"pretrained_model_name_or_path": str(entry.path), **files}
    source = {"pretrained_model_name_or_path": entry.hub_id}
    try:
        files = hub_files("model", entry.hub_id)
    except Unreachable:
        if not _in_cache(entry.hub_id):
            raise
        return source | {"local_files_only": True}
    if not any(name.endswith(".safetensors") for name in files):
        raise SettingsError(
            f"Model '{entry.id}' has no safetensors weights; other formats can run code when they "
            "are read, so pick a checkpoint that has them."
        )
    return source


def _in_cache(hub_id: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(hub_id, "config.json"), str)


def _load(entry: ModelEntry, part: str, arguments: dict[str, Any]) -> Any:
    # Imported here: transformers takes seconds, and a wrong setting should be refused before.
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # nobody watches a worker's stderr
    loaders = {"tokenizer": AutoTokenizer, "config": AutoConfig, "model": AutoModelForCausalLM}
    try:
        return loaders[part].from_pretrained(**arguments)
    except (OSError, ValueError, KeyError) as error:
        first_line = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        first_line = first_line.replace(str(entry.path), entry.id)
        raise SettingsError(
            f"The {part} of model '{entry.id}' cannot be loaded ({first_line}); "
            "check its files, or pick another model."
        ) from error


def _refuse_incomplete(entry: ModelEntry, loaded: dict[str, Any]) -> None:
    if missing := sorted(loaded["missing_keys"], key=_natural):
        raise SettingsError(
            f"Model '{entry.id}' lacks {some(missing)}, which its config.json asks for; they would "
            "be random numbers, so save the model again or pick another."
        )
    if wrong := sorted(loaded["mismatched_keys"], key=lambda found: _natural(found[0])):
        name, in_file, in_config = wrong[0]
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise SettingsError(
            f"Tensor '{name}' of model '{entry.id}' is {_shape(in_file)} in its weights and "
            f"{_shape(in_config)} by its config.json{more}; the two files do not belong together, "
            "so save the model again or pick another."
        )


def some(names: list[str]) -> str:
    """A few of ``names``, and how many there are."""
    count = f"{len(names)} tensor{'s' * (len(names) > 1)}"
    return f"{count} ({', '.join(names[:3])}{', ...' * (len(names) > 3)})"


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    # layers.10 after layers.9
    return tuple((int(p), "") if p.isdigit() else (-1, p) for p in name.split("."))


def _shape(size: Any) -> str:
    return " x ".join(map(str, size))


def _refuse_quantised(entry: ModelEntry, model_config: Any) -> None:
    found = getattr(model_config, "quantization_config", None)
    if found:
        method = found.get("quant_method", "unknown") if isinstance(found, dict) else found
        raise SettingsError(
            f"Model '{entry.id}' is already quantised ({method}); rounding it twice would measure "
            "something else, so pick its original 16-bit checkpoint."
        )


def _refuse_too_long(entry: ModelEntry, model_config: Any, max_seq_len: int) -> None:
    limit = getattr(model_config, "max_position_embeddings", None)
    if limit and max_seq_len > limit:
        raise SettingsError(
            f"max_seq_len is {max_seq_len}; model '{entry.id}' reads at most {limit} tokens; "
            "lower it or pick another model."
        )
