"""A weight that is still in its file: it has a shape, takes no memory, and can be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

Read = Callable[[], Tensor]


def mark(weight: Tensor) -> None:
    """``weight`` is a view of its file, mapped into memory."""
    weight.read_from_file = None


def placeholder(shape: Sequence[int], dtype: torch.dtype, read: Read) -> nn.Parameter:
    """Stands for a weight that ``read`` decodes anew each time it is called.

    It is on the meta device, so that nothing can be computed with it by mistake.
    """
    weight = nn.Parameter(torch.empty(shape, dtype=dtype, device="meta"), requires_grad=False)
    weight.read_from_file = read
    return weight


def is_in_file(weight: Tensor) -> bool:
    """Whether it takes no memory of its own."""
    return hasattr(weight, "read_from_file")


def published(weight: Tensor) -> Tensor:
    """What ``weight`` is or stands for, without its gradient: read, if it has to be."""
    read: Read | None = getattr(weight, "read_from_file", None)
    return weight.detach() if read is None else read()
