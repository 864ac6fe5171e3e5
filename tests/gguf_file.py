"""A llama written as llama.cpp's converter does it: a GGUF file of a few kilobytes or megabytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from playground.catalog import ModelEntry
from playground.catalog.local import local_model
from playground.training.parsed import parsed
from tests.tiny import tiny_tokenizer

_PARTS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_gguf(model: Any, file: Path, kind: str = "Q8_0", **changed: int) -> Path:
    """``model`` with its matrices in blocks of ``kind`` ("Q8_0", "Q4_1", "F16", ...).

    Args:
        changed: what its head says otherwise, such as ``block_count``.
    """
    from gguf import GGMLQuantizationType, GGUFWriter, quantize

    config = model.config
    writer = GGUFWriter(file, "llama")
    writer.add_name("tiny")
    writer.add_block_count(changed.get("block_count", config.num_hidden_layers))
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    between = changed.get("feed_forward_length", config.intermediate_size)
    writer.add_feed_forward_length(between)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_bos_token_id(config.bos_token_id)
    writer.add_eos_token_id(config.eos_token_id)
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        numbers = tensor.float().numpy()
        if "q_proj" in name or "k_proj" in name:
            keys = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
            numbers = _interleaved(numbers, keys)
        stored = GGMLQuantizationType[kind if numbers.ndim == 2 else "F32"]
        writer.add_tensor(_name(name), quantize(numbers, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def gguf_model(file: Path, keep: Path) -> ModelEntry:
    """It as the catalog finds it, with the test's tokenizer where runs keep what they parsed."""
    entry = local_model(str(file), file)
    parsed(entry, "tokenizer", tiny_tokenizer, keep)
    return entry


def _name(name: str) -> str:
    for ours, theirs in _PARTS.items():
        name = name.replace(ours, theirs)
    name = name.replace("model.layers.", "blk.").replace("model.embed_tokens", "token_embd")
    return name.replace("model.norm", "output_norm").replace("lm_head", "output")


def _interleaved(rows: np.ndarray, heads: int) -> np.ndarray:
    """The rows of a head, whose rotation takes halves, as llama.cpp has them: in pairs."""
    halves = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows.shape))
