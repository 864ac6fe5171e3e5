"""A Linear whose weight is frozen and kept in a storage format; peft wraps it like any other."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from playground.precision.error import RoundingError


class FrozenLinear(nn.Linear):
    """y = x @ W.T + b with a frozen W. A precision says how W is stored and the products round.

    There is no wgrad, so the input is not saved for the backward pass: dgrad needs dY and W only,
    and W is decoded again when it is used, never kept decoded.

    kept: it stays in 16 bits beside layers in a lower precision, so it is none of the converted.
    """

    kept = False

    weight_error: RoundingError | None = None
    """Of the stored weight; measured when it was rounded, if that was asked for."""

    def __init__(self, linear: nn.Linear, device: torch.device) -> None:
        # nn.Linear's own constructor would allocate the float weight that this class does without.
        nn.Module.__init__(self)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.register_parameter("weight", None)
        bias = None if linear.bias is None else _frozen(linear.bias.detach().to(device))
        self.register_parameter("bias", bias)

    @abstractmethod
    def weight_tensors(self) -> list[Tensor]:
        """Everything the weight occupies at rest, scales included."""

    @abstractmethod
    def decoded_weight(self) -> Tensor:
        """(out_features, in_features) fp32: the values that the stored weight stands for."""

    @abstractmethod
    def fprop(self, x: Tensor) -> Tensor:
        """(..., in_features) -> (..., out_features), in x's dtype, rounded as the format says."""

    @abstractmethod
    def dgrad(self, dy: Tensor) -> Tensor:
        """(..., out_features) -> (..., in_features), in dy's dtype, rounded as the format says."""

    @abstractmethod
    def rounded_activation(self, x: Tensor) -> Tensor:
        """The values that fprop multiplies in place of x, for measuring; shaped like x."""

    @abstractmethod
    def rounded_gradient(self, dy: Tensor) -> Tensor:
        """The values that dgrad multiplies in place of dY, for measuring; shaped like dy.

        Draws the seed of the current forward pass where the rounding is stochastic.
        """

    def forward(self, x: Tensor) -> Tensor:
        return _FrozenProduct.apply(x, self)


class PackedLinear(FrozenLinear):
    """A Linear without a float weight: ``codes`` and their scales, as buffers."""

    codes: Tensor

    @property
    def qweight(self) -> Tensor:
        """peft's name for a packed weight; it looks here for the device of the base layer."""
        return self.codes

    def _apply(self, fn, recurse=True):  # type: ignore[no-untyped-def]
        before = [part.dtype for part in self.weight_tensors()]
        super()._apply(fn, recurse)
        if [part.dtype for part in self.weight_tensors()] != before:
            raise TypeError(
                "a packed weight has no other dtype: move it with .to(device), "
                "or read its values with decoded_weight()"
            )
        return self


class _FrozenProduct(torch.autograd.Function):
    """Rounding has no useful gradient, so the backward is written out: straight through to dX."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, layer: FrozenLinear) -> Tensor:
        ctx.layer = layer
        return layer.fprop(x)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, None]:
        return ctx.layer.dgrad(dy), None


def _frozen(tensor: Tensor) -> nn.Parameter:
    return nn.Parameter(tensor, requires_grad=False)
