"""fprop and dgrad of a frozen Linear in 4 bits, as custom operators that torch.compile understands.

    fprop    y = x @ W.T     the activation quantised (W4A4) or not (W4A16)
    dgrad    dx = dy @ W     through the decoded forward weight, or both operands in FP4
    wgrad    there is none: under LoRA the base weight is frozen

Four recipes; NVFP4's are after NVIDIA (arXiv 2509.25149) and MLPerf Training v5.1's
llama2_70b_lora:

    nvfp4              activations 1x16; dgrad decodes the forward weight, dY in 16 bits
    nvfp4-2d           the weight scaled in 16x16 tiles, so that its transpose rounds alike; FP4
                       products both ways, dY rounded stochastically
    nvfp4-weight-only  16-bit activations and gradients both ways
    mxfp4              as nvfp4, with 32 values to a scale and a power of two for a scale

Quantising is an operator of its own with nothing but tensors in and out: in eager mode a caller
quantises once and passes the result to q, k and v; under torch.compile identical calls are merged.

A backend is chosen outside the operators and named to them, so a compiled graph is of one backend:

    reference   formats emulated: operands rounded bit for bit, products in fp32
    native      FP4 tensor cores, by our kernel;  cublas  the same by cuBLASLt
    decoded     weight-only: the packed weight decoded in registers, 16-bit products
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from .dispatch import FP4Recipe, choose_backend
from .format import SCALE_BLOCK, NVFP4Tensor, check_input, swizzle_scales
from .mxfp4 import MX_BLOCK, MXFP4Tensor, PackedTensor, fake_quantize_mxfp4, packed
from .reference import Rounding, fake_quantize_nvfp4
from .rounding import round_to
from .scales import ScaleRule

Compute = Literal["bf16", "fp16"]
_FP4 = ("native", "cublas")
_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def linear_fp4(
    x: Tensor,
    weight: PackedTensor,
    bias: Tensor | None = None,
    *,
    recipe: FP4Recipe = "nvfp4",
    operand: list[Tensor] | None = None,
    tiled_scales: Tensor | None = None,
    rounding: Rounding = "stochastic",
    seed: Tensor | None = None,
    compute: Compute = "bf16",
    backend: str | None = None,
) -> Tensor:
    """y = x @ weight.T + bias, differentiable in x.

    Args:
        x: (..., K) fp32, bf16 or fp16.
        weight: (N, K) in the recipe's format; for ``nvfp4-2d`` with 2D scaling, N a multiple of 16.
        bias: (N,), frozen.
        operand: what ``quantize_activation(x, recipe=recipe)`` returned, where several Linears
            read the same x; None quantises x here.
        tiled_scales: ``swizzle_scales(weight.block_scales)``, made once, for FP4 tensor cores;
            None makes them here.
        rounding: of dY in ``nvfp4-2d``; the other recipes do not round it to 4 bits.
        seed: (1,) int64, for the stochastic rounding of dY: change it every step.
        compute: the 16-bit type of results and of 16-bit operands.
        backend: None takes what ``choose_backend`` says.
    Returns:
        (..., N) in x's dtype.
    Raises:
        ValueError: an operand does not fit, an unknown recipe or a weight not in its format,
            or ``nvfp4-2d`` without the seed that its rounding needs.
    """
    _check(x, weight, recipe, rounding, seed)
    backend = backend or choose_backend(x.device, recipe).name
    if operand is None:
        weight_only = recipe == "nvfp4-weight-only"
        operand = [] if weight_only else quantize_activation(x, recipe=recipe, backend=backend)
    if tiled_scales is None and backend in _FP4:
        tiled_scales = swizzle_scales(weight.block_scales)
    dgrad = "fp4" if recipe == "nvfp4-2d" else "decoded"
    seed = seed if rounding == "stochastic" else None
    parts = (weight.codes, weight.block_scales, weight.tensor_scale, tiled_scales)
    return _linear(x, operand, *parts, bias, seed, dgrad, compute, backend)


def quantize_activation(
    x: Tensor,
    *,
    recipe: FP4Recipe = "nvfp4",
    scale_rule: ScaleRule = "amax",
    backend: str | None = None,
) -> list[Tensor]:
    """x rounded in blocks along K, once for all Linears that read it. No gradient.

    Args:
        scale_rule: how NVFP4 chooses a block's scale; MXFP4 knows only its own way.
    Returns:
        What the backend multiplies: [x_hat], like x, or [codes, tiled scales, tensor scale], where
        MXFP4 has no tensor scale.
    """
    backend = backend or choose_backend(x.device, recipe).name
    group = MX_BLOCK if recipe == "mxfp4" else SCALE_BLOCK
    if backend in _FP4:
        return _quantize(x.detach(), group, scale_rule, None)
    return [_fake_quantize(x.detach(), group, scale_rule, None)]


def _check(
    x: Tensor, weight: PackedTensor, recipe: str, rounding: str, seed: Tensor | None
) -> None:
    if recipe not in get_args(FP4Recipe):
        raise ValueError(f"recipe is {recipe!r}; choose from {', '.join(get_args(FP4Recipe))}")
    wanted = MXFP4Tensor if recipe == "mxfp4" else NVFP4Tensor
    if not isinstance(weight, wanted):
        raise ValueError(
            f"weight is a {type(weight).__name__}, but the recipe {recipe} needs an "
            f"{wanted.__name__}: pack it with quantize_{wanted.__name__[:5].lower()}"
        )
    check_input(x, weight.group)
    n, k = weight.shape
    if x.shape[-1] != k:
        raise ValueError(
            f"x has {x.shape[-1]} features and the weight (N, K) = ({n}, {k}); K must agree"
        )
    if recipe != "nvfp4-2d":
        return
    if n % SCALE_BLOCK:
        raise ValueError(
            f"N is {n}, but nvfp4-2d sums dgrad over N in blocks of {SCALE_BLOCK}; use the recipe "
            "nvfp4 for this layer"
        )
    if seed is None and rounding == "stochastic":
        raise ValueError("seed is None; nvfp4-2d rounds dY stochastically: pass a (1,) int64 seed")


@torch.library.custom_op("fp4_playground::fake_quantize", mutates_args=())
def _fake_quantize(x: Tensor, group: int, scale_rule: str, seed: Tensor | None) -> Tensor:
    if group == MX_BLOCK:
        return fake_quantize_mxfp4(x)
    finite = torch.aminmax(x) if x.numel() else ()
    if not all(torch.isfinite(end) for end in finite):
        # One NaN takes the tensor scale with it, as on hardware; the loss will show it.
        return torch.full_like(x, torch.nan)
    if seed is None:
        return fake_quantize_nvfp4(x, scale_rule=scale_rule)
    drawn = int(seed) % 2**64
    return fake_quantize_nvfp4(x, scale_rule=scale_rule, rounding="stochastic", seed=drawn)


@_fake_quantize.register_fake
def _(x: Tensor, group: int, scale_rule: str, seed: Tensor | None) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.custom_op("fp4_playground::quantize", mutates_args=())
def _quantize(x: Tensor, group: int, scale_rule: str, seed: Tensor | None) -> list[Tensor]:
    from .quantize import quantize_nvfp4_triton
    from .quantize_mx import quantize_mxfp4_triton

    rows = x.reshape(-1, x.shape[-1])
    if group == MX_BLOCK:
        return list(quantize_mxfp4_triton(rows, swizzled=True))
    return list(quantize_nvfp4_triton(rows, scale_rule=scale_rule, seed=seed, swizzled=True))


@_quantize.register_fake
def _(x: Tensor, group: int, scale_rule: str, seed: Tensor | None) -> list[Tensor]:
    m, k = x.numel() // x.shape[-1], x.shape[-1]
    tiles = ((m + 127) // 128) * ((k + 4 * group - 1) // (4 * group))
    codes = x.new_empty(m, k // 2, dtype=torch.uint8)
    if group == MX_BLOCK:
        return [codes, x.new_empty(tiles * 512, dtype=torch.uint8)]
    scales = x.new_empty(tiles * 512, dtype=torch.float8_e4m3fn)
    return [codes, scales, x.new_empty((), dtype=torch.float32)]


@torch.library.custom_op("fp4_playground::linear", mutates_args=())
def _linear(
    x: Tensor,
    operand: list[Tensor],
    codes: Tensor,
    block_scales: Tensor,
    tensor_scale: Tensor | None,
    tiled_scales: Tensor | None,
    bias: Tensor | None,
    seed: Tensor | None,
    dgrad: str,
    compute: str,
    backend: str,
) -> Tensor:
    q = packed(codes, block_scales, tensor_scale)
    if backend == "reference":
        left = operand[0].to(torch.float32) if operand else round_to(x, compute)
        y = F.linear(left, q.dequantize(), None if bias is None else bias.to(torch.float32))
        return round_to(y, compute).to(x.dtype)
    from .matmul import matmul_decoded, matmul_fp4

    if backend == "decoded":
        left = (operand[0] if operand else x).reshape(-1, x.shape[-1])
        y = matmul_decoded(left.to(_DTYPES[compute]), q, bias=bias)
    else:
        w = (codes, tiled_scales, tensor_scale)
        y = matmul_fp4(_operand(operand), w, bias=bias, dtype=_DTYPES[compute], backend=backend)
    return y.to(x.dtype).view(*x.shape[:-1], -1)


@_linear.register_fake
def _(x, operand, codes, *others) -> Tensor:  # noqa: ANN001, ANN002
    return x.new_empty(*x.shape[:-1], codes.shape[0])


@torch.library.custom_op("fp4_playground::linear_dgrad", mutates_args=())
def _linear_dgrad(
    dy: Tensor,
    codes: Tensor,
    block_scales: Tensor,
    tensor_scale: Tensor | None,
    seed: Tensor | None,
    dgrad: str,
    compute: str,
    backend: str,
) -> Tensor:
    q = packed(codes, block_scales, tensor_scale)
    if backend == "reference":
        left = round_to(dy, compute)
        left = _fake_quantize(left, SCALE_BLOCK, "amax", seed) if dgrad == "fp4" else left
        return round_to(left @ q.dequantize(), compute).to(dy.dtype)
    from .dequantize import transpose_nvfp4_2d
    from .matmul import matmul_decoded, matmul_fp4, native_operand

    rows = dy.reshape(-1, dy.shape[-1]).to(_DTYPES[compute])
    if dgrad == "fp4" and backend in _FP4:
        left = _quantize(rows, SCALE_BLOCK, "amax", seed)
        right = native_operand(transpose_nvfp4_2d(q))
        dx = matmul_fp4(_operand(left), right, dtype=_DTYPES[compute], backend=backend)
    else:
        rows = _fake_quantize(rows, SCALE_BLOCK, "amax", seed) if dgrad == "fp4" else rows
        dx = matmul_decoded(rows, q, transposed=True)
    return dx.to(dy.dtype).view(*dy.shape[:-1], -1)


@_linear_dgrad.register_fake
def _(dy, codes, *others) -> Tensor:  # noqa: ANN001, ANN002
    return dy.new_empty(*dy.shape[:-1], codes.shape[1] * 2)


def _save(ctx, inputs, output) -> None:  # noqa: ANN001
    _, operand, codes, block_scales, tensor_scale, _, _, seed, *ctx.options = inputs
    ctx.operands = len(operand)
    # Not x: dgrad needs dY and the packed weight only.
    ctx.save_for_backward(codes, block_scales, tensor_scale, seed)


def _backward(ctx, dy: Tensor):  # noqa: ANN001, ANN202
    dx = _linear_dgrad(dy, *ctx.saved_tensors, *ctx.options)
    return dx, [None] * ctx.operands, *[None] * 9


_linear.register_autograd(_backward, setup_context=_save)


def _operand(parts: list[Tensor]) -> tuple[Tensor, Tensor, Tensor | None]:
    """What ``_quantize`` returned, as ``matmul_fp4`` takes it."""
    codes, scales, *tensor_scale = parts
    return codes, scales, tensor_scale[0] if tensor_scale else None
