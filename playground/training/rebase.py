"""Another base under the same adapter: the published model once more, in another precision.

Healing needs it, and judging a finished adapter. The adapter's parameters stay the same objects in
the same places, so an optimizer's state stays true, and nothing that was hooked to the model comes
off. The old base is let go of before the new one is loaded: there are never two. What comes in is
what ``load_base`` makes for a fresh run, so the two agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from playground.precision.linear import FrozenLinear
from playground.precision.registry import recipe_of
from playground.training.model import load_base
from playground.training.prepare import Prepared


def rebase(
    run: Prepared,
    precision: str,
    *,
    merged: bool = False,
    check: Callable[[], None] = lambda: None,
) -> list[str]:
    """Puts the published model in ``precision`` under the adapter of ``run``.

    Args:
        merged: the adapter is added to the float weights before they are rounded, in fp32:
            W + (alpha / r) B A for each adapted layer. Who then asks the model should disable the
            adapter meanwhile (``model.disable_adapter()``), or it counts twice.
        check: called between the parts of the work; raises to give up.
    Returns:
        What the self-test said of each backend that might serve, a sentence each.
    Raises:
        SettingsError: as ``load_base``. After this, or whatever ``check`` raises, there is no base
            at all, and only another ``rebase`` helps; the adapter is as it was.
    """
    # Not with_precision: this is no run of its own, and what heals the run need not heal it.
    config = run.config.model_copy(update={"precision": precision})
    recipe = recipe_of(config)
    base = run.model.get_base_model()
    let_go(run)
    with torch.random.fork_rng([run.device] if run.device.type == "cuda" else []):
        # Loading draws random numbers, and those of the run belong to its dropout.
        fresh = load_base(
            run.entry,
            config,
            recipe,
            run.device,
            check=check,
            self_tests=run.self_tests,
            adjust=partial(merged_weight, base) if merged else None,
        )
    compute = fresh.model.get_input_embeddings().weight.dtype
    for module in fresh.model.modules():
        if isinstance(module, nn.Linear) and not isinstance(module, FrozenLinear):
            module.to(compute)  # merged in fp32, and then the precision could not take it over
    _take_over(base, fresh.model)
    base.shared_operand = fresh.model.shared_operand
    base.train(base.training)
    run.recipe = recipe
    return fresh.tried


def let_go(run: Prepared) -> None:
    """Frees every tensor but the adapter's; on the meta device each keeps only its shape."""
    for module in run.model.get_base_model().modules():
        if not any(parameter.requires_grad for parameter in module.parameters(recurse=False)):
            module._apply(lambda tensor: tensor.to("meta"), recurse=False)


@torch.no_grad()
def merged_weight(base: nn.Module, name: str, weight: Tensor) -> Tensor:
    """(N, K), with the adapter of the layer ``name`` of ``base`` added to it."""
    layer = base.get_submodule(name)
    if is_adapted(layer):
        for adapter in layer.active_adapters:
            delta = layer.get_delta_weight(adapter)  # peft's own: (alpha / r) B A
            if layer.fan_in_fan_out:  # around a Conv1D that its precision left alone
                delta = delta.T
            weight = weight.float() + delta.to(weight.device)  # where it must be
    return weight


def _take_over(place: nn.Module, fresh: nn.Module) -> None:
    """Puts the tensors of ``fresh`` into ``place``, which has the adapter around some children.

    Linears come whole, because their class is the precision's; of all else, only the tensors.
    """
    for key, parameter in fresh.named_parameters(recurse=False):
        setattr(place, key, parameter)
    for key, buffer in fresh.named_buffers(recurse=False):
        setattr(place, key, buffer)
    for name, child in fresh.named_children():
        there = getattr(place, name)
        if is_adapted(there):
            there.base_layer = child
        elif isinstance(child, nn.Linear):
            setattr(place, name, child)
        else:
            _take_over(there, child)


def is_adapted(module: Any) -> bool:
    """Whether peft has put an adapter around it."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    return isinstance(module, BaseTunerLayer)
