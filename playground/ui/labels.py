"""What the form calls each setting, and its sections; sentences about settings use the same."""

from __future__ import annotations

import re

SECTIONS = {
    "lora": "Adapter (LoRA)",
    "data": "Data",
    "training": "Training",
    "quantization": "Low-precision formats",
    "measure": "Measuring",
}

LABELS = {
    "max_steps": "Steps",
    "learning_rate": "Learning rate",
    "micro_batch_size": "Rows per pass",
    "max_seq_len": "Longest row",
    "lora_r": "Rank r",
    "lora_alpha": "Alpha",
    "lora_dropout": "Dropout",
    "target_modules": "Adapted layers",
    "learn_from": "Learn from",
    "train_rows": "Training rows",
    "eval_rows": "Held-out rows",
    "exact_match_rows": "Rows answered in full",
    "grad_accum_steps": "Passes per step",
    "schedule": "Schedule",
    "warmup_share": "Warm-up share",
    "weight_decay": "Weight decay",
    "max_grad_norm": "Gradient clip",
    "gradient_checkpointing": "Gradient checkpointing",
    "eval_every": "Evaluate every",
    "seed": "Seed",
    "split_seed": "Held-out seed",
    "packing": "Pack rows",
    "too_long": "Rows too long",
    "columns": "Columns",
    "compile": "torch.compile",
    "checkpoint_every": "Checkpoint every",
    "keep_last_blocks": "Last blocks in 16 bits",
    "keep_layers": "Layers in 16 bits",
    "weight_scale_rule": "Weight scales",
    "activation_scale_rule": "Activation scales",
    "gradient_rounding": "Gradient rounding",
    "fp8_gradients": "FP8 gradients",
    "heal_after": "Heal after share",
    "heal_to": "Heal to",
    "probe_every": "Look at errors every",
    "target_loss": "Target loss",
    "cross_precisions": "Judge on bases",
    "merge_check": "Judge merged adapters",
}

INFO = {
    "max_steps": "Optimizer steps",
    "learning_rate": "AdamW's peak",
    "micro_batch_size": "In one forward pass",
    "max_seq_len": "In tokens",
    "lora_r": "Of the adapter's matrices",
    "lora_alpha": "Scales by alpha / r",
    "lora_dropout": "Of the adapter's inputs",
    "target_modules": "all-linear, or names",
    "learn_from": "What the loss counts",
    "train_rows": "At most; empty: all",
    "eval_rows": "For the held-out loss",
    "split_seed": "Same in repetitions",
    "packing": "Short rows end to end, none seeing another",
    "too_long": "cut at the end, or drop",
    "columns": "such as answer=Reply",
    "exact_match_rows": "Held out; 0 skips it",
    "grad_accum_steps": "Forward passes to one step",
    "schedule": "Of the learning rate",
    "warmup_share": "Of the steps, until the peak",
    "weight_decay": "AdamW's, on the adapter",
    "max_grad_norm": "Largest norm let through",
    "gradient_checkpointing": "Recompute activations: less memory, more time",
    "compile": "auto: on a GPU",
    "checkpoint_every": "Steps; 0: on Stop only",
    "eval_every": "Steps; 0: ends only",
    "seed": "Repetitions count up",
    "keep_last_blocks": "Transformer blocks",
    "keep_layers": "none, or names",
    "weight_scale_rule": "NVFP4; search errs least",
    "activation_scale_rule": "NVFP4; amax is plain",
    "gradient_rounding": "Under NVFP4-2D",
    "fp8_gradients": "e5m2: wide; e4m3: fine",
    "heal_after": "Of the steps; 1: never",
    "heal_to": "Takes over after that",
    "probe_every": "Steps; 0: never",
    "target_loss": "Held out; empty: none",
    "cross_precisions": "none, or fp16, nvfp4",
    "merge_check": "In 16 bits and in the format",
}
"""Short words, for two settings stand side by side; ``--help`` says what config says."""

_KEY = re.compile(rf"\b({'|'.join(key for key in LABELS if '_' in key)})\b(?!=)")


def labelled(sentence: str) -> str:
    """A sentence about settings (``max_steps``) with the labels that the form gives them."""
    return _KEY.sub(lambda found: f"“{LABELS[found[0]]}”", sentence)
