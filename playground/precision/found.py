"""The matrices of a model, found by what they are and not by their names."""

from __future__ import annotations

from torch import nn

from playground.events import Skipped

UNREACHED = "text never reaches it"

_HOLDERS = (nn.Linear, nn.Embedding)


def linears(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """Every Linear with its name, one that is used twice with both, in the model's order.

    GPT-2's Conv1D is one in all but type: it multiplies by a weight that lies transposed. Those of
    the parts ``beside_text`` are none of ours: what is rounded or adapted there, nobody would see.
    """
    beside = tuple(f"{name}." for name, _ in beside_text(model))
    return [
        (name, module)
        for name, module in model.named_modules(remove_duplicate=False)
        if (isinstance(module, nn.Linear) or is_conv1d(module)) and not name.startswith(beside)
    ]


def beside_text(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """The parts of a model that text never reaches: what one that also sees or hears has for that.

    Such a model has a configuration of its own for text, and a decoder by it that stands beside the
    other parts. A module that is no transformers model has no such parts.
    """
    config = getattr(model, "config", None)
    if not hasattr(config, "get_text_config") or config.get_text_config() is config:
        return []
    around, name, decoder = model.base_model, model.base_model_prefix, model.get_decoder()
    if around is model:
        return []
    parts: list[tuple[str, nn.Module]] = []
    while around is not decoder and (inner := _child_with(around, decoder)):
        parts += [
            (f"{name}.{child}", module)
            for child, module in around.named_children()
            if child != inner and not isinstance(module, _HOLDERS)
        ]
        around, name = getattr(around, inner), f"{name}.{inner}"
    return parts


def _child_with(around: nn.Module, wanted: nn.Module) -> str | None:
    for name, child in around.named_children():
        if any(module is wanted for module in child.modules()):
            return name
    return None


def is_conv1d(module: nn.Module) -> bool:
    """Whether it is transformers' ``Conv1D``, with a weight of (K, N)."""
    return type(module).__name__ == "Conv1D"


def as_linear(module: nn.Module) -> nn.Linear:
    """A plain Linear with the same bias and a view of the weight, (N, K); a Linear as it is."""
    if isinstance(module, nn.Linear):
        return module
    k, n = module.weight.shape
    linear = nn.Linear(k, n, bias=False, device="meta")
    linear.weight = nn.Parameter(module.weight.detach().t(), requires_grad=False)
    linear.bias = module.bias
    return linear


def other_matrices(model: nn.Module) -> list[tuple[Skipped, int]]:
    """What is multiplied with and yet is no Linear's, with its reason and how many values it has:
    experts that a model keeps together in one tensor of three dimensions, or a router. A part that
    text never reaches is one entry, of no values, for it takes no part in what a run computes."""
    parts = beside_text(model)
    beside = tuple(f"{name}." for name, _ in parts)
    unreached = [(Skipped(name=name, reason=UNREACHED), 0) for name, _ in parts]
    return unreached + [
        (Skipped(name=f"{name}.{part}".lstrip("."), reason=_why(module, weight.dim())), size)
        for name, module in model.named_modules()
        if not isinstance(module, _HOLDERS) and not is_conv1d(module)
        if not f"{name}.".startswith(beside)
        for part, weight in module.named_parameters(recurse=False)
        if weight.dim() > 1 and (size := weight.numel())
    ]


def _why(module: nn.Module, dimensions: int) -> str:
    kind = type(module).__name__
    return f"a tensor of {dimensions} dimensions that {kind} multiplies with by itself, no Linear"
