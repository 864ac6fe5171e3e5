"""Choosing NVFP4's scales: one for the tensor, one for each block, by one of three rules.

    amax           a block's largest value is mapped to 6, E2M1's largest
    four_over_six  to 6 or to 4, whichever gives the smaller squared error
    search         to whatever gives the smallest squared error, over E4M3 scales

E2M1 has nothing between 4 and 6, so a block whose second largest value falls there errs by up to a
sixth of its amax; scaled to 4 it has steps of 1 there instead. The search generalises that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import torch

from .format import E2M1_MAX, E4M3_MAX, FLT_MAX, SCALE_BLOCK
from .rounding import fp8_values, round_e2m1_in_place, round_e4m3

_MAGNITUDE = 0x7FFFFFFF  # an fp32's bits but the sign

Scaling = Literal["1d", "2d"]
ScaleRule = Literal["amax", "four_over_six", "search"]

SEARCH_STEPS = (0, *range(-5, 0), *range(1, 11))
"""Neighbours of the amax rule's scale that the search tries, in E4M3 steps; 8 steps are a factor of
two. On N(0,1) the best lies from -2 to 7, with 2D scaling from -4 to 4, and 1 block in 20,000 of a
Cauchy distribution wants more than 10. The rule's own comes first, so that it wins a tie."""


def tensor_scale_of(
    x: torch.Tensor, given: torch.Tensor | float | None, scale_rule: ScaleRule
) -> torch.Tensor:
    """The () fp32 decode scale: the one given, or amax over the largest value the format can hold.

    Raises:
        ValueError: x holds NaN or inf (the message says how many), or the given scale is unusable.
    """
    if x.numel() == 0:
        amax = torch.zeros((), device=x.device)
    else:
        low, high = torch.aminmax(x)
        amax = torch.maximum(high, -low).to(torch.float32)
    if not torch.isfinite(amax):
        count = x.numel() - int(torch.isfinite(x).sum())
        raise ValueError(
            f"{count} of {x.numel()} values are NaN or inf, which 4 bits cannot hold; find where "
            "they arise, or leave this layer in 16 bits"
        )
    if given is not None:
        return given_scale(given, x.device)
    scale = divide(amax, scale_bound(scale_rule) * E2M1_MAX)
    return torch.where(scale > 0, scale, torch.ones_like(scale))


def scale_bound(scale_rule: ScaleRule) -> float:
    """The E4M3 value that the scale of the block with the largest amax is mapped to.

    Four-over-six needs room above: a block scaled to 4 has a scale half as large again, and
    256 * 1.5 = 384 is below 448 (Cook et al., "Four Over Six", 2025).
    """
    return 256.0 if scale_rule == "four_over_six" else E4M3_MAX


def given_scale(given: torch.Tensor | float, device: torch.device) -> torch.Tensor:
    """A caller's tensor scale as a () fp32 tensor of its own.

    Raises:
        ValueError: it is not one finite number above 0.
    """
    scale = torch.as_tensor(given, dtype=torch.float32, device=device).detach().clone()
    if scale.dim() or not 0 < float(scale) <= FLT_MAX:
        raise ValueError(f"tensor_scale is {given!r}; pass one finite number above 0")
    return scale


def block_scales_of(
    x: torch.Tensor, tensor_scale: torch.Tensor, scaling: Scaling, scale_rule: ScaleRule
) -> torch.Tensor:
    """The E4M3 scale of every block of a chunk of rows.

    Args:
        x: (m, K) fp32, contiguous, starting at a tile's first row.
        tensor_scale: () fp32.
    Returns:
        (m, K // 16) float8_e4m3fn; 0 where a block is zero or too small for the format.
    """
    encode = tensor_scale.reciprocal().clamp_(max=FLT_MAX)
    amax = _block_amax(x, scaling)
    scales = scales_to(E2M1_MAX, amax, encode)
    if scale_rule == "amax":
        return scales
    if scale_rule == "four_over_six":
        others = iter([scales_to(4.0, amax, encode)])
    else:
        others = _neighbours(scales)
    return _least_error(x, x * -encode, tensor_scale, scaling, scales, others)


def scales_to(largest: float, amax: torch.Tensor, encode: torch.Tensor) -> torch.Tensor:
    """E4M3 scales that map each block's largest magnitude to ``largest``: float8_e4m3fn, as amax.

    Args:
        amax: fp32, one for each block.
        encode: () fp32, the reciprocal of the tensor scale.
    """
    return round_e4m3(amax * divide(encode, largest))


def divide(x: torch.Tensor, divisor: float) -> torch.Tensor:
    """x / divisor, rounded once. With a Python number torch multiplies by 1 / divisor on a GPU."""
    return x / torch.full((), divisor, dtype=x.dtype, device=x.device)


def divide_by_scales(
    x: torch.Tensor, scales: torch.Tensor, tensor_scale: torch.Tensor
) -> torch.Tensor:
    """x over its decode scale, as one product with the reciprocal; a scale of 0 saturates."""
    inverse = (fp8_values(scales) * tensor_scale).reciprocal_().clamp_(max=FLT_MAX)
    m, k = x.shape
    return (x.view(m, -1, SCALE_BLOCK) * inverse.unsqueeze(-1)).view(m, k)


def _neighbours(scales: torch.Tensor) -> Iterator[torch.Tensor]:
    byte = scales.view(torch.uint8).to(torch.int16)
    for step in SEARCH_STEPS[1:]:
        # Neighbouring bytes are neighbouring values: 0x00 is 0, 0x7E is 448, 0x7F would be NaN.
        yield (byte + step).clamp_(0, 0x7E).to(torch.uint8).view(torch.float8_e4m3fn)


def _least_error(
    x: torch.Tensor,
    minus_x_encoded: torch.Tensor,
    tensor_scale: torch.Tensor,
    scaling: Scaling,
    first: torch.Tensor,
    others: Iterator[torch.Tensor],
) -> torch.Tensor:
    """Of some scales for each block, the one that errs least; ties go to the first."""
    best = first.view(torch.uint8).clone()
    least = _squared_error(x, minus_x_encoded, tensor_scale, scaling, first)
    for scales in others:
        error = _squared_error(x, minus_x_encoded, tensor_scale, scaling, scales)
        better = error < least
        least = torch.where(better, error, least)
        best = torch.where(better, scales.view(torch.uint8), best)
    return best.view(torch.float8_e4m3fn)


def _squared_error(
    x: torch.Tensor,
    minus_x_encoded: torch.Tensor,
    tensor_scale: torch.Tensor,
    scaling: Scaling,
    scales: torch.Tensor,
) -> torch.Tensor:
    """(m, K // 16): each block's squared error in units of the tensor scale, so nothing overflows.

    Summed in a fixed order, neighbours first, so that a kernel can return the same bits.
    """
    m, k = x.shape
    rounded = round_e2m1_in_place(divide_by_scales(x, scales, tensor_scale))
    rounded = rounded.view(m, -1, SCALE_BLOCK)
    by_block, minus_x = fp8_values(scales).unsqueeze(-1), minus_x_encoded.view(rounded.shape)
    # One pass: the product is exact (2 + 4 significant bits), so fused or not it rounds once.
    error = torch.addcmul(minus_x, rounded, by_block, out=rounded).square_().view(-1)
    for _ in range(4):
        error = error.view(-1, 2)
        error = error[:, 0] + error[:, 1]
    error = error.view(m, k // SCALE_BLOCK)
    return error if scaling == "1d" else _over_tile_rows(error, _sum_of_16_rows)


def _sum_of_16_rows(tiles: torch.Tensor) -> torch.Tensor:
    for _ in range(4):
        tiles = tiles[:, 0::2] + tiles[:, 1::2]
    return tiles[:, 0]


def block_amax(blocks: torch.Tensor) -> torch.Tensor:
    """Largest magnitude of each block: (..., n) fp32 -> (...). NaN where there is one.

    As integers: magnitudes are in the order of their bits, NaN above all, and torch reduces a short
    dimension of integers in less than half the time that it takes for floats.
    """
    return blocks.view(torch.int32).bitwise_and(_MAGNITUDE).amax(-1).view(torch.float32)


def _block_amax(x: torch.Tensor, scaling: Scaling) -> torch.Tensor:
    """Largest magnitude of each block, (m, K // 16); a tile's in each of its rows for 2D."""
    m, k = x.shape
    amax = block_amax(x.view(m, k // SCALE_BLOCK, SCALE_BLOCK))
    return amax if scaling == "1d" else _over_tile_rows(amax, lambda tiles: tiles.amax(1))


def _over_tile_rows(
    blocks: torch.Tensor, reduce: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """Reduces (m, n) over each tile's 16 rows and repeats the result in them.

    The last tile may be short: the rows it lacks count as zeros.
    """
    m, n = blocks.shape
    tiles = -(-m // SCALE_BLOCK)
    padded = torch.nn.functional.pad(blocks, (0, 0, 0, tiles * SCALE_BLOCK - m))
    reduced = reduce(padded.view(tiles, SCALE_BLOCK, n))
    return reduced.repeat_interleave(SCALE_BLOCK, 0)[:m]
