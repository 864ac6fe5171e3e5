"""The matrices of a model, found by what they are and not by their names."""

from __future__ import annotations

from torch import nn

from playground.events import Skipped

_HOLDERS = (nn.Linear, nn.Embedding)


def linears(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """Every Linear with its name, one that is used twice with both, in the model's order.

    GPT-2's Conv1D is one in all but type: it multiplies by a weight that lies transposed.
    """
    return [
        (name, module)
        for name, module in model.named_modules(remove_duplicate=False)
        if isinstance(module, nn.Linear) or is_conv1d(module)
    ]


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
    experts that a model keeps together in one tensor of three dimensions, or a router."""
    return [
        (Skipped(name=f"{name}.{part}".lstrip("."), reason=_why(module, weight.dim())), size)
        for name, module in model.named_modules()
        if not isinstance(module, _HOLDERS) and not is_conv1d(module)
        for part, weight in module.named_parameters(recurse=False)
        if weight.dim() > 1 and (size := weight.numel())
    ]


def _why(module: nn.Module, dimensions: int) -> str:
    kind = type(module).__name__
    return f"a tensor of {dimensions} dimensions that {kind} multiplies with by itself, no Linear"
