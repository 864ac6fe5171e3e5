"""A published model: found, loaded safely, and refused in a sentence when it is broken."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from playground.catalog.models import ModelEntry
from playground.catalog.quantised import by_config, by_folder, refuse_quantised
from playground.config import SettingsError
from playground.data.hub import Unreachable, hub_files, refuse_unusable
from playground.training.absurd import bounded, refuse_counts, refuse_parameters
from playground.training.parsed import parsed

_LONGEST_REASON = 200


class Checkpoint(NamedTuple):
    """A causal language model as it was published, and its tokenizer, with a padding token.

    unused: names of tensors in its files that this architecture has no place for.
    """

    model: Any
    tokenizer: Any
    unused: list[str]


def load_checkpoint(
    entry: ModelEntry,
    max_seq_len: int,
    dtype: torch.dtype,
    *,
    check: Callable[[], None] = lambda: None,
    published: Any = None,
    tokenizer: Any = None,
    linears_in_file: bool = False,
    keep: Path | None = None,
) -> Checkpoint:
    """Loads a causal language model in floats, on the CPU, and its tokenizer.

    Reads safetensors or GGUF only, never a pickle, and runs no code that comes with the model.

    Args:
        published: what ``load_configuration`` returned, if it was asked: to read it from a GGUF
            file takes seconds.
        tokenizer: what ``load_tokenizer`` returned, likewise.
        linears_in_file: leaves the weights of Linears in their file, for ``converting`` to read one
            at a time: in its type and mapped into memory, or of GGUF as ``in_gguf`` has it.
        keep: folder for what was read of a GGUF file beside its weights, for the next time.
    Raises:
        SettingsError: it cannot be found or reached, has no safe weights, lacks some that its
            configuration asks for, is already quantised, or reads shorter sequences than
            ``max_seq_len``.
    """
    where = _source(entry)
    # Reading any part of a GGUF file takes seconds and asks nobody, so we ask in between.
    model_config = published or _configuration(entry, where, max_seq_len, keep)
    check()
    if tokenizer is None:
        tokenizer = parsed(entry, "tokenizer", lambda: _load(entry, "tokenizer", where), keep)
    check()
    model, unused = _weights(entry, where, model_config, dtype, linears_in_file)
    check()
    _give_padding(entry, tokenizer, model.get_input_embeddings().num_embeddings)
    return Checkpoint(model, tokenizer, unused)


def load_model(
    entry: ModelEntry,
    max_seq_len: int,
    dtype: torch.dtype,
    *,
    linears_in_file: bool = False,
    keep: Path | None = None,
) -> Any:
    """The model that ``load_checkpoint`` returns; its tokenizer is not looked at.

    Args:
        linears_in_file / keep: as for ``load_checkpoint``.
    Raises:
        SettingsError: as ``load_checkpoint`` does, as far as that shows without the tokenizer.
    """
    where = _source(entry)
    model_config = _configuration(entry, where, max_seq_len, keep)
    return _weights(entry, where, model_config, dtype, linears_in_file)[0]


def _weights(
    entry: ModelEntry,
    where: dict[str, Any],
    model_config: Any,
    dtype: torch.dtype,
    linears_in_file: bool,
) -> tuple[Any, list[str]]:
    """The model with its weights, and the names of tensors that it has no place for."""
    # The configuration is handed over, because reading it from a GGUF file again takes seconds.
    options = {
        "dtype": dtype,
        "use_safetensors": True,
        "config": model_config,
        # What does not fit would be drawn at random: told here, and refused below by name.
        "output_loading_info": True,
        "ignore_mismatched_sizes": True,
    }
    if linears_in_file and not entry.gguf_file:
        from playground.training.in_file import LeaveInFile

        options["quantization_config"] = LeaveInFile()
    elif linears_in_file:
        options["empty"] = empty_model(entry, model_config, dtype)
    model, loaded = _load(entry, "weights", where | options)
    _refuse_incomplete(entry, loaded)
    model.config.use_cache = False
    return model, sorted(loaded["unexpected_keys"], key=_natural)


def load_tokenizer(
    entry: ModelEntry, max_seq_len: int, keep: Path | None = None, *, published: Any = None
) -> Any:
    """The tokenizer that ``load_checkpoint`` returns, without the weights.

    Args:
        keep / published: as for ``load_checkpoint``.
    Raises:
        SettingsError: as ``load_checkpoint`` does, as far as that shows without weights.
    """
    where = _source(entry)
    model_config = published or _configuration(entry, where, max_seq_len, keep)
    tokenizer = parsed(entry, "tokenizer", lambda: _load(entry, "tokenizer", where), keep)
    _give_padding(entry, tokenizer, getattr(model_config, "vocab_size", None) or len(tokenizer))
    return tokenizer


def _configuration(
    entry: ModelEntry, where: dict[str, Any], max_seq_len: int, keep: Path | None
) -> Any:
    model_config = parsed(
        entry, "configuration", lambda: _load(entry, "configuration", where), keep
    )
    in_folder = by_folder(entry.path) if entry.path and not entry.gguf_file else None
    refuse_quantised(entry.id, by_config(model_config.to_dict()) or in_folder)
    _refuse_too_long(entry, model_config, max_seq_len)
    return model_config


def _give_padding(entry: ModelEntry, tokenizer: Any, known: int) -> None:
    """A token to pad with, out of the ``known`` ones that have an embedding.

    Raises:
        SettingsError: there is no end mark, which every answer must close with and is learned.
    """
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id >= known:
        # Only the mask and the labels, which go by position, decide what padding is.
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.eos_token_id is None or tokenizer.eos_token_id >= known:
        raise SettingsError(
            f"The tokenizer of model '{entry.id}' has no end mark (eos_token) that the model "
            "knows, so no answer would ever end; give it one in tokenizer_config.json, or pick "
            "another model."
        )


def load_configuration(entry: ModelEntry, max_seq_len: int, keep: Path | None = None) -> Any:
    """What ``load_checkpoint`` builds the model by, without its weights and its tokenizer.

    Args:
        keep: as for ``load_checkpoint``.
    Raises:
        SettingsError: as ``load_checkpoint`` does, as far as that shows without weights.
    """
    return _configuration(entry, _source(entry), max_seq_len, keep)


def empty_model(entry: ModelEntry, published: Any, dtype: torch.dtype) -> Any:
    """The model that ``load_checkpoint`` returns, without values: on the meta device.

    Args:
        published: what ``load_configuration`` returned.
    Raises:
        SettingsError: there is no such architecture.
    """
    return _load(entry, "architecture", {"config": published, "dtype": dtype})


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
    refuse_unusable(entry.id, files)
    return source


def _in_cache(hub_id: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(hub_id, "config.json"), str)


def _load(entry: ModelEntry, part: str, arguments: dict[str, Any]) -> Any:
    # Imported here: transformers takes seconds, and a wrong setting should be refused before.
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # nobody watches a worker's stderr
    loaders = {
        "tokenizer": AutoTokenizer.from_pretrained,
        "configuration": partial(_configured, entry.id),
        "weights": _read,
        "architecture": partial(_empty, entry.id),
    }
    try:
        with bounded(entry.id):
            # Said each time: unsaid, transformers asks whoever is at the terminal and heeds a yes.
            return loaders[part](**arguments, trust_remote_code=False)
    except SettingsError:
        raise
    except Exception as error:
        # A broken file makes the libraries raise anything: struct.error, ZeroDivisionError, ...
        if _is_out_of_memory(error):
            raise SettingsError(
                f"Model '{entry.id}' does not fit into this machine's memory; pick a smaller one."
            ) from error
        if "trust_remote_code" in str(error):
            raise SettingsError(
                f"Model '{entry.id}' needs Python code of its own (auto_map in its config.json), "
                "and code that comes with a model is never run here; pick another model."
            ) from error
        source = f"{entry.gguf_file} of " if entry.gguf_file else ""
        raise SettingsError(
            f"The {part} of {source}model '{entry.id}' cannot be loaded ({_reason(entry, error)}); "
            "its files may be cut short or damaged: save or fetch it again, or pick another model."
        ) from error


def _read(*, empty: Any = None, **arguments: Any) -> tuple[Any, dict[str, Any]]:
    """``from_pretrained``, but where Linears can be left in a GGUF file.

    Args:
        empty: the same model without values; given where they should.
    """
    from transformers import AutoModelForCausalLM

    if empty is not None:
        from playground.training.in_gguf import can_leave, load_leaving

        file = Path(arguments["pretrained_model_name_or_path"]) / arguments["gguf_file"]
        if can_leave(file):
            return load_leaving(file, empty, arguments["config"], arguments["dtype"])
    return AutoModelForCausalLM.from_pretrained(**arguments)


def _configured(model_id: str, trust_remote_code: bool, **where: Any) -> Any:
    from transformers import AutoConfig, PretrainedConfig
    from transformers.integrations.gguf.reader import read_gguf_metadata

    # Before transformers makes a list as long as a number in it says.
    if file := where.get("gguf_file"):
        path = Path(where["pretrained_model_name_or_path"]) / file
        refuse_counts(model_id, read_gguf_metadata(str(path))[0])
    else:
        refuse_counts(model_id, PretrainedConfig.get_config_dict(**where)[0])
    return AutoConfig.from_pretrained(**where, trust_remote_code=trust_remote_code)


def _empty(model_id: str, config: Any, dtype: torch.dtype, *, trust_remote_code: bool) -> Any:
    from transformers import AutoModelForCausalLM
    from transformers.initialization import no_init_weights

    with torch.device("meta"), no_init_weights():
        # A copy, for a model writes into its configuration.
        model = AutoModelForCausalLM.from_config(
            deepcopy(config), dtype=dtype, trust_remote_code=trust_remote_code
        )
    model.tie_weights()
    refuse_parameters(model_id, model)
    model.config.use_cache = False
    return model


def _is_out_of_memory(error: Exception) -> bool:
    named = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return named or "DefaultCPUAllocator" in str(error)  # torch's own on a CPU has no type


def _reason(entry: ModelEntry, error: Exception) -> str:
    text = " ".join(str(error).split()).replace(str(entry.path), entry.id)
    if not isinstance(error, OSError | ValueError):
        text = f"{type(error).__name__}: {text}"
    short = text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} ..."
    return short.rstrip(".")


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


def _refuse_too_long(entry: ModelEntry, model_config: Any, max_seq_len: int) -> None:
    limit = getattr(model_config, "max_position_embeddings", None)
    if limit and max_seq_len > limit:
        raise SettingsError(
            f"max_seq_len is {max_seq_len}; model '{entry.id}' reads at most {limit} tokens; "
            "lower it or pick another model."
        )
