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

import torch

from .format import check_input, check_matrix
from .reference import pack_codes, unpack_codes
from .rounding import round_e2m1

MX_BLOCK = 32
"""Consecutive values along K that share one E8M0 scale."""
E8M0_BIAS = 127
_E2M1_EXPONENT = 2


@dataclass(frozen=True, eq=False)
class MXFP4Tensor:
    """A matrix packed in MXFP4.

    Attributes:
        codes: (M, K // 2) uint8, two E2M1 codes to a byte, the even column in the low nibble.
        block_scales: (M, K // 32) uint8, E8M0: the byte b stands for 2^(b - 127).
        shape: (M, K).
    """

    codes: torch.Tensor
    block_scales: torch.Tensor
    shape: tuple[int, int]

    @property
    def nbytes(self) -> int:
        """Bytes in memory: 4.25 bits a value."""
        return self.codes.numel() + self.block_scales.numel()

    def dequantize(self, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """The (M, K) values this tensor stands for, rounded once to ``dtype``."""
        return dequantize_mxfp4(self, dtype)


def quantize_mxfp4(x: torch.Tensor) -> MXFP4Tensor:
    """Packs a matrix in MXFP4, in plain PyTorch on any device.

    Args:
        x: (M, K) fp32, bf16 or fp16, any strides, K a multiple of 32.
    Raises:
        ValueError: wrong dtype or shape, K no multiple of 32, NaN or inf in x (with the count).
    """
    check_input(x, MX_BLOCK)
    check_matrix(x)
    values, byte = _round_blocks(x)
    return MXFP4Tensor(pack_codes(values), byte, (x.shape[0], x.shape[1]))


def dequantize_mxfp4(q: MXFP4Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The (M, K) values of a packed tensor, rounded once to ``dtype``."""
    return _scaled(unpack_codes(q.codes), q.block_scales).to(dtype)


def fake_quantize_mxfp4(x: torch.Tensor) -> torch.Tensor:
    """The values x, of shape (..., K), would have after MXFP4, without packing them."""
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


def _round_blocks(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """E2M1 values, like x and fp32, and E8M0 bytes (M, K // 32)."""
    blocks = x.to(torch.float32).reshape(*x.shape[:-1], x.shape[-1] // MX_BLOCK, MX_BLOCK)
    amax = blocks.abs().amax(-1) if blocks.numel() else blocks.new_zeros(blocks.shape[:-1])
    if not torch.isfinite(amax).all():
        bad = x.numel() - int(torch.isfinite(x).sum())
        raise ValueError(
            f"{bad} of {x.numel()} values are NaN or inf, which 4 bits cannot hold; find where "
            "they arise, or leave this layer in 16 bits"
        )
    # An fp32's exponent bits are floor(log2) + 127 already; those of zeros and subnormals are 0.
    byte = ((amax.contiguous().view(torch.int32) >> 23) - _E2M1_EXPONENT).clamp_(0, 2 * E8M0_BIAS)
    y = blocks * _power_of_two(2 * E8M0_BIAS - byte).unsqueeze(-1)
    return round_e2m1(y.view(x.shape)), byte.to(torch.uint8)


def _scaled(values: torch.Tensor, byte: torch.Tensor) -> torch.Tensor:
    scale = _power_of_two(byte.to(torch.int32)).unsqueeze(-1)
    return (values.view(*byte.shape, MX_BLOCK) * scale).view(values.shape)


def _power_of_two(byte: torch.Tensor) -> torch.Tensor:
    """2^(byte - 127) of int32 bytes, by its bits: exact on every device. 0 is fp32's subnormal."""
    return torch.where(byte == 0, 1 << 22, byte << 23).view(torch.float32)
