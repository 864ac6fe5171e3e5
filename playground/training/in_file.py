"""Linears that stay in their file until a precision takes them over.

transformers reads every weight of a model into memory in the compute type. Here it leaves those of
the Linears where they lie: the parameter is a view of the mapped file, in the file's own type, and
takes no memory. ``converting`` casts, rounds and frees them one at a time, so of an 8 B model never
more than one layer stands in 16 bits.

transformers offers two hooks of its quantisers for this. The other one, an operation that rounds
each weight as it is read, would catch whatever is raised in it (also that someone asked to stop)
and go on to the next weight. With this one all else stays transformers' own work: shards, renamed
and merged keys, tied weights, and what is missing, left over or of another shape. A Linear that it
has to put together of several tensors is made of floats in memory, as is anything that is none.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.core_model_loading import WeightRenaming
from transformers.quantizers import HfQuantizer, register_quantizer
from transformers.utils.quantization_config import QuantizationConfigMixin

from playground.precision.found import linears
from playground.precision.waiting import mark

_METHOD = "left-in-file"


class LeaveInFile(QuantizationConfigMixin):
    """To be handed to ``from_pretrained`` as ``quantization_config``; not for GGUF."""

    dequantize = True  # so transformers itself removes every trace of it from the model

    def __init__(self) -> None:
        super().__init__(_METHOD)


@register_quantizer(_METHOD)
class _LeavesInFile(HfQuantizer):
    """Quantises nothing: it only says of each tensor what type to read it in."""

    def __init__(self, quantization_config: LeaveInFile, **kwargs: Any) -> None:
        super().__init__(quantization_config, **kwargs)
        self.pre_quantized = True  # only then is it asked for types
        self._left: set[str] = set()

    def update_dtype(self, dtype: torch.dtype) -> torch.dtype:
        self._dtype = dtype
        return dtype

    def _process_model_before_weight_loading(self, model: PreTrainedModel, **_: Any) -> None:
        self._left = to_leave(model)
        self._are_left: set[str] = set()

    def _process_model_after_weight_loading(self, model: PreTrainedModel, **_: Any) -> None:
        for name in self._are_left:
            mark(model.get_parameter(name))

    def get_new_dtype(
        self, converter: Any, param: Any, dtype: torch.dtype | None
    ) -> torch.dtype | None:
        """The type to cast a tensor to; None leaves it as it is, and so in its file."""
        name = converter.target_patterns[0]
        whole = isinstance(converter, WeightRenaming)
        if whole and dtype == self._dtype and name in self._left:
            self._are_left.add(name)
            return None
        return dtype

    @property
    def is_trainable(self) -> bool:
        return True

    def is_serializable(self) -> bool:
        return True


def to_leave(model: PreTrainedModel) -> set[str]:
    """Names of the weights that a precision reads from their file itself: those of Linears, but for
    the output head and what is tied to another."""
    tied = {*model.all_tied_weights_keys, *model.all_tied_weights_keys.values()}
    head = model.get_output_embeddings()
    return {f"{name}.weight" for name, linear in linears(model) if linear is not head} - tied
