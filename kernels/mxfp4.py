"""MXFP4, for comparison: the same E2M1 values, but 32 to a block and a power of two for a scale.

    exponent = floor(log2(block_amax)) - 2        clamped to -127 .. 127; 2 is E2M1's own largest
    code     = e2m1(x / 2^exponent)               ties to even, saturating at 6
    x_hat    = E2M1[code] * 2^exponent

4 + 8/32 = 4.25 bits a value, and no tensor scale: E8M0 spans fp32's whole range. A block's largest
value lands anywhere from 4 to 8 and above 6 it saturates: MXFP4 errs half as much again as NVFP4.
(Open Compute Project, Microscaling Formats specification 1.0.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from .dispatch import check_backend
from .format import (
    NVFP4Tensor,
    check_decoded_dtype,
    check_input,
    check_matrix,
    check_parts,
    has_values,
    non_finite,
)
from .reference import CHUNK_VALUES, pack_codes, unpack_codes
from .rounding import round_e2m1
from .scales import block_amax

MX_BLOCK = 32
"""Consecutive values along K that share one E8M0 scale."""
MXFP4_BITS = 4 + 8 / MX_BLOCK
"""Bits a value takes, its share of the block scale included."""
E8M0_BIAS = 127
E8M0_NAN = 255
_E2M1_EXPONENT = 2


@dataclass(frozen=True, eq=False)
class MXFP4Tensor:
    """A matrix packed in MXFP4.

    Attributes:
        codes: (M, K // 2) uint8, two E2M1 codes to a byte, the even column in the low nibble.
        block_scales: (M, K // 32) uint8, E8M0: the byte b stands for 2^(b - 127), 255 for NaN.
        shape: (M, K).
        tensor_scale: none; here so that both formats are read alike.
        group: values to a block scale.
    Raises:
        ValueError: the parts do not fit together; the message says which and how.
    """

    codes: torch.Tensor
    block_scales: torch.Tensor
    shape: tuple[int, int]
    tensor_scale: ClassVar[None] = None
    group: ClassVar[int] = MX_BLOCK

    def __post_init__(self) -> None:
        m, k = self.shape
        wanted = {
            "codes": (torch.uint8, (m, k // 2)),
            "block_scales": (torch.uint8, (m, k // MX_BLOCK)),
        }
        check_parts(self, wanted, "an MXFP4 tensor", "quantize_mxfp4")

    @property
    def device(self) -> torch.device:
        return self.codes.device

    @property
    def nbytes(self) -> int:
        """Bytes in memory: 4.25 bits a value."""
        return self.codes.numel() + self.block_scales.numel()

    def dequantize(self, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """The (M, K) values this tensor stands for, rounded once to ``dtype``."""
        return dequantize_mxfp4(self, dtype)

    def to(self, device: torch.device | str) -> MXFP4Tensor:
        """The same tensor on another device."""
        return MXFP4Tensor(self.codes.to(device), self.block_scales.to(device), self.shape)


PackedTensor = NVFP4Tensor | MXFP4Tensor


def packed(
    codes: torch.Tensor, block_scales: torch.Tensor, tensor_scale: torch.Tensor | None
) -> PackedTensor:
    """The tensor that parts belong to: without a tensor scale they are MXFP4's."""
    shape = (codes.shape[0], codes.shape[1] * 2)
    if tensor_scale is None:
        return MXFP4Tensor(codes, block_scales, shape)
    return NVFP4Tensor(codes, block_scales, tensor_scale, shape)


def quantize_mxfp4(x: torch.Tensor, *, backend: str | None = None) -> MXFP4Tensor:
    """Packs a matrix in MXFP4.

    Args:
        x: (M, K) fp32, bf16 or fp16, any strides, K a multiple of 32.
        backend: "reference" or "triton", which return the same bytes; None takes what suits x.
    Raises:
        ValueError: wrong dtype or shape, K no multiple of 32, NaN or inf in x (with the count; a
            GPU is not waited for to find them: they get a NaN scale, as in an activation).
    """
    check_input(x, MX_BLOCK)
    check_matrix(x)
    if check_backend(backend, x.device) == "triton":
        from .quantize_mx import quantize_mxfp4_triton

        return MXFP4Tensor(*quantize_mxfp4_triton(x), tuple(x.shape))
    m, k = x.shape
    codes, scales = (x.new_empty(m, k // n, dtype=torch.uint8) for n in (2, MX_BLOCK))
    if not has_values(x):
        return MXFP4Tensor(codes, scales, (m, k))
    if bad := non_finite(x):
        raise ValueError(
            f"{bad} of {x.numel()} values are NaN or inf, which 4 bits cannot hold; find where "
            "they arise, or leave this layer in 16 bits"
        )
    rows = max(CHUNK_VALUES // max(k, 1), 1)  # in chunks, for rounding takes three fp32 copies
    for start in range(0, m, rows):
        part = slice(start, start + rows)
        values, scales[part] = _round_blocks(x.detach()[part])
        pack_codes(values, out=codes[part])
    return MXFP4Tensor(codes, scales, (m, k))


def dequantize_mxfp4(
    q: MXFP4Tensor, dtype: torch.dtype = torch.float32, *, backend: str | None = None
) -> torch.Tensor:
    """The (M, K) values of a packed tensor, rounded once to ``dtype``.

    Raises:
        ValueError: ``dtype`` is not fp32, bf16 or fp16.
    """
    check_decoded_dtype(dtype)
    if check_backend(backend, q.device) == "triton":
        from .dequantize import dequantize_triton

        return dequantize_triton(q, dtype)
    return _scaled(unpack_codes(q.codes), q.block_scales).to(dtype)


def fake_quantize_mxfp4(x: torch.Tensor) -> torch.Tensor:
    """The values x, of shape (..., K), would have after MXFP4, without packing them.

    A block with a NaN or inf becomes NaN, as on hardware, so that it shows in the product.
    """
    check_input(x, MX_BLOCK)
    values, byte = _round_blocks(x)
    return _scaled(values, byte).to(x.dtype).view(x.shape)


def matmul_mxfp4(
    a: MXFP4Tensor, b: MXFP4Tensor, *, dtype: torch.dtype = torch.float32
) -> torch.Tensor:
    """a @ b.T with both operands in MXFP4: (M, K) x (N, K) -> (M, N), sums in fp32, cast last.

    Raises:
        ValueError: the operands' K differ.
    """
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"a is {a.shape} and b is {b.shape}; their last dimension, K, must agree")
    return (dequantize_mxfp4(a) @ dequantize_mxfp4(b).T).to(dtype)


def fake_quantize_e8m0(x: torch.Tensor, block: int) -> torch.Tensor:
    """As ``fake_quantize_mxfp4``, in blocks of another size: (..., K) -> the same, K its multiple.

    No format that anybody stores; it tells what MXFP4's block size costs, apart from its scale.
    """
    check_input(x, block)
    values, byte = _round_blocks(x, block)
    return _scaled(values, byte, block).to(x.dtype).view(x.shape)


def divide_by_e8m0(x: torch.Tensor, byte: torch.Tensor, block: int = MX_BLOCK) -> torch.Tensor:
    """x (..., K), fp32, over its blocks' scales of E8M0 bytes (..., K // block): exact."""
    blocks = x.view(*byte.shape, block)
    inverse = _power_of_two(2 * E8M0_BIAS - byte.to(torch.int32))
    return (blocks * inverse.unsqueeze(-1)).view(x.shape)


def e8m0_values(byte: torch.Tensor) -> torch.Tensor:
    """What E8M0 bytes mean: fp32, 2^(byte - 127), NaN for 255."""
    scale = _power_of_two(byte.to(torch.int32))
    return scale.masked_fill_(byte == E8M0_NAN, torch.nan)


def _round_blocks(x: torch.Tensor, block: int = MX_BLOCK) -> tuple[torch.Tensor, torch.Tensor]:
    """E2M1 values, like x and fp32, and E8M0 bytes (..., K // block)."""
    x = x.to(torch.float32).contiguous()
    amax = block_amax(x.view(*x.shape[:-1], x.shape[-1] // block, block))
    # An fp32's exponent bits are floor(log2) + 127 already; those of zeros and subnormals are 0.
    exponent = amax.view(torch.int32) >> 23
    byte = (exponent - _E2M1_EXPONENT).clamp_(min=0)
    values = round_e2m1(divide_by_e8m0(x, byte, block))
    return values, byte.masked_fill_(exponent == 255, E8M0_NAN).to(torch.uint8)


def _scaled(values: torch.Tensor, byte: torch.Tensor, block: int = MX_BLOCK) -> torch.Tensor:
    """Values (..., K) times their blocks' scales, in place."""
    values.view(*byte.shape, block).mul_(e8m0_values(byte).unsqueeze(-1))
    return values


def _power_of_two(byte: torch.Tensor) -> torch.Tensor:
    """2^(byte - 127) of int32 bytes, by its bits: exact on every device. 0 is fp32's subnormal."""
    return torch.where(byte == 0, 1 << 22, byte << 23).view(torch.float32)
