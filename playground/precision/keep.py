"""Layers that stay in 16 bits beside a lower precision: the last blocks, or layers by name.

Rounding costs most in some layers, above all near the end of a model; a few kept apart buy accuracy
for memory (NVIDIA's pre-training recipe keeps about a sixth: arXiv 2509.25149).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from playground.config import QuantizationSettings, SettingsError, nearest
from playground.precision.found import linears
from playground.precision.operands import SharedOperand
from playground.precision.quantized import Quantized
from playground.precision.recipe import Recipe
from playground.precision.sixteen_bit import DTYPES, SixteenBitLinear

KEPT = "kept in 16 bits"


def is_named(wanted: str, layer: str) -> bool:
    """peft's rule for naming layers: the whole dotted name, or its last parts."""
    return layer == wanted or layer.endswith(f".{wanted}")


def kept_layers(model: nn.Module, recipe: Recipe, layers: list[str]) -> set[str]:
    """Which of ``layers``, names of Linears, the recipe leaves in 16 bits.

    Raises:
        SettingsError: a name matches none of them, or no block would be left.
    """
    if not isinstance(recipe, Quantized):
        return set()
    return _chosen(model, recipe.keep_layers, recipe.keep_last_blocks, layers)


def check_kept(model: nn.Module, settings: QuantizationSettings) -> None:
    """That what is to be kept exists in ``model``, whatever the precision.

    16 bits have nothing to keep; but so the first run of a comparison refuses what a later would.

    Raises:
        SettingsError: as ``kept_layers``.
    """
    layers = [name for name, _ in linears(model)]
    names = () if settings.keep_layers == "none" else settings.keep_layers
    _chosen(model, names, settings.keep_last_blocks, layers)


def _chosen(
    model: nn.Module, names: Iterable[str], last_blocks: int, layers: list[str]
) -> set[str]:
    kept = set()
    for wanted in names:
        found = {name for name in layers if is_named(wanted, name)}
        if not found:
            known = sorted({name.rpartition(".")[2] for name in layers})
            raise SettingsError(
                f"keep_layers names '{wanted}', which no layer of this model is called; "
                f"choose from {', '.join(known)}.{nearest(wanted, known)}"
            )
        kept |= found
    last = _last_blocks(model, last_blocks)
    return kept | {name for name in layers if name.startswith(last)}


def keep(
    linear: nn.Linear, recipe: Recipe, device: torch.device, operand: SharedOperand
) -> SixteenBitLinear:
    """A Linear in the recipe's 16-bit type. ``operand`` must be another than the recipe's own."""
    formats = {dtype: name for name, dtype in DTYPES.items()}
    layer = SixteenBitLinear(linear, formats[recipe.compute_dtype], device, operand)
    layer.kept = True
    return layer


def _last_blocks(model: nn.Module, count: int) -> tuple[str, ...]:
    """Beginnings of the names of all layers in the last ``count`` blocks."""
    if count == 0:
        return ()
    name, blocks = _blocks(model)
    if count >= len(blocks):
        raise SettingsError(
            f"keep_last_blocks is {count}; this model has {len(blocks)} blocks and at least one "
            f"must be left to round, so choose at most {len(blocks) - 1}."
        )
    return tuple(f"{name}.{number}." for number in range(len(blocks) - count, len(blocks)))


def _blocks(model: nn.Module) -> tuple[str, nn.ModuleList]:
    """The decoder layers, found by what they are: the list that holds most of the Linear weights.

    Lists within a block (experts, say) hold less than the list of blocks around them; where they
    hold as much, the outer one comes first.
    """
    lists = [(n, m) for n, m in model.named_modules() if isinstance(m, nn.ModuleList)]
    if not lists:
        raise SettingsError(
            "keep_last_blocks is set, but this model has no list of blocks; name its layers in "
            "keep_layers, or set it to 0."
        )
    return max(lists, key=lambda found: _linear_weights(found[1]))


def _linear_weights(module: nn.Module) -> int:
    return sum(found.weight.numel() for _, found in linears(module))
