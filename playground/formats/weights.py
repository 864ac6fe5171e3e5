"""A model's matrices, read one at a time: from safetensors, or from GGUF as a run decodes it."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from playground.catalog import ModelEntry, resolve_model
from playground.catalog.cache import cached_folder
from playground.catalog.quantised import by_config, by_folder, refuse_quantised
from playground.catalog.weights import read_json
from playground.config import SettingsError, nearest

_FLOATS = {"F16": "fp16", "BF16": "bf16", "F32": "fp32", "F64": "fp64"}
_IN_A_BLOCK = re.compile(r"\.\d+\.")


class Layer(NamedTuple):
    """A matrix of a model.

    Attributes:
        name: of its tensor.
        shape: (N, K) as stored; blocks lie along K.
        dtype: as stored.
        in_block: it is in one of the model's numbered blocks, and so of the matrices that a run
            puts into 4 bits; embeddings and the head stay in 16.
    """

    name: str
    shape: tuple[int, int]
    dtype: str
    in_block: bool


class Weights(Protocol):
    """Where a model's matrices come from.

    Attributes:
        files: that hold them.
        gguf: the name of a GGUF file, in whose own format they were rounded before; else None.
    """

    files: tuple[Path, ...]
    gguf: str | None

    def layers(self) -> list[Layer]: ...

    def read(self, name: str) -> Tensor:
        """(N, K), in the dtype it is stored in."""


def open_weights(model: str, home: Path | None = None) -> Weights:
    """The matrices of a model: an id of the catalog, a folder, a .gguf file or a cached hub id.

    Args:
        home: where runs keep what they have read of a GGUF file beside its weights.
    Raises:
        SettingsError: there is no such model here, or no matrix of floats in it.
    """
    entry = resolve_model(model)
    if entry.gguf_file:
        return Decoded(entry, home)
    return Safetensors(model, entry.path or _cached(entry))


class Safetensors:
    """Of a folder: names and shapes from the files' heads, and of the rest what is asked for."""

    gguf = None

    def __init__(self, model: str, folder: Path) -> None:
        self._model = model
        self.files = tuple(sorted(folder.glob("*.safetensors")))
        if not self.files:
            raise SettingsError(
                f"Model '{model}' has no safetensors weights on this machine; pick another."
            )
        self._home: dict[str, Path] = {}

    def layers(self) -> list[Layer]:
        found = []
        for file in self.files:
            with _opened(self._model, file) as tensors:
                for name in tensors.keys():  # noqa: SIM118 - it is no dict
                    part = tensors.get_slice(name)
                    shape, dtype = tuple(part.get_shape()), part.get_dtype()
                    if len(shape) == 2 and dtype in _FLOATS:
                        self._home[name] = file
                        in_block = bool(_IN_A_BLOCK.search(name))
                        found.append(Layer(name, shape, _FLOATS[dtype], in_block))
        return _in_order(self._model, found)

    def read(self, name: str) -> Tensor:
        with _opened(self._model, self._home[name]) as tensors:
            return tensors.get_tensor(name)


class Decoded:
    """Of a GGUF file, as transformers decodes and orders them: a run starts from the same."""

    def __init__(self, entry: ModelEntry, home: Path | None) -> None:
        self._entry, self.gguf, self._home = entry, entry.gguf_file, home
        self.files = (entry.path / entry.gguf_file,)

    def layers(self) -> list[Layer]:
        found = [
            Layer(name, tuple(tensor.shape), "fp32", bool(_IN_A_BLOCK.search(name)))
            for name, tensor in self._tensors().items()
            if tensor.dim() == 2
        ]
        return _in_order(self._entry.id, found)

    def read(self, name: str) -> Tensor:
        from playground.precision.waiting import published

        return published(self._tensors()[name])

    def _tensors(self) -> dict[str, Tensor]:
        return _decoded(self._entry, self.files[0].stat().st_mtime_ns, self._home)


def find_layer(layers: list[Layer], name: str | None) -> Layer:
    """The layer of that name or the one name that it is a part of; None takes the first.

    Raises:
        SettingsError: there is none, or several; with the nearest.
    """
    if name is None:
        return layers[0]
    exact = [layer for layer in layers if layer.name == name]
    within = exact or [layer for layer in layers if name in layer.name]
    if len(within) == 1:
        return within[0]
    names = [layer.name for layer in layers]
    if within:
        some = ", ".join(layer.name for layer in within[:3])
        raise SettingsError(
            f"Layer '{name}' may be any of {len(within)} ({some}, …); write more of its name."
        )
    raise SettingsError(
        f"Layer '{name}' is not in this model; its matrices are called like {names[0]}."
        f"{nearest(name, names)}"
    )


@functools.lru_cache(maxsize=1)
def _decoded(entry: ModelEntry, changed: int, home: Path | None) -> dict[str, Tensor]:
    """One model at a time; what a run would round one by one is decoded when it is asked for."""
    from playground.training.parsed import of_home
    from playground.training.pretrained import load_model

    keep = of_home(home)
    return dict(
        load_model(entry, 1, torch.float32, linears_in_file=True, keep=keep).named_parameters()
    )


def _cached(entry: ModelEntry) -> Path:
    folder = cached_folder(entry.hub_id)
    if folder is None:
        raise SettingsError(
            f"Model '{entry.id}' has not been fetched to this machine; run it once, or pick one "
            "that is here."
        )
    refuse_quantised(entry.id, by_config(read_json(folder / "config.json")) or by_folder(folder))
    return folder


def _opened(model: str, file: Path):  # noqa: ANN202 - safetensors does not name its type
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(file, framework="pt")
    except (SafetensorError, OSError) as error:
        raise SettingsError(
            f"'{file.name}' of model '{model}' cannot be read ({error}); it may be cut short: save "
            "or fetch it again."
        ) from None


def _in_order(model: str, layers: list[Layer]) -> list[Layer]:
    if not layers:
        raise SettingsError(
            f"Model '{model}' holds no matrix of 16- or 32-bit floats; pick its original "
            "checkpoint."
        )
    return sorted(layers, key=lambda layer: (not layer.in_block, _natural(layer.name)))


def _natural(name: str) -> list[tuple[int, str]]:
    # layers.10 after layers.9
    return [(int(p), "") if p.isdigit() else (-1, p) for p in name.split(".")]
