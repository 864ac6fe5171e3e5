"""Assertions as vocabulary: each fails with a count or a figure, never with a bare False."""

from __future__ import annotations

import torch

from kernels import NVFP4Tensor


def codes_equal(got: torch.Tensor, want: torch.Tensor, what: str = "codes") -> None:
    """Bit for bit; on failure says how many bytes differ and where the first is."""
    assert got.shape == want.shape, f"{what}: shape {tuple(got.shape)}, wanted {tuple(want.shape)}"
    size = max(want.element_size(), 1)
    got, want = (t.contiguous().view(-1).view(torch.uint8) for t in (got, want))
    differ = (got != want).nonzero()
    if len(differ):
        first = int(differ[0])
        raise AssertionError(
            f"{what}: {len(differ)} of {want.numel()} bytes differ, first in element "
            f"{first // size}: {int(got[first]):#04x}, wanted {int(want[first]):#04x}"
        )


def scales_equal(got: torch.Tensor, want: torch.Tensor, what: str = "block_scales") -> None:
    """E4M3 scales bit for bit, and none of them NaN."""
    codes_equal(got, want, what)
    bad = int((got.view(torch.uint8) & 0x7F == 0x7F).sum())
    assert not bad, f"{what}: {bad} of {got.numel()} scales are NaN"


def packed_equal(got: NVFP4Tensor, want: NVFP4Tensor, what: str = "tensor") -> None:
    """Every part of two packed tensors, bit for bit."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, wanted {want.shape}"
    a, b = got.tensor_scale.item(), want.tensor_scale.item()
    assert a == b, f"{what}: tensor_scale {a!r}, wanted {b!r}"
    scales_equal(got.block_scales, want.block_scales, f"{what}.block_scales")
    codes_equal(got.codes, want.codes, f"{what}.codes")


def bits_equal(got: torch.Tensor, want: torch.Tensor, what: str = "values") -> None:
    """Same dtype, shape and bits, the signs of zeros included."""
    assert got.dtype == want.dtype, f"{what}: {got.dtype}, wanted {want.dtype}"
    codes_equal(got, want, what)


def relative_mse(got: torch.Tensor, exact: torch.Tensor) -> float:
    """Mean squared error over the mean square of the exact values."""
    exact = exact.double()
    return float((got.double() - exact).square().sum() / exact.square().sum())


def sqnr_at_least(got: torch.Tensor, exact: torch.Tensor, bound_db: float) -> None:
    """Signal to quantisation noise, in dB."""
    sqnr = -10 * torch.log10(torch.tensor(relative_mse(got, exact))).item()
    assert sqnr >= bound_db, f"SQNR is {sqnr:.2f} dB, wanted at least {bound_db} dB"


def no_worse_than_low_precision(
    got: torch.Tensor, low: torch.Tensor, exact: torch.Tensor, slack: float = 1e-6
) -> None:
    """The three-way rule: at most twice the error that PyTorch makes in the same low precision.

    Args:
        got: the kernel's result.
        low: PyTorch's own result in the precision that the kernel works in.
        exact: the result in fp32 or above.
        slack: absolute term, relative to the largest exact value.
    """
    exact = exact.double()
    allowed = 2 * (low.double() - exact).abs().max() + slack * exact.abs().max()
    error = (got.double() - exact).abs().max()
    assert error <= allowed, f"largest error {error:.3e}, allowed {allowed:.3e}"
