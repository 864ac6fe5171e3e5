"""Linears that stay in their GGUF file until a precision takes them over, as ``in_file`` leaves
those of safetensors in theirs.

transformers decodes such a file whole, and then builds the model. Here each step is its own, or
gguf's, whose format it is: which tensor is which, decoding, and what undoes llama.cpp's layout. But
it is taken for one tensor at a time. What is no Linear is decoded at once; a Linear gets a
placeholder that decodes its weight when it is asked for it, to the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from playground.precision.waiting import placeholder
from playground.training.in_file import to_leave

_AT_ONCE = 2**18  # values; more of them together take memory, and no less time


class _Stored(NamedTuple):
    """A tensor as it lies in the file: ``data`` is mapped, and stands for numbers of ``shape``."""

    name: str
    kind: Any
    data: np.ndarray
    shape: tuple[int, ...]


def can_leave(file: Path) -> bool:
    """Whether transformers reads this architecture in the way that is followed here.

    Some it reads in a newer way, all tensors at once.
    """
    from transformers.integrations.gguf.reader import read_gguf_metadata
    from transformers.integrations.gguf.utils import is_gguf_arch_supported

    metadata, _ = read_gguf_metadata(str(file))
    return not is_gguf_arch_supported(metadata["general.architecture"])


def load_leaving(
    file: Path, empty: Any, published: Any, dtype: torch.dtype
) -> tuple[Any, dict[str, Any]]:
    """The model of a GGUF file, with its Linears' weights still there.

    Args:
        empty: the same model, on the meta device.
        published: its configuration.
        dtype: of what is read now, and of what placeholders decode to.
    Returns:
        The model, and what ``from_pretrained`` says of missing, unexpected and mismatched tensors.
    """
    layout, left = _Layout(file, empty), to_leave(empty)
    read: dict[str, Tensor] = {}
    waits: dict[str, _Stored] = {}
    for name, stored in layout.tensors():
        if name in left:
            waits[name] = stored
        else:
            layout.decode(stored, read, dtype)
    # Of no memory, and NaN should one ever be taken for a weight.
    nothing = torch.full((), torch.nan, dtype=dtype)
    there = {name: nothing.expand(layout.shape(stored)) for name, stored in waits.items()}
    model, said = type(empty).from_pretrained(
        None,
        config=published,
        state_dict=read | there,
        dtype=dtype,
        output_loading_info=True,
        ignore_mismatched_sizes=True,
    )
    model.config.name_or_path = str(file.parent)
    wrong = {name for name, *_ in said["mismatched_keys"]}
    for name in waits.keys() - wrong:
        linear = model.get_submodule(name.removesuffix(".weight"))
        later = partial(layout.read, waits[name], name, dtype)
        linear.weight = placeholder(linear.weight.shape, dtype, later)
    return model, said


class _Layout:
    """Which tensor of a file is which of the model, and how its numbers lie there."""

    def __init__(self, file: Path, empty: Any) -> None:
        from gguf import GGUFReader
        from transformers.modeling_gguf_pytorch_utils import (
            TENSOR_PROCESSORS,
            TensorProcessor,
            get_gguf_hf_weights_map,
            load_gguf_checkpoint,
            read_field,
        )

        reader = GGUFReader(file)
        self._stored = [
            _Stored(t.name, t.tensor_type, t.data, tuple(int(n) for n in reversed(t.shape)))
            for t in reader.tensors
        ]
        architecture = read_field(reader, "general.architecture")[0]
        undoes = TENSOR_PROCESSORS.get(architecture, TensorProcessor)
        self._undoes = undoes(config=load_gguf_checkpoint(str(file))["config"])
        self._names = get_gguf_hf_weights_map(empty, self._undoes)

    def tensors(self) -> Iterator[tuple[str | None, _Stored]]:
        """Each with the model's name for it; None where its own steps name it, or nobody does."""
        return ((self._names.get(stored.name), stored) for stored in self._stored)

    def shape(self, stored: _Stored) -> tuple[int, ...]:
        """That the model's weight has, without decoding it."""
        return self._undone(stored, np.broadcast_to(np.float32(0), stored.shape), {}).weights.shape

    def decode(self, stored: _Stored, into: dict[str, Tensor], dtype: torch.dtype) -> None:
        """Puts it ``into`` the model's tensors under its name, if it has one there."""
        made = self._undone(stored, _numbers(stored), into)
        if made.name in self._names:
            numbers = np.require(made.weights, requirements=["C", "W"])  # a view is copied
            into[self._names[made.name]] = torch.from_numpy(numbers).to(dtype)

    def read(self, stored: _Stored, name: str, dtype: torch.dtype) -> Tensor:
        """It alone."""
        into: dict[str, Tensor] = {}
        self.decode(stored, into, dtype)
        return into[name]

    def _undone(self, stored: _Stored, numbers: np.ndarray, into: dict[str, Tensor]) -> Any:
        """Some are put together of several; those go ``into`` the model's tensors themselves."""
        return self._undoes.process(
            weights=numbers,
            name=stored.name,
            tensor_key_mapping=self._names,
            parsed_parameters={"tensors": into},
        )


def _numbers(stored: _Stored) -> np.ndarray:
    """In fp32, some rows at a time."""
    from gguf import dequantize

    rows = stored.data.reshape(-1, stored.data.shape[-1])
    made = np.empty((len(rows), stored.shape[-1]), np.float32)
    step = max(1, _AT_ONCE // stored.shape[-1])
    for at in range(0, len(rows), step):
        made[at : at + step] = dequantize(rows[at : at + step], stored.kind)
    return made.reshape(stored.shape)
