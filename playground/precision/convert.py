"""Put a precision into a model: swap its Linears, and report which and why not the others."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from kernels.format import has_values
from playground.config import SettingsError
from playground.events import Coverage, Skipped
from playground.precision.error import rounding_error
from playground.precision.keep import KEPT, keep, kept_layers
from playground.precision.operands import SharedOperand
from playground.precision.recipe import Recipe


def convert(
    model: nn.Module,
    recipe: Recipe,
    device: torch.device,
    *,
    check: Callable[[], None] = lambda: None,
    measure: bool = False,
) -> Coverage:
    """Swaps the Linears of ``model`` in place for ``recipe``'s on ``device``; freezes the rest.

    Layers are found by what they are, not by their names: every ``nn.Linear`` except the output
    head and a matrix shared with an embedding, which stay in the compute type. One at a time, so
    the float weight of each is freed before the next is made.

    Args:
        check: called before each layer; raises to give up (someone asked to stop).
        measure: keeps each weight's rounding error with its layer; later the exact one is gone.
    Returns:
        Coverage: how many were converted, which were skipped and why (those that the recipe keeps
        in 16 bits among them), and the share of all Linear weights, head included, that the
        precision took over.
    Raises:
        SettingsError: there is no Linear that this precision can take over, a weight that is not
            finite, or a layer to keep that is not there.
    """
    model.requires_grad_(False)
    # What is kept in 16 bits rounds an activation otherwise than its neighbours do.
    operand, operand_of_kept = SharedOperand(), SharedOperand()
    swapped: dict[int, nn.Linear] = {}
    skipped: list[Skipped] = []
    weights = {"all": 0, "converted": 0}
    _refuse_non_finite(model)
    linears = _linears(model)
    kept = kept_layers(model, recipe, [name for name, _ in linears])
    for name, linear in linears:
        check()
        if id(linear) not in swapped:
            size = linear.weight.numel()
            weights["all"] += size
            reason = _why_not(model, linear, recipe)
            if reason:
                skipped.append(Skipped(name=name, reason=reason))
                continue
            if name in kept:
                skipped.append(Skipped(name=name, reason=KEPT))
                swapped[id(linear)] = keep(linear, recipe, device, operand_of_kept)
            else:
                weights["converted"] += size
                swapped[id(linear)] = recipe.convert(linear, device, operand)
        if measure:
            exact, frozen = linear.weight.detach(), swapped[id(linear)]
            frozen.weight_error = rounding_error(exact, frozen.decoded_weight())
        _set(model, name, swapped[id(linear)])
    converted = sum(not layer.kept for layer in swapped.values())
    if not converted:
        raise SettingsError(_nothing_converted(recipe, skipped))
    model.shared_operand = operand
    model.register_forward_pre_hook(_next_pass)
    return Coverage(
        converted=converted,
        skipped=tuple(skipped),
        share_of_linear_weights=weights["converted"] / weights["all"],
    )


def _next_pass(model: nn.Module, *_: object) -> None:
    # Looked up anew each time: other layers, and their operand, may since have taken their places.
    model.shared_operand.next_pass()


def _linears(model: nn.Module) -> list[tuple[str, nn.Module]]:
    # GPT-2's Conv1D is a Linear in all but type; listed, so that nobody thinks it was converted.
    return [
        (name, module)
        for name, module in model.named_modules(remove_duplicate=False)
        if isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"
    ]


def _why_not(model: nn.Module, linear: nn.Module, recipe: Recipe) -> str | None:
    find_head = getattr(model, "get_output_embeddings", lambda: None)
    if linear is find_head():
        return "the output head stays in the compute type"
    if type(linear) is not nn.Linear:
        return f"a {type(linear).__name__} is not a plain Linear"
    if any(linear.weight is m.weight for m in model.modules() if isinstance(m, nn.Embedding)):
        return "its matrix is shared with an embedding"
    return recipe.refuses(linear)


def _refuse_non_finite(model: nn.Module) -> None:
    for name, weight in model.named_parameters():
        if not has_values(weight):
            continue
        bad = weight.numel() - int(torch.isfinite(weight).sum())
        if bad:
            raise SettingsError(
                f"Tensor '{name}' has {bad} weights that are NaN or infinite; "
                "pick another checkpoint."
            )


def _set(model: nn.Module, name: str, module: nn.Module) -> None:
    parent, _, child = name.rpartition(".")
    setattr(model.get_submodule(parent), child, module)


def _nothing_converted(recipe: Recipe, skipped: list[Skipped]) -> str:
    reasons = sorted({s.reason for s in skipped}) or ["it has no Linear at all"]
    remedy = "Keep fewer layers." if KEPT in reasons else "Pick another model."
    return f"No layer of this model can run in {recipe.name}: {'; '.join(reasons)}. {remedy}"
