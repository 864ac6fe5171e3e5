"""NVFP4, the format: its constants, its sixteen values, and the tensor that holds it packed.

A value is a 4-bit E2M1 code times the E4M3 scale of its block of 16 neighbours along K (the
contraction dimension) times one fp32 scale of the whole tensor:

    x_hat = E2M1[code] * float(block_scale) * tensor_scale

That is 4 + 8/16 = 4.5 bits a value. ``README.md`` beside this file draws it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch._subclasses.fake_tensor import FakeTensor

E2M1_MAX = 6.0
E4M3_MAX = 448.0
FLT_MAX = torch.finfo(torch.float32).max
SCALE_BLOCK = 16
"""Consecutive values along K that share one E4M3 scale."""
NVFP4_BITS = 4 + 8 / SCALE_BLOCK
"""Bits a value takes, its share of the block scale included."""

E2M1_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
E2M1_VALUES = (*E2M1_MAGNITUDES, *(-v for v in E2M1_MAGNITUDES))
"""What each of the codes 0..15 means: bit 3 is the sign, so code 8 is -0. No inf, no NaN."""

INPUT_DTYPES = (torch.float32, torch.bfloat16, torch.float16)


@dataclass(frozen=True, eq=False)
class NVFP4Tensor:
    """A matrix packed in NVFP4, blocks along its last dimension.

    Attributes:
        codes: (M, K // 2) uint8, two E2M1 codes to a byte, the even column in the low nibble.
        block_scales: (M, K // 16) float8_e4m3fn. With 2D scaling the scale of a 16x16 tile stands
            in each of its rows, so that every reader needs to know one layout only.
        tensor_scale: () float32, multiplies on decode (amax / 2688 for the rule ``amax``). Other
            libraries store its reciprocal under a similar name.
        shape: (M, K) of the matrix that was packed.
        group: values to a block scale.
    Raises:
        ValueError: the parts do not fit together; the message says which and how.
    """

    codes: torch.Tensor
    block_scales: torch.Tensor
    tensor_scale: torch.Tensor
    shape: tuple[int, int]
    group: ClassVar[int] = SCALE_BLOCK

    def __post_init__(self) -> None:
        m, k = self.shape
        wanted = {
            "codes": (torch.uint8, (m, k // 2)),
            "block_scales": (torch.float8_e4m3fn, (m, k // SCALE_BLOCK)),
            "tensor_scale": (torch.float32, ()),
        }
        check_parts(self, wanted, "an NVFP4 tensor", "quantize_nvfp4")

    @property
    def device(self) -> torch.device:
        return self.codes.device

    @property
    def nbytes(self) -> int:
        """Bytes in memory: 4.5 bits a value and 4 bytes for the tensor scale."""
        return sum(t.numel() * t.element_size() for t in self._parts())

    def dequantize(self, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """The (M, K) values this tensor stands for, rounded once to ``dtype``."""
        from .ops import dequantize_nvfp4

        return dequantize_nvfp4(self, dtype)

    def to(self, device: torch.device | str) -> NVFP4Tensor:
        """The same tensor on another device."""
        return NVFP4Tensor(*(t.to(device) for t in self._parts()), self.shape)

    def _parts(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return self.codes, self.block_scales, self.tensor_scale


def check_parts(
    packed: object, wanted: dict[str, tuple[torch.dtype, tuple[int, ...]]], what: str, maker: str
) -> None:
    """Refuses a packed tensor whose parts do not have the dtypes and shapes that belong together.

    Raises:
        ValueError: with the part, what it is and what it should be.
    """
    for name, (dtype, shape) in wanted.items():
        part = getattr(packed, name)
        if part.dtype != dtype or tuple(part.shape) != shape:
            raise ValueError(
                f"{name} is {part.dtype} {tuple(part.shape)}, but {what} of shape "
                f"{tuple(packed.shape)} needs {dtype} {shape}; build it with {maker}"
            )


def check_decoded_dtype(dtype: torch.dtype) -> None:
    """Refuses to decode to anything but fp32, bf16 and fp16.

    Raises:
        ValueError: with the dtype and the choices.
    """
    if dtype not in INPUT_DTYPES:
        raise ValueError(f"dtype is {dtype}; decode to float32, bfloat16 or float16")


def check_input(x: torch.Tensor, block: int = SCALE_BLOCK) -> None:
    """Refuses what cannot be packed in blocks of ``block`` along the last dimension.

    Raises:
        ValueError: the dtype is not fp32, bf16 or fp16, or K is no multiple of ``block``.
    """
    if x.dtype not in INPUT_DTYPES:
        raise ValueError(
            f"x is {x.dtype}; 4-bit quantisation takes float32, bfloat16 or float16, so convert it "
            "with x.to(torch.float32) first"
        )
    if x.dim() == 0:
        raise ValueError("x has no dimensions; pass a matrix with K columns")
    k = x.shape[-1]
    if k % block:
        raise ValueError(
            f"K is {k}, but blocks are {block} wide and K must be a multiple of {block}; pad the "
            f"last dimension with zeros to {-(-k // block) * block}, or leave this layer in 16 bits"
        )


def has_values(x: torch.Tensor) -> bool:
    """False for a tensor that is a shape and a dtype only: on the meta device, or fake.

    Such a tensor is packed into parts that are the same, so that memory can be told beforehand.
    """
    return not (x.is_meta or isinstance(x, FakeTensor))


def non_finite(x: torch.Tensor) -> int:
    """How many values are NaN or inf. Where there are none, no copy of x is made to find out."""
    if not x.numel() or all(torch.isfinite(extreme) for extreme in x.aminmax()):
        return 0
    return x.numel() - int(torch.isfinite(x).sum())


def check_matrix(x: torch.Tensor) -> None:
    """Refuses what has not two dimensions.

    Raises:
        ValueError: with how many there are, and how to make them two.
    """
    if x.dim() != 2:
        raise ValueError(f"x has {x.dim()} dimensions; pass a matrix, x.reshape(-1, x.shape[-1])")


def swizzle_scales(scales: torch.Tensor) -> torch.Tensor:
    """Block scales in the order FP4 matrix units read: tiles of 128 rows by 4 scales.

    Scale (r, c) goes to byte ``((r//128) * ceil(C/4) + c//4) * 512 + (r%32)*16 + (r%128)//32*4 +
    c%4``. What pads the last tiles is zero: a NaN byte there would spread.

    Args:
        scales: (M, C), one byte each.
    Returns:
        flat, of the same dtype, ceil(M / 128) * ceil(C / 4) * 512 long.
    """
    m, c = scales.shape
    rows, columns = -(-m // 128), -(-c // 4)
    padded = torch.zeros(rows * 128, columns * 4, dtype=torch.uint8, device=scales.device)
    padded[:m, :c] = scales.view(torch.uint8)
    tiled = padded.view(rows, 4, 32, columns, 4).permute(0, 3, 2, 1, 4)
    return tiled.reshape(-1).view(scales.dtype)
