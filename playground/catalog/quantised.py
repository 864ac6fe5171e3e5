"""Whether a checkpoint is quantised already, told from its configuration and its files' names.

Most say so in config.json. Some do not: their tensors are packed all the same, or scaled, and read
as if they were plain weights they would be nonsense.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from playground.config import SettingsError

_SECTIONS = ("quantization_config", "compression_config")
_FILES = {
    "hf_quant_config.json": "ModelOpt",
    "quantize_config.json": "GPTQ",
    "quant_config.json": "AWQ",
    "quant_strategy.json": "AutoRound",
}
_ENDINGS = {
    "qweight": "packed integers",
    "qzeros": "packed integers",
    "weight_packed": "compressed-tensors",
    "weight_scale": "scaled weights",
    "weight_scale_2": "NVFP4",
    "weight_scale_inv": "block-scaled FP8",
    "weight_zero_point": "packed integers",
    "SCB": "bitsandbytes",
    "absmax": "bitsandbytes",
    "proj_blocks": "MXFP4",
}
_PLAIN = ("F64", "F32", "F16", "BF16")


def refuse_quantised(model: str, how: str | None) -> None:
    """Does nothing where ``how``, what one of the below came to, is None.

    Raises:
        SettingsError: rounding twice would spoil every comparison.
    """
    if how is not None:
        raise SettingsError(
            f"Model '{model}' is already quantised ({how}); rounding it twice would measure "
            "something else, so pick its original 16- or 32-bit checkpoint."
        )


def by_config(config: Mapping[str, Any]) -> str | None:
    """What config.json calls the format, be it of the text model within a larger one."""
    for section in _SECTIONS:
        if (said := config.get(section)) is not None:
            said = said if isinstance(said, Mapping) else {}
            named = [said.get(key) for key in ("quant_method", "quant_algo")]
            return " ".join(str(name) for name in named if name) or "by its config.json"
    inner = config.get("text_config")
    return by_config(inner) if isinstance(inner, Mapping) else None


def by_files(names: Iterable[str]) -> str | None:
    """What a file beside the weights tells; it needs no weight to be fetched."""
    return next((f"{_FILES[name]}, by its {name}" for name in names if name in _FILES), None)


def by_tensors(tensors: Mapping[str, str | None]) -> str | None:
    """What the names of tensors and their types in safetensors ("BF16", ...; None: unknown) tell.

    A weight in eight bits or in integers is packed, whatever it is called.
    """
    for name, dtype in tensors.items():
        ending = name.rpartition(".")[2]
        for known, how in _ENDINGS.items():
            if ending == known or ending.endswith(f"_{known}"):
                return f"{how}, by its tensor '{name}'"
        if ending == "weight" and dtype is not None and dtype not in _PLAIN:
            return f"{dtype}, by its tensor '{name}'"
    return None


def by_folder(folder: Path) -> str | None:
    """``by_files`` and ``by_tensors`` of a model's folder; reads headers and no weight."""
    found = by_files(sorted(file.name for file in folder.glob("*.json")))
    files = iter(sorted(folder.glob("*.safetensors")))
    while found is None and (file := next(files, None)):
        found = by_tensors(_header(file))
    return found


def _header(file: Path) -> dict[str, str | None]:
    try:
        with safe_open(file, framework="np") as tensors:
            names = tensors.keys()
            return {name: tensors.get_slice(name).get_dtype() for name in names}
    except (OSError, SafetensorError):  # cut short; loading says how
        return {}
