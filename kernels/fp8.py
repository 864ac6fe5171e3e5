"""FP8: eight bits of its own for each value, and one power of two for a row.

    scale = the smallest power of two with amax <= largest * scale
    code  = fp8(x / scale)          ties to even; the cast cannot overflow, so it never saturates
    x_hat = float(code) * scale

    E4M3    largest 448      3 mantissa bits, 2^-9 the smallest step: weights and activations
    E5M2    largest 57344    2 mantissa bits, 2^-16: gradients, which need the range

An activation or a gradient has a scale for each row, that is, each token, because some tokens dwarf
the others: in SmolLM2-135M the first one is up to 2200 times the median (the input of block 11's
down_proj), and with one scale for all a median row there would err by 3.6 % instead of 2.7. A
frozen weight has no such rows and gets one scale. Powers of two, because scaling by them is exact:
a row is rounded alike whatever else its micro-batch holds, and scales may be applied before the
product or after it. It costs nothing: on N(0,1) the error is 7.04e-4, against 7.00e-4 with the
scale amax / 448.

    fprop   y = x @ W.T      both operands in E4M3
    dgrad   dx = dy @ W      dy in E5M2 or E4M3 times the same weight: no second copy of it

(Formats: Micikevicius et al., FP8 Formats for Deep Learning, arXiv 2209.05433.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from .dispatch import choose_backend
from .format import INPUT_DTYPES, check_decoded_dtype, check_parts, has_values, non_finite
from .rounding import fp8_values, round_to

FP8Format = Literal["e4m3", "e5m2"]
FP8_ALIGNMENT = 16
"""N and K must be multiples of this for FP8 tensor cores: rows of 16 bytes, both ways."""


class _Format(NamedTuple):
    dtype: torch.dtype
    exponent: int  # of the largest value, which is 1.75 * 2^exponent in both


_CHUNK_VALUES = 1 << 20  # of a weight, brought into fp32 at once

_FORMATS = {"e4m3": _Format(torch.float8_e4m3fn, 8), "e5m2": _Format(torch.float8_e5m2, 15)}


@dataclass(frozen=True, eq=False)
class FP8Tensor:
    """A matrix in E4M3 with one scale.

    Attributes:
        codes: (M, K) float8_e4m3fn.
        scale: () float32, a power of two, multiplies on decode.
    Raises:
        ValueError: the parts do not fit together.
    """

    codes: Tensor
    scale: Tensor

    def __post_init__(self) -> None:
        wanted = {
            "codes": (torch.float8_e4m3fn, (*self.codes.shape,)),
            "scale": (torch.float32, ()),
        }
        check_parts(self, wanted, "an FP8 tensor", "quantize_fp8")

    @property
    def shape(self) -> tuple[int, int]:
        return tuple(self.codes.shape)

    @property
    def device(self) -> torch.device:
        return self.codes.device

    def dequantize(self, dtype: torch.dtype = torch.float32) -> Tensor:
        """The (M, K) values this tensor stands for, rounded once to ``dtype``."""
        check_decoded_dtype(dtype)
        return _decoded(self.codes, self.scale).to(dtype)


def quantize_fp8(x: Tensor) -> FP8Tensor:
    """Packs a frozen weight in E4M3, with one scale for all of it.

    Args:
        x: (M, K) fp32, bf16 or fp16, any strides.
    Raises:
        ValueError: wrong dtype or dimensions, NaN or inf in x (with the count).
    """
    _check(x)
    if x.dim() != 2:
        raise ValueError(f"x has {x.dim()} dimensions; pass a matrix, x.reshape(-1, x.shape[-1])")
    if not has_values(x):
        codes = x.new_empty(x.shape, dtype=_FORMATS["e4m3"].dtype)
        return FP8Tensor(codes, x.new_empty((), dtype=torch.float32))
    if bad := non_finite(x):
        raise ValueError(
            f"{bad} of {x.numel()} values are NaN or inf, which E4M3 cannot hold beside a scale; "
            "find where they arise, or leave this layer in 16 bits"
        )
    dtype, exponent = _FORMATS["e4m3"]
    codes = torch.empty(x.shape, dtype=dtype, device=x.device)
    least, most = x.detach().aminmax() if x.numel() else (x.new_zeros(()),) * 2
    inverse, scale = _scales_of(torch.maximum(-least, most).to(torch.float32), exponent)
    rows = max(_CHUNK_VALUES // max(x.shape[1], 1), 1)
    for exact, rounded in zip(x.detach().split(rows), codes.split(rows), strict=True):
        rounded.copy_(exact.to(torch.float32) * inverse)
    return FP8Tensor(codes, scale)


def quantize_fp8_rows(x: Tensor, format: FP8Format = "e4m3") -> tuple[Tensor, Tensor]:
    """Rounds each row by a scale of its own: an activation or a gradient.

    Args:
        x: (..., K) fp32, bf16 or fp16.
    Returns:
        codes like x, in ``format``, contiguous, and scales (...,) fp32, powers of two from 2^-126
        on. A row with a NaN or inf in it has scale NaN, so that it shows in the product; no other
        row is touched.
    Raises:
        ValueError: wrong dtype, or no such format.
    """
    _check(x)
    if format not in _FORMATS:
        raise ValueError(f"format is {format!r}; choose from {', '.join(_FORMATS)}")
    dtype, exponent = _FORMATS[format]
    x = x.to(torch.float32)
    amax = x.abs().amax(-1) if x.shape[-1] else x.new_zeros(x.shape[:-1])
    inverse, scales = _scales_of(amax, exponent)
    scaled = (x * inverse.unsqueeze(-1)).to(dtype, memory_format=torch.contiguous_format)
    return scaled, scales


def _scales_of(amax: Tensor, exponent: int) -> tuple[Tensor, Tensor]:
    """Reciprocals and scales, powers of two, for the largest values amax, fp32."""
    # The fp32 exponent of amax, one more where its mantissa is above 1.75: (1.75, 2) carries.
    biased = (amax.view(torch.int32) + 0x1FFFFF) >> 23
    biased = (biased - exponent).clamp_(1, 253)
    bad = ~torch.isfinite(amax)
    inverse = _power_of_two(254 - biased).masked_fill_(bad, 0.0)
    return inverse, _power_of_two(biased).masked_fill_(bad, torch.nan)


def fake_quantize_fp8(x: Tensor, format: FP8Format = "e4m3") -> Tensor:
    """The values x, of shape (..., K), would have after FP8 with a scale for each row."""
    codes, scales = quantize_fp8_rows(x, format)
    return _decoded(codes, scales.unsqueeze(-1)).to(x.dtype)


def linear_fp8(
    x: Tensor,
    weight: FP8Tensor,
    bias: Tensor | None = None,
    *,
    operand: list[Tensor] | None = None,
    gradients: FP8Format = "e5m2",
    backend: str | None = None,
) -> Tensor:
    """y = x @ weight.T + bias, differentiable in x, both ways in FP8.

    Args:
        x: (..., K) fp32, bf16 or fp16.
        weight: (N, K).
        bias: (N,), frozen.
        operand: what ``quantize_fp8_operand(x)`` returned, where several Linears read the same x.
        gradients: the format dY is rounded to.
        backend: "reference" (rounded bit for bit, products in fp32); on a GPU "rowwise" or
            "tensorwise", which say how ``scaled_mm`` is asked; None takes what ``choose_backend``
            says.
    Returns:
        (..., N) in x's dtype, rounded to BF16.
    Raises:
        ValueError: x and the weight do not fit, or no such format of gradients.
    """
    if x.shape[-1] != weight.shape[1]:
        raise ValueError(
            f"x has {x.shape[-1]} features and the weight (N, K) = {weight.shape}; K must agree"
        )
    if gradients not in get_args(FP8Format):
        raise ValueError(f"gradients is {gradients!r}; choose from {', '.join(_FORMATS)}")
    backend = backend or choose_backend(x.device, "fp8").name
    if operand is None:
        operand = quantize_fp8_operand(x, backend=backend)
    return _linear(x, operand, weight.codes, weight.scale, bias, gradients, backend)


def quantize_fp8_operand(x: Tensor, *, backend: str | None = None) -> list[Tensor]:
    """An activation as the backend multiplies it: [x_hat], or [codes, row scales]. No gradient."""
    backend = backend or choose_backend(x.device, "fp8").name
    return _operand(x.detach(), "e4m3", backend == "reference")


@torch.library.custom_op("fp4_playground::fp8_operand", mutates_args=())
def _operand(x: Tensor, format: str, decoded: bool) -> list[Tensor]:
    if decoded:
        return [fake_quantize_fp8(x, format)]
    return list(quantize_fp8_rows(x.reshape(-1, x.shape[-1]), format))


@_operand.register_fake
def _(x: Tensor, format: str, decoded: bool) -> list[Tensor]:
    if decoded:
        return [torch.empty_like(x, memory_format=torch.contiguous_format)]
    m, k = x.numel() // x.shape[-1], x.shape[-1]
    return [x.new_empty(m, k, dtype=_FORMATS[format].dtype), x.new_empty(m, dtype=torch.float32)]


@torch.library.custom_op("fp4_playground::linear_fp8", mutates_args=())
def _linear(
    x: Tensor,
    operand: list[Tensor],
    codes: Tensor,
    scale: Tensor,
    bias: Tensor | None,
    gradients: str,
    backend: str,
) -> Tensor:
    if backend == "reference":
        bias = None if bias is None else bias.to(torch.float32)
        y = F.linear(operand[0].to(torch.float32), _decoded(codes, scale), bias)
        return round_to(y, "bf16").to(x.dtype)
    y = _product(*operand, codes, scale, bias, backend)
    return y.to(x.dtype).view(*x.shape[:-1], -1)


@_linear.register_fake
def _(x, operand, codes, *others) -> Tensor:  # noqa: ANN001, ANN002
    return x.new_empty(*x.shape[:-1], codes.shape[0])


@torch.library.custom_op("fp4_playground::linear_fp8_dgrad", mutates_args=())
def _linear_dgrad(dy: Tensor, codes: Tensor, scale: Tensor, gradients: str, backend: str) -> Tensor:
    rows = dy.to(torch.bfloat16)  # as it is on hardware
    if backend == "reference":
        left = fake_quantize_fp8(rows.to(torch.float32), gradients)
        return round_to(left @ _decoded(codes, scale), "bf16").to(dy.dtype)
    left = quantize_fp8_rows(rows.reshape(-1, dy.shape[-1]), gradients)
    # FP8 units before Blackwell want K last in both operands, so the codes are turned at use.
    dx = _product(*left, codes.t().contiguous(), scale, None, backend)
    return dx.to(dy.dtype).view(*dy.shape[:-1], -1)


@_linear_dgrad.register_fake
def _(dy, codes, *others) -> Tensor:  # noqa: ANN001, ANN002
    return dy.new_empty(*dy.shape[:-1], codes.shape[1])


def _save(ctx, inputs, output) -> None:  # noqa: ANN001
    _, operand, codes, scale, _, *ctx.options = inputs
    ctx.operands = len(operand)
    ctx.save_for_backward(codes, scale)  # not x: dgrad needs dY and the weight only


def _backward(ctx, dy: Tensor):  # noqa: ANN001, ANN202
    dx = _linear_dgrad(dy, *ctx.saved_tensors, *ctx.options)
    return dx, [None] * ctx.operands, *[None] * 5


_linear.register_autograd(_backward, setup_context=_save)


def _product(
    a: Tensor, a_scales: Tensor, b: Tensor, b_scale: Tensor, bias: Tensor | None, backend: str
) -> Tensor:
    """(a * a_scales) @ (b * b_scale).T + bias on FP8 tensor cores: (M, K) x (N, K) -> (M, N) bf16.

    "rowwise" hands all scales over. "tensorwise", which cuBLASLt serves on every GPU with FP8
    units, multiplies the rows' scales in afterwards: exact, since they are powers of two.
    """
    from torch.nn.functional import ScalingType, scaled_mm

    if backend == "rowwise":
        recipe = ScalingType.RowWise
        scale_a, scale_b = a_scales.unsqueeze(1), b_scale.expand(1, b.shape[0]).contiguous()
    else:
        recipe = ScalingType.TensorWise
        scale_a, scale_b = torch.ones_like(b_scale), b_scale
    y = scaled_mm(
        a,
        b.t(),
        scale_a=scale_a,
        scale_recipe_a=recipe,
        scale_b=scale_b,
        scale_recipe_b=recipe,
        output_dtype=torch.bfloat16 if bias is None else torch.float32,
        use_fast_accum=False,  # Hopper's fast sums keep 14 bits only
    )
    if backend != "rowwise":
        y *= a_scales.unsqueeze(1)
    return y if bias is None else y.add_(bias).to(torch.bfloat16)


def _decoded(codes: Tensor, scale: Tensor) -> Tensor:
    """codes * scale in fp32, exact. scale: (), or (..., 1) one for each row."""
    return fp8_values(codes, scale) if scale.dim() == 0 else fp8_values(codes).mul_(scale)


def _power_of_two(biased: Tensor) -> Tensor:
    """2^(biased - 127) from an fp32's exponent bits, 1 to 253."""
    return (biased << 23).view(torch.float32)


def _check(x: Tensor) -> None:
    if x.dtype not in INPUT_DTYPES or x.dim() == 0:
        raise ValueError(
            f"x is {x.dtype} with {x.dim()} dimensions; FP8 quantisation takes rows of float32, "
            "bfloat16 or float16"
        )
