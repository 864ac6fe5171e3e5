"""A random llama and a byte-level tokenizer, built in memory in milliseconds: no download."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

CHAT_TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


def tiny_tokenizer(chat_template: str | None = CHAT_TEMPLATE) -> Any:
    """Bytes are tokens, so every text has ids; ``<|end|>`` is both the end mark and the padding."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = ["<|start|>", "<|end|>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: i for i, token in enumerate([*special, *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<|start|>",
        eos_token="<|end|>",
        pad_token="<|end|>",
        clean_up_tokenization_spaces=False,
    )
    wrapped.chat_template = chat_template
    return wrapped


def tiny_llama(seed: int = 0, **changes: Any) -> Any:
    """Two layers, hidden size 32, grouped key and value heads, tied embeddings."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    settings: dict[str, Any] = {
        "vocab_size": 258,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "tie_word_embeddings": True,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 1,
        **changes,
    }
    model = LlamaForCausalLM(LlamaConfig(**settings))
    # A fresh head says next to nothing, and it is frozen: louder, so that an adapter can be heard.
    model.lm_head.weight.data.mul_(25)
    return model


def save_tiny(folder: Path, **changes: Any) -> Path:
    """A model folder as ``save_pretrained`` writes it."""
    tiny_llama(**changes).save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder
