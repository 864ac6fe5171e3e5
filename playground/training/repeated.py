"""Blocks that are alike are computed a few times, and the rest are taken for granted.

A model of 80 blocks saves for its backward pass what a few of them save, many times over. That two
blocks are alike is never assumed from a configuration: they are of the same modules with the same
tensors and settings, follow a block of the same kind, and are called with the same arguments. And
the second and the third of each kind, computed both, must have saved as much; where they did not,
all of that kind are computed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

_COMPUTED = 3
"""Of each kind. The first may save what the others share with it (positions, a mask)."""

_OWN = {"layer_idx", "training"}
"""What numbers a block but makes no other one of it, and what all have alike."""

_PLAIN = (bool, int, float, str, type(None))


class Counter(Protocol):
    """Bytes saved so far."""

    total: int


@contextmanager
def alike_computed_once(model: nn.Module, saved: Counter) -> Iterator[None]:
    """Within it a forward pass of ``model`` computes few blocks of each kind.

    A block that is passed over returns what it was given, which has the shape and the dtype of what
    it would return, and adds to ``saved.total`` what it would save. Meant for fake tensors: values
    come out wrong.
    """
    before: list[tuple[nn.ModuleList, int, nn.Module]] = []
    kinds = _Kinds(saved)
    for blocks in _lists(model):
        for number, block in enumerate(blocks):
            before.append((blocks, number, block))
            blocks[number] = _Watched(block, kinds)
    try:
        yield
    finally:
        for blocks, number, block in before:
            blocks[number] = block


def _lists(model: nn.Module) -> list[nn.ModuleList]:
    from transformers.modeling_layers import GradientCheckpointingLayer

    lists = [m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) > _COMPUTED]
    return [m for m in lists if all(isinstance(b, GradientCheckpointingLayer) for b in m)]


class _Kinds:
    """What the blocks of each kind have saved, in the order in which they were called."""

    def __init__(self, saved: Counter) -> None:
        self._counted = saved
        self._saved: dict[Hashable, list[int]] = {}
        self._unlike: set[Hashable] = set()  # returned another shape, or no tensor at all
        self._last: Hashable = None

    def call(self, block: nn.Module, built: Hashable, args: Any, kwargs: Any) -> Any:
        kind = (built, self._last, _asked(args, kwargs))
        self._last = built
        known = self._saved.setdefault(kind, [])
        hidden = args[0] if args else None
        if len(known) >= _COMPUTED and known[1] == known[2] and kind not in self._unlike:
            self._counted.total += known[1]
            return hidden
        before = self._counted.total
        out = block(*args, **kwargs)
        known.append(self._counted.total - before)
        if not (isinstance(hidden, Tensor) and isinstance(out, Tensor) and _alike(hidden, out)):
            self._unlike.add(kind)
        return out


class _Watched(nn.Module):
    """Stands in for a block; whoever asks it for an attribute gets the block's."""

    def __init__(self, block: nn.Module, kinds: _Kinds) -> None:
        super().__init__()
        self.block, self._kinds = block, kinds
        self._built = _built(block)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._kinds.call(self.block, self._built, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("block"), name)


def _built(block: nn.Module) -> Hashable:
    """Of which modules, tensors and plain settings a block is."""
    return tuple(
        (name, type(module), _settings(module), _tensors(module))
        for name, module in block.named_modules()
    )


def _settings(module: nn.Module) -> Hashable:
    plain = (bool, int, float, str, type(None))
    return tuple(
        sorted(
            (k, str(v)) for k, v in vars(module).items() if isinstance(v, plain) and k not in _OWN
        )
    )


def _tensors(module: nn.Module) -> Hashable:
    held = {**module._parameters, **module._buffers}
    return tuple((name, None if t is None else _look(t)) for name, t in held.items())


def _asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    """The hidden states by what they look like, all else by what it is."""
    rest = tree_leaves((args[1:], kwargs))
    others = tuple(leaf if isinstance(leaf, _PLAIN) else id(leaf) for leaf in rest)
    hidden = args[0] if args else None
    return (_look(hidden) if isinstance(hidden, Tensor) else None, tuple(sorted(kwargs)), others)


def _look(tensor: Tensor) -> Hashable:
    return (tensor.shape, tensor.dtype, tensor.requires_grad)


def _alike(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.device == b.device
