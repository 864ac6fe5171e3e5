"""The base model of a run: found, loaded safely, and put into its precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from playground.catalog.models import ModelEntry
from playground.config import RunConfig, SettingsError
from playground.events import Coverage
from playground.precision.convert import convert
from playground.precision.recipe import Recipe


@dataclass
class Base:
    """A frozen base model in its precision, before any adapter."""

    model: nn.Module
    tokenizer: Any
    coverage: Coverage


def load_base(
    entry: ModelEntry,
    config: RunConfig,
    recipe: Recipe,
    device: torch.device,
    *,
    check: Callable[[], None] = lambda: None,
) -> Base:
    """Loads a causal language model and its tokenizer, and converts its Linears.

    Reads safetensors or GGUF only, never a pickle, and runs no code that comes with the model.

    Args:
        check: called between the parts of the work; raises to give up.
    Raises:
        SettingsError: it cannot be found or reached, has no safe weights, is already quantised, or
            reads shorter sequences than ``max_seq_len``.
    """
    tokenizer, model_config = _load(entry, "tokenizer"), _load(entry, "config")
    _refuse_quantised(entry, model_config)
    _refuse_too_long(entry, model_config, config.data.max_seq_len)
    check()
    compute = recipe.compute_dtype if device.type == "cuda" else torch.float32
    model = _load(entry, "model", dtype=compute)
    check()
    if tokenizer.pad_token_id is None:
        # Only the mask and the labels, which go by position, decide what padding is.
        tokenizer.pad_token = tokenizer.eos_token
    coverage = convert(model, recipe, device, check=check)
    model.to(device)
    model.config.use_cache = False
    return Base(model, tokenizer, coverage)


def _load(entry: ModelEntry, part: str, **options: Any) -> Any:
    # Imported here: transformers takes seconds, and a wrong setting should be refused before.
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # nobody watches a worker's stderr
    source = str(entry.path) if entry.path else entry.hub_id
    if entry.gguf_file:
        options["gguf_file"] = entry.gguf_file
    try:
        if part == "tokenizer":
            return AutoTokenizer.from_pretrained(source, **options)
        if part == "config":
            return AutoConfig.from_pretrained(source, **options)
        return AutoModelForCausalLM.from_pretrained(source, use_safetensors=True, **options)
    except (OSError, ValueError, KeyError) as error:
        raise SettingsError(_why_not_loaded(entry, part, error)) from error


def _why_not_loaded(entry: ModelEntry, part: str, error: Exception) -> str:
    where = "in its folder" if entry.path else "on the hub"
    first_line = next(iter(str(error).splitlines()), type(error).__name__)
    if entry.path:
        first_line = first_line.replace(str(entry.path), entry.id)
        if part == "model" and not entry.gguf_file and not list(entry.path.glob("*.safetensors")):
            return (
                f"Model '{entry.id}' has no safetensors weights {where}; other formats can run "
                "code when they are read, so convert it to safetensors."
            )
    elif _offline(error):
        return (
            f"Model '{entry.id}' cannot be reached: there is no connection to the hub; "
            "use a bundled model or a local folder."
        )
    return (
        f"The {part} of model '{entry.id}' cannot be loaded ({first_line.rstrip('.')}); "
        f"check what is {where}, or pick another model."
    )


def _offline(error: BaseException | None) -> bool:
    """Whether a failed connection is among the causes of ``error``."""
    while error is not None:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if kinds & {"ConnectionError", "ConnectError", "TimeoutException", "OfflineModeIsEnabled"}:
            return True
        error = error.__cause__ or error.__context__
    return False


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
