"""How far rounding is off in a few layers, looked at every so many steps.

A look is a pass of its own, after the step and outside its timer, over the first micro-batch of the
step just made: forward, and backward as far as the chosen layers. It leaves no trace in the run:
no gradient stays, no random number and no rounding seed is used up, and peak memory is not told of
it. With and without looks a run's losses are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from playground.data.batches import MicroBatch
from playground.events import LayerError
from playground.precision.error import RoundingError, rounding_error
from playground.precision.linear import FrozenLinear
from playground.precision.operands import SharedOperand
from playground.training.loss import summed_loss

if TYPE_CHECKING:
    from playground.training.prepare import Prepared


def probed_layers(model: nn.Module) -> dict[str, FrozenLinear]:
    """The layers that are looked at, by name, in the model's order; found by looking at its shape.

    Blocks are the members of the list that holds the most converted Linears, parts the children of
    a block that hold any (attention and MLP). Of the first, middle and last block with converted
    layers, the last of each of the first two parts is taken: its input has been through the part's
    own arithmetic, where outliers grow, and dX is needed of it, so dgrad runs. Without such a list:
    the first, the middle and the last converted Linear.

    Args:
        model: converted, with or without peft's adapter around it, which the names leave out.
    """
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    converted = _converted(base)
    lists = [m for m in base.modules() if isinstance(m, nn.ModuleList) and _converted(m)]
    if not lists:
        return {name: converted[name] for name in _first_middle_last(list(converted))}
    longest = max(lists, key=lambda m: len(_converted(m)))
    chosen = [
        layer
        for block in _first_middle_last([block for block in longest if _converted(block)])
        for layer in _of_each_part(block)
    ]
    return {name: layer for name, layer in converted.items() if any(layer is c for c in chosen)}


def _converted(module: nn.Module) -> dict[str, FrozenLinear]:
    # peft's wrapper keeps the layer it wraps as ``base_layer``.
    return {
        name.removesuffix(".base_layer"): m
        for name, m in module.named_modules()
        if isinstance(m, FrozenLinear) and not m.kept
    }


def _of_each_part(block: nn.Module) -> list[FrozenLinear]:
    if isinstance(block, FrozenLinear):
        return [block]
    parts = [found for child in block.children() if (found := list(_converted(child).values()))]
    if len(parts) == 1:
        return [parts[0][0], parts[0][-1]]
    return [found[-1] for found in parts[:2]]


def _first_middle_last(items: list[Any]) -> list[Any]:
    places = sorted({0, len(items) // 2, len(items) - 1}) if items else []
    return [items[i] for i in places]


def probe(
    run: Prepared, number: int, batches: list[MicroBatch], loss_scale: float | None
) -> Iterator[LayerError]:
    """Yields the errors of weights, activations and gradients, if a look is due after the step.

    Looks are due after step 1 and every ``probe_every`` steps. A weight's error was measured when
    it was rounded. The gradient is that of the step's mean loss times ``loss_scale``: what is too
    small for a format depends on it.
    """
    every = run.config.measure.probe_every
    if not every or (number != 1 and number % every):
        return
    tokens = sum(batch.supervised_tokens for batch in batches)
    layers = probed_layers(run.model)
    with _undisturbed(run):
        seen = _operands(run, layers, batches[0], (loss_scale or 1.0) / tokens)
        errors = [
            LayerError(step=number, layer=name, tensor=tensor, **error._asdict())
            for name, layer in layers.items()
            for tensor, error in _errors(layer, *seen.get(name, (None, None)))
        ]
        seen.clear()
    yield from errors


@torch.no_grad()
def _errors(
    layer: FrozenLinear, x: Tensor | None, dy: Tensor | None
) -> Iterator[tuple[str, RoundingError]]:
    """Of the operands there are: an expert that no token reached has none."""
    if layer.weight_error is not None:
        yield "weight", layer.weight_error
    if x is not None:
        yield "activation", rounding_error(x, layer.rounded_activation(x))
    if dy is not None:
        yield "gradient", rounding_error(dy, layer.rounded_gradient(dy))


def _operands(
    run: Prepared, layers: dict[str, FrozenLinear], batch: MicroBatch, share: float
) -> dict[str, tuple[Tensor, Tensor | None]]:
    """Each layer's x, and its dY where the backward pass needs dX; detached."""
    inputs: dict[str, Tensor] = {}
    outputs: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        def hook(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
            if name not in inputs:  # checkpointing calls again, to recompute
                inputs[name], outputs[name] = args[0], output

        return hook

    with ExitStack() as stack:
        for name, layer in _hookable(run.model, layers).items():
            stack.enter_context(_hooked(layer, keep(name)))
        loss = summed_loss(run.model, batch.to(run.device)) * share
        wanted = [n for n, x in inputs.items() if x.requires_grad and outputs[n].requires_grad]
        # Asked for by name, so nothing is added to any parameter's gradient.
        of = [outputs[n] for n in wanted]
        found = torch.autograd.grad(loss, of, allow_unused=True) if of else ()
    gradients = dict(zip(wanted, found, strict=True))
    return {name: (x.detach(), gradients.get(name)) for name, x in inputs.items()}


def _hookable(model: nn.Module, layers: dict[str, FrozenLinear]) -> dict[str, nn.Module]:
    """Where a layer's x and dY pass by: the adapter's wrapper, which adds to y and so has its dY.

    The layer's own y carries no gradient when nothing before it is trained.
    """
    wrappers = {id(m.base_layer): m for m in model.modules() if hasattr(m, "base_layer")}
    return {name: wrappers.get(id(layer), layer) for name, layer in layers.items()}


@contextmanager
def _hooked(module: nn.Module, hook: Any) -> Iterator[None]:
    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _undisturbed(run: Prepared) -> Iterator[None]:
    """Whatever runs inside, the next step is what it would have been."""
    modules = run.model.modules()
    found = (getattr(module, "operand", None) for module in modules)
    operands = {id(operand): operand for operand in found if isinstance(operand, SharedOperand)}
    with ExitStack() as stack:
        gpus = [run.device] if run.device.type == "cuda" else []
        stack.enter_context(torch.random.fork_rng(gpus))
        stack.enter_context(run.memory.aside())
        # A compiled graph would not call hooks, and must not be compiled again because of them.
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        for operand in operands.values():
            stack.enter_context(operand.aside())
        yield
