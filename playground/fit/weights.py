"""What the weights of a model take in a precision, by arithmetic on its config.json alone.

Quick enough for a list of models, where the estimate of a run, which builds the model as shapes,
takes seconds. Only for architectures whose Linears are known to be these; for others None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.config import PRECISIONS
from playground.hardware import MIB

_DENSE = {"llama", "mistral", "qwen3", "gemma3_text", "phi3"}
"""Decoders of attention and a gated MLP; whether q, k and v are one Linear does not matter."""


def weights_mib(architecture: Mapping[str, Any], precision: str, *, on_gpu: bool) -> float | None:
    """Frozen weights at rest, in MiB; None for an architecture that is not known here.

    Linears are stored in the precision; the embedding and the head, where it is not the embedding's
    matrix, stay in the compute type, which is fp32 without a GPU. Norms are left out: they are less
    than a thousandth.
    """
    counted = _counted(architecture)
    if counted is None:
        return None
    linears, others = counted
    bits = PRECISIONS[precision].storage_bits
    wide = 32 if bits == 32 or not on_gpu else 16
    return (linears * bits + others * wide) / 8 / MIB


def _counted(architecture: Mapping[str, Any]) -> tuple[int, int] | None:
    """Values in the Linears of all blocks, and in the embedding and the head."""
    if architecture.get("model_type") not in _DENSE:
        return None
    try:
        hidden, layers = architecture["hidden_size"], architecture["num_hidden_layers"]
        heads, between = architecture["num_attention_heads"], architecture["intermediate_size"]
        vocabulary = architecture["vocab_size"]
    except KeyError:
        return None
    size = architecture.get("head_dim") or hidden // heads
    key_heads = architecture.get("num_key_value_heads") or heads
    attention = hidden * size * (2 * heads + 2 * key_heads)
    tied = architecture.get("tie_word_embeddings", True)
    return layers * (attention + 3 * hidden * between), vocabulary * hidden * (1 if tied else 2)
