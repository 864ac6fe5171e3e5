"""NF4: sixteen values placed where a normal distribution has its mass, and an fp32 scale to 64.

    scale = absmax of 64 consecutive values
    code  = the nearest of the sixteen to x / scale      ties to the lower
    x_hat = NF4[code] * scale

4 + 32/64 = 4.5 bits a value. The table is that of QLoRA (Dettmers et al., arXiv 2305.14314,
appendix E); layout and rounding are bitsandbytes', whose quantiser returns the same bytes. No
hardware multiplies such values: a weight is decoded to 16 bits and the product is a 16-bit one.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from .dispatch import choose_backend
from .format import INPUT_DTYPES, check_decoded_dtype, check_parts, has_values, non_finite
from .rounding import round_to

NF4_BLOCK = 64
"""Consecutive values, row after row, that share one fp32 scale."""
NF4_BITS = 4 + 32 / NF4_BLOCK
NF4_VALUES = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip
"""What each of the codes 0..15 means; 7 is zero."""

_ZERO = 7
_CHUNK_BLOCKS = 1 << 13  # half a million values: a chunk in fp32 stays in the cache


@dataclass(frozen=True, eq=False)
class NF4Tensor:
    """A matrix packed in NF4, as bitsandbytes lays it out.

    Attributes:
        codes: (ceil(M * K / 2),) uint8, two codes to a byte, the first in the **high** nibble.
        absmax: (ceil(M * K / 64),) float32, one for 64 consecutive values, rows end to end; where
            K is no multiple of 64, a block spans rows.
        shape: (M, K) of the matrix that was packed.
    Raises:
        ValueError: the parts do not fit together; the message says which and how.
    """

    codes: Tensor
    absmax: Tensor
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        values = self.shape[0] * self.shape[1]
        wanted = {
            "codes": (torch.uint8, (-(-values // 2),)),
            "absmax": (torch.float32, (-(-values // NF4_BLOCK),)),
        }
        check_parts(self, wanted, "an NF4 tensor", "quantize_nf4")

    @property
    def device(self) -> torch.device:
        return self.codes.device

    @property
    def nbytes(self) -> int:
        """Bytes in memory: 4.5 bits a value."""
        return self.codes.numel() + 4 * self.absmax.numel()

    def dequantize(self, dtype: torch.dtype = torch.float32) -> Tensor:
        """The (M, K) values this tensor stands for, rounded once to ``dtype``."""
        return dequantize_nf4(self, dtype)


def quantize_nf4(x: Tensor) -> NF4Tensor:
    """Packs a matrix in NF4.

    Args:
        x: (M, K) fp32, bf16 or fp16, any strides.
    Raises:
        ValueError: wrong dtype or dimensions, NaN or inf in x (with the count).
    """
    if x.dtype not in INPUT_DTYPES or x.dim() != 2:
        raise ValueError(
            f"x is {x.dtype} with {x.dim()} dimensions; NF4 takes a matrix of float32, bfloat16 or "
            "float16"
        )
    if not has_values(x):
        codes = x.new_empty(-(-x.numel() // 2), dtype=torch.uint8)
        absmax = x.new_empty(-(-x.numel() // NF4_BLOCK), dtype=torch.float32)
        return NF4Tensor(codes, absmax, tuple(x.shape))
    if bad := non_finite(x):
        raise ValueError(
            f"{bad} of {x.numel()} values are NaN or inf, which 4 bits cannot hold; find where "
            "they arise, or leave this layer in 16 bits"
        )
    flat, chunk = x.detach().reshape(-1), _CHUNK_BLOCKS * NF4_BLOCK
    starts = range(0, max(flat.numel(), 1), chunk)  # in chunks, for packing takes four fp32 copies
    parts = [_pack(flat[start : start + chunk].to(torch.float32)) for start in starts]
    codes, absmax = (torch.cat(part) for part in zip(*parts, strict=True))
    return NF4Tensor(codes, absmax, tuple(x.shape))


def _pack(flat: Tensor) -> tuple[Tensor, Tensor]:
    """Codes and scales of consecutive values, (n,) fp32, that begin a block."""
    blocks = F.pad(flat, (0, -flat.numel() % NF4_BLOCK)).view(-1, NF4_BLOCK)
    absmax = blocks.abs().amax(1)
    scaled = divide_by_absmax(blocks, absmax).clamp_(-1, 1)
    table = _table(flat.device)
    codes = torch.bucketize(scaled, (table[:-1] + table[1:]) / 2).to(torch.uint8).view(-1)
    codes = F.pad(codes[: flat.numel()], (0, flat.numel() % 2), value=_ZERO)
    return codes[0::2] << 4 | codes[1::2], absmax


def divide_by_absmax(blocks: Tensor, absmax: Tensor) -> Tensor:
    """Blocks (n, 64) over their scales (n,).

    The product with the reciprocal, not the quotient, as bitsandbytes does; finite for zeros.
    """
    return blocks * absmax.clamp(min=1e-38).reciprocal().unsqueeze(1)


def dequantize_nf4(q: NF4Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The (M, K) values of a packed tensor, computed in fp32 and rounded once to ``dtype``.

    Raises:
        ValueError: ``dtype`` is not fp32, bf16 or fp16.
    """
    check_decoded_dtype(dtype)
    m, k = q.shape
    out = torch.empty(m * k, dtype=dtype, device=q.device)
    for start in range(0, q.absmax.numel(), _CHUNK_BLOCKS):
        absmax = q.absmax[start : start + _CHUNK_BLOCKS].unsqueeze(1)
        byte = q.codes[NF4_BLOCK // 2 * start :][: NF4_BLOCK // 2 * absmax.numel()]
        pairs = torch.index_select(_pair_table(q.device), 0, byte.to(torch.int32))
        values = pairs.view(torch.float32)
        rows = out[NF4_BLOCK * start :][: values.numel()]
        if values.numel() % NF4_BLOCK:  # the last block of a matrix that has no whole number
            values = F.pad(values, (0, -values.numel() % NF4_BLOCK))
        values.view(-1, NF4_BLOCK).mul_(absmax)
        rows.copy_(values[: rows.numel()])
    return out.view(m, k)


def linear_nf4(
    x: Tensor, weight: NF4Tensor, bias: Tensor | None = None, *, backend: str | None = None
) -> Tensor:
    """y = x @ weight.T + bias, differentiable in x: the weight decoded to BF16, BF16 products.

    Args:
        x: (..., K) fp32, bf16 or fp16.
        weight: (N, K).
        bias: (N,), frozen.
        backend: "reference" (operands rounded to BF16, products in fp32); on a GPU "torch" or
            "bitsandbytes", which say who decodes; None takes what ``choose_backend`` says.
    Returns:
        (..., N) in x's dtype, rounded to BF16.
    """
    backend = backend or choose_backend(x.device, "nf4").name
    return _linear(x, weight.codes, weight.absmax, *weight.shape, bias, backend)


@torch.library.custom_op("fp4_playground::linear_nf4", mutates_args=())
def _linear(
    x: Tensor, codes: Tensor, absmax: Tensor, n: int, k: int, bias: Tensor | None, backend: str
) -> Tensor:
    w = _decoded(NF4Tensor(codes, absmax, (n, k)), backend)
    if backend == "reference":
        y = F.linear(round_to(x, "bf16"), w, None if bias is None else bias.to(torch.float32))
        return round_to(y, "bf16").to(x.dtype)
    return F.linear(x.to(w.dtype), w, None if bias is None else bias.to(w.dtype)).to(x.dtype)


@_linear.register_fake
def _(x, codes, absmax, n, *others) -> Tensor:  # noqa: ANN001, ANN002
    return x.new_empty(*x.shape[:-1], n)


@torch.library.custom_op("fp4_playground::linear_nf4_dgrad", mutates_args=())
def _linear_dgrad(
    dy: Tensor, codes: Tensor, absmax: Tensor, n: int, k: int, backend: str
) -> Tensor:
    w = _decoded(NF4Tensor(codes, absmax, (n, k)), backend)
    if backend == "reference":
        return round_to(round_to(dy, "bf16") @ w, "bf16").to(dy.dtype)
    return (dy.to(w.dtype) @ w).to(dy.dtype)


@_linear_dgrad.register_fake
def _(dy, codes, absmax, n, k, backend) -> Tensor:  # noqa: ANN001
    return dy.new_empty(*dy.shape[:-1], k)


def _save(ctx, inputs, output) -> None:  # noqa: ANN001
    _, codes, absmax, ctx.n, ctx.k, _, ctx.backend = inputs
    ctx.save_for_backward(codes, absmax)


def _backward(ctx, dy: Tensor):  # noqa: ANN001, ANN202
    return _linear_dgrad(dy, *ctx.saved_tensors, ctx.n, ctx.k, ctx.backend), *[None] * 6


_linear.register_autograd(_backward, setup_context=_save)


def _decoded(q: NF4Tensor, backend: str) -> Tensor:
    """The weight in BF16; for the reference the same values in fp32."""
    if backend == "reference":
        return dequantize_nf4(q, torch.bfloat16).to(torch.float32)
    if backend == "torch":
        return dequantize_nf4(q, torch.bfloat16)
    from bitsandbytes.functional import QuantState, dequantize_4bit

    state = QuantState(
        q.absmax,
        shape=torch.Size(q.shape),
        code=_table(q.device),
        blocksize=NF4_BLOCK,
        quant_type="nf4",
        dtype=torch.bfloat16,
    )
    return dequantize_4bit(q.codes.unsqueeze(1), state)


@functools.cache
def _table(device: torch.device) -> Tensor:
    return torch.tensor(NF4_VALUES, dtype=torch.float32, device=device)


@functools.cache
def _pair_table(device: torch.device) -> Tensor:
    """(256,) int64: both fp32 values of a byte as one word, so that one look-up moves both."""
    values, byte = _table(torch.device("cpu")), torch.arange(256)
    return torch.stack([values[byte >> 4], values[byte & 15]], 1).view(torch.int64)[:, 0].to(device)
