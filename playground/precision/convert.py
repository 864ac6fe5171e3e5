"""Put a precision into a model: swap its Linears, and report which and why not the others."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from kernels.format import has_values, non_finite
from playground.config import SettingsError
from playground.events import Coverage, Skipped
from playground.precision.error import rounding_error
from playground.precision.found import as_linear, is_conv1d, linears, other_matrices
from playground.precision.keep import KEPT, keep, kept_layers
from playground.precision.operands import SharedOperand
from playground.precision.recipe import Recipe
from playground.precision.waiting import published


class Taken(NamedTuple):
    """A Linear has just been looked at, and its exact weight is about to be freed.

    layer: what stands for it now: itself where it was skipped.
    exact: what the layer was made from; whoever keeps it keeps its memory.
    share: of the weights of all Linears, what has been looked at, 0..1.
    """

    layer: nn.Module
    exact: Tensor
    share: float


def convert(model: nn.Module, recipe: Recipe, device: torch.device, **options: Any) -> Coverage:
    """All of ``converting``, without a word on the way."""
    work = converting(model, recipe, device, **options)
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value


def converting(
    model: nn.Module,
    recipe: Recipe,
    device: torch.device,
    *,
    check: Callable[[], None] = lambda: None,
    measure: bool = False,
    dtype: torch.dtype | None = None,
    adjust: Callable[[str, Tensor], Tensor] | None = None,
) -> Generator[Taken, None, Coverage]:
    """Swaps the Linears of ``model`` in place for ``recipe``'s on ``device``; freezes the rest.

    Layers are found by what they are, not by their names: every ``nn.Linear`` and ``Conv1D`` except
    the output head and a matrix shared with an embedding, which stay in the compute type. One at a
    time, so the float weight of each is freed before the next is made, and a caller is told of it.

    Args:
        check: called before each layer; raises to give up (someone asked to stop).
        measure: keeps each weight's rounding error with its layer; later the exact one is gone.
        dtype: the compute type, into which a weight is brought that still is in its file's; None
            takes every weight as it is.
        adjust: called with each layer's name and float weight, (N, K); what it returns is rounded
            in its place.
    Returns:
        Coverage: how many were converted, which were skipped and why (those that the recipe keeps
        in 16 bits among them, and matrices that are no Linear's), and the share of all their
        weights, head included, that the precision took over.
    Raises:
        SettingsError: there is no Linear that this precision can take over, a weight that is not
            finite, or a layer to keep that is not there.
    """
    model.requires_grad_(False)
    # What is kept in 16 bits rounds an activation otherwise than its neighbours do.
    operand, operand_of_kept = SharedOperand(), SharedOperand()
    # By name: a list of the modules would keep the exact weights alive.
    names = [name for name, _ in linears(model)]
    kept = kept_layers(model, recipe, names)
    # Once: looking through a large model for each of its Linears would take seconds.
    embedded = _embedded(model)
    _refuse_non_finite_others(model, embedded)
    total = sum({id(module): module.weight.numel() for _, module in linears(model)}.values())
    if names and not total:
        raise SettingsError(
            "The model has no Linear with a weight, so there is nothing to train; its config.json "
            "may give a size of 0: mend it, or choose another model."
        )
    others = other_matrices(model)
    skipped = [listed for listed, _ in others]
    swapped: dict[int, nn.Module] = {}
    looked_at = taken_over = converted = 0
    for name in names:
        check()
        found = model.get_submodule(name)
        if id(found) in swapped:  # used twice
            _set(model, name, swapped[id(found)])
            continue
        if not _is_one_of(embedded, found.weight):
            _read(name, found, device, dtype, adjust)
        exact = as_linear(found)
        layer: nn.Module = found
        if reason := _why_not(model, found, exact, recipe, embedded):
            skipped.append(Skipped(name=name, reason=reason))
        elif name in kept:
            skipped.append(Skipped(name=name, reason=KEPT))
            layer = keep(exact, recipe, device, operand_of_kept)
        else:
            layer = recipe.convert(exact, device, operand)
            converted, taken_over = converted + 1, taken_over + exact.weight.numel()
        if measure and layer is not found:
            layer.weight_error = rounding_error(exact.weight, layer.decoded_weight())
        looked_at += exact.weight.numel()
        swapped[id(found)] = layer
        _set(model, name, layer)
        taken = Taken(layer, exact.weight.detach(), looked_at / total)
        del found, exact, layer
        yield taken
        del taken
    if not converted:
        raise SettingsError(_nothing_converted(recipe, skipped))
    model.shared_operand = operand
    model.register_forward_pre_hook(_next_pass)
    return Coverage(
        converted=converted,
        skipped=tuple(skipped),
        share_of_linear_weights=taken_over / (total + sum(size for _, size in others)),
    )


def _read(
    name: str,
    found: nn.Module,
    device: torch.device,
    dtype: torch.dtype | None,
    adjust: Callable[[str, Tensor], Tensor] | None,
) -> None:
    """Brings the weight of ``found`` out of its file, to where and into what it is rounded in."""
    weight = published(found.weight).to(device=device, dtype=dtype)
    if adjust is not None:
        weight = adjust(name, weight.t()).t() if is_conv1d(found) else adjust(name, weight)
    _refuse_non_finite(f"{name}.weight", weight)
    found.weight = nn.Parameter(weight, requires_grad=False)


def _next_pass(model: nn.Module, *_: object) -> None:
    # Looked up anew each time: other layers, and their operand, may since have taken their places.
    model.shared_operand.next_pass()


def _why_not(
    model: nn.Module, found: nn.Module, exact: nn.Linear, recipe: Recipe, embedded: list[Tensor]
) -> str | None:
    find_head = getattr(model, "get_output_embeddings", lambda: None)
    if found is find_head():
        return "the output head stays in the compute type"
    if type(exact) is not nn.Linear:
        return f"a {type(exact).__name__} is not a plain Linear"
    if _is_one_of(embedded, found.weight):
        return "its matrix is shared with an embedding"
    return recipe.refuses(exact)


def _refuse_non_finite_others(model: nn.Module, embedded: list[Tensor]) -> None:
    """Of all but the Linears' weights, which are looked at when their turn comes."""
    later = {id(m.weight) for _, m in linears(model) if not _is_one_of(embedded, m.weight)}
    for name, weight in model.named_parameters():
        if id(weight) not in later:
            _refuse_non_finite(name, weight)


def _embedded(model: nn.Module) -> list[Tensor]:
    """The embeddings' matrices; a Linear may share one."""
    return [m.weight for m in model.modules() if isinstance(m, nn.Embedding)]


def _is_one_of(tensors: list[Tensor], weight: Tensor) -> bool:
    return any(weight is tensor for tensor in tensors)


def _refuse_non_finite(name: str, weight: Tensor) -> None:
    if not has_values(weight) or not (bad := non_finite(weight)):
        return
    raise SettingsError(
        f"Tensor '{name}' has {bad} weights that are NaN or infinite; pick another checkpoint."
    )


def _set(model: nn.Module, name: str, module: nn.Module) -> None:
    parent, _, child = name.rpartition(".")
    setattr(model.get_submodule(parent), child, module)


def _nothing_converted(recipe: Recipe, skipped: list[Skipped]) -> str:
    reasons = sorted({s.reason for s in skipped}) or ["it has no Linear at all"]
    remedy = "Keep fewer layers." if KEPT in reasons else "Pick another model."
    return f"No layer of this model can run in {recipe.name}: {'; '.join(reasons)}. {remedy}"
