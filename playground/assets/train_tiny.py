"""Trains the bundled tiny model from scratch: ``python -m playground.assets.train_tiny FOLDER``.

A llama of about a million parameters, its byte-level BPE tokenizer and its chat template, from text
that ``corpus.py`` writes. Takes minutes on two CPU cores. Every seed is fixed: on the same machine,
with the same torch and the same ``--threads``, the weights come out the same to the last bit;
elsewhere sums are taken in another order, and only the quality is the same.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor
from transformers import (
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from playground.assets.corpus import Chat, chats

SEED = 2026
TOKENIZER_SEED, TRAIN_SEED, EVAL_SEED = 1, 2, 3  # three separate streams of chats
VOCABULARY = 1024
SPECIAL_TOKENS = ["<|pad|>", "<|bos|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
IGNORE = -100

# A turn is its role's token, the text, and <|end|>, which is also what ends an answer.
CHAT_TEMPLATE = (
    "{{- bos_token }}"
    "{%- for message in messages %}"
    "{%- if message.role not in ['system', 'user', 'assistant'] %}"
    "{{- raise_exception('this template knows the roles system, user and assistant') }}"
    "{%- endif %}"
    "{{- '<|' + message.role + '|>' }}"
    "{%- if message.role == 'assistant' %}"
    "{%- generation %}{{- message.content + '<|end|>' }}{%- endgeneration %}"
    "{%- else %}{{- message.content + '<|end|>' }}"
    "{%- endif %}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
)

# Prompts are mostly drawn at random, so there is little to learn from predicting them.
PROMPT_WEIGHT = 0.1
PEAK_RATE, LAST_RATE, WARMUP_STEPS = 4e-3, 4e-5, 100
POOL = 4096  # chats sorted by length at a time, so that a batch needs little padding


def train_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE with single digits, on the answers and questions of 20,000 chats."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    sample = itertools.islice(chats(TOKENIZER_SEED), 20_000)
    bpe.train_from_iterator((turn["content"] for chat in sample for turn in chat), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<|bos|>",
        eos_token="<|end|>",
        pad_token="<|pad|>",
        chat_template=CHAT_TEMPLATE,
        model_max_length=512,
        clean_up_tokenization_spaces=False,
        padding_side="right",
    )


def build_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """The architecture. Every Linear reads 128 or 384 values: whole blocks and whole tiles."""
    names = ("bos_token_id", "eos_token_id", "pad_token_id")
    ids = {name: getattr(tokenizer, name) for name in names}
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=5,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        initializer_range=0.05,
        attn_implementation="sdpa",
        **ids,
    )
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(do_sample=False, max_new_tokens=64, **ids)
    return model


class Document(NamedTuple):
    ids: list[int]
    answered: list[bool]  # True where the token belongs to an answer (its <|end|> included)


def encode(tokenizer: PreTrainedTokenizerFast, chat: Chat) -> Document:
    """The chat template applied by hand: the same ids, ten times faster (a test compares them)."""
    end = tokenizer.eos_token_id
    ids, answered = [tokenizer.bos_token_id], [False]
    texts = tokenizer.backend_tokenizer.encode_batch([turn["content"] for turn in chat])
    for turn, text in zip(chat, texts, strict=True):
        mine = turn["role"] == "assistant"
        ids += [tokenizer.convert_tokens_to_ids(f"<|{turn['role']}|>"), *text.ids, end]
        answered += [False, *[mine] * (len(text.ids) + 1)]
    return Document(ids, answered)


def collate(documents: list[Document], pad: int) -> tuple[Tensor, Tensor]:
    """Right-padded ids (B, T) int64, and weights in the loss (B, T) fp32, 0 for padding."""
    longest = max(len(d.ids) for d in documents)
    ids = torch.full((len(documents), longest), pad)
    weights = torch.zeros(len(documents), longest)
    for row, document in enumerate(documents):
        length = len(document.ids)
        ids[row, :length] = torch.tensor(document.ids)
        weights[row, :length] = torch.where(torch.tensor(document.answered), 1.0, PROMPT_WEIGHT)
    return ids, weights


def batches(tokenizer: PreTrainedTokenizerFast, tokens: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless batches of about ``tokens`` tokens, each of chats of like length, in random order."""
    stream, rng = chats(TRAIN_SEED), Random(SEED)
    while True:
        pool = [encode(tokenizer, chat) for chat in itertools.islice(stream, POOL)]
        pool.sort(key=lambda document: len(document.ids))
        batch: list[Document] = []
        ready = []
        for document in pool:
            if batch and (len(batch) + 1) * len(document.ids) > tokens:
                ready.append(batch)
                batch = []
            batch.append(document)
        rng.shuffle(ready)
        for chosen in ready:
            yield collate(chosen, tokenizer.pad_token_id)


def weighted_loss(model: LlamaForCausalLM, ids: Tensor, weights: Tensor) -> Tensor:
    """Mean loss in nats over the weighted tokens. Padding comes last, so a causal mask suffices."""
    logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
    losses = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    weights = weights[:, 1:].flatten()
    return (losses * weights).sum() / weights.sum()


@torch.no_grad()
def evaluate(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, *, count: int = 512
) -> tuple[float, float]:
    """Loss in nats over the answers of held-out chats, and the share of answers wholly right."""
    documents = [encode(tokenizer, chat) for chat in itertools.islice(chats(EVAL_SEED), count)]
    total, tokens, right = 0.0, 0, []
    for start in range(0, len(documents), 64):
        part = documents[start : start + 64]
        ids, _ = collate(part, tokenizer.pad_token_id)
        logits = model(input_ids=ids, use_cache=False).logits
        for row, document in enumerate(part):
            mask = torch.tensor(document.answered)[1:]
            length = len(document.ids)
            target, guess = ids[row, 1:length], logits[row, : length - 1]
            total += F.cross_entropy(guess[mask], target[mask], reduction="sum").item()
            tokens += int(mask.sum())
            right += [all(run) for run in _runs(guess.argmax(-1) == target, mask)]
    return total / tokens, sum(right) / len(right)


def _runs(correct: Tensor, mask: Tensor) -> Iterator[list[bool]]:
    """The correctness of each answer's tokens, answer by answer."""
    tokens = zip(mask.tolist(), correct.tolist(), strict=True)
    for is_answer, run in itertools.groupby(tokens, key=lambda token: token[0]):
        if is_answer:
            yield [right for _, right in run]


def learning_rate(step: int, steps: int) -> float:
    """Linear warm-up, then a cosine down to LAST_RATE."""
    if step < WARMUP_STEPS:
        return PEAK_RATE * (step + 1) / WARMUP_STEPS
    done = (step - WARMUP_STEPS) / max(1, steps - WARMUP_STEPS)
    return LAST_RATE + (PEAK_RATE - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * done))


def train(folder: Path, *, steps: int, tokens: int, eval_every: int) -> None:
    """Trains, and saves to ``folder`` after every evaluation: an early stop keeps something."""
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    tokenizer = train_tokenizer()
    model = build_model(tokenizer)
    matrices = [p for p in model.parameters() if p.ndim == 2]
    gains = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": gains, "weight_decay": 0.0}],
        lr=PEAK_RATE,
        betas=(0.9, 0.95),
        fused=True,
    )
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(tokenizer)} tokens")
    began, seen, recent = time.monotonic(), 0, []
    for step, (ids, weights) in enumerate(itertools.islice(batches(tokenizer, tokens), steps)):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps)
        loss = weighted_loss(model, ids, weights)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        seen += int((weights > 0).sum())
        recent.append(loss.item())
        if (step + 1) % eval_every == 0 or step + 1 == steps:
            held_out, right = evaluate(model, tokenizer)
            print(
                f"step {step + 1}: loss {sum(recent) / len(recent):.4f}, held-out answers "
                f"{held_out:.4f} nats, {right:.1%} right; {seen:,} tokens in "
                f"{time.monotonic() - began:.0f} s",
                flush=True,
            )
            recent = []
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--tokens", type=int, default=2048, help="tokens in a batch, about")
    parser.add_argument("--eval-every", type=int, default=125)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    train(chosen.folder, steps=chosen.steps, tokens=chosen.tokens, eval_every=chosen.eval_every)


if __name__ == "__main__":
    main()
