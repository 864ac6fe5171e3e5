"""Products with NVFP4 operands: the decoded kernel in the interpreter, the native one on a GPU.

The interpreter has no FP4 product, so without a GPU the native kernel is held by two things: its
scale tiles are read here through the kernel's own addressing, and what it compiles to is read in
``test_compiled.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import triton
import triton.language as tl

from kernels import quantize_mxfp4, quantize_nvfp4
from kernels.format import swizzle_scales
from kernels.matmul import (
    DECODED_TILES,
    NATIVE_TILES,
    Tile,
    _scale_pointers,
    _scale_tile,
    matmul_decoded,
    matmul_native,
    native_operand,
    pick_tile,
)
from tests.assertions import codes_equal, no_worse_than_low_precision

pytestmark = pytest.mark.usefixtures("poisoned")

TILE = Tile(32, 64, 64, 4, 3)


def _decoded_agrees(
    m: int,
    n: int,
    k: int,
    device: str,
    *,
    quantize: Callable = quantize_nvfp4,
    transposed: bool = False,
    bias: bool = False,
) -> None:
    torch.manual_seed(0)
    q = quantize(torch.randn(n, k, device=device), backend="reference")
    x = torch.randn(m, n if transposed else k, device=device).half()
    b = torch.randn(k if transposed else n, device=device).half() if bias else None
    w = q.dequantize()
    w = w if transposed else w.t()
    exact = x.double() @ w.double() + (0 if b is None else b.double())
    # PyTorch in fp16: the weight rounded to it, sums in fp32, the result rounded.
    low = (x.float() @ w.half().float() + (0 if b is None else b.float())).half()
    got = matmul_decoded(x, q, tile=TILE, transposed=transposed, bias=b)
    assert got.dtype == torch.float16
    no_worse_than_low_precision(got, low, exact)


@pytest.mark.parametrize("transposed", [False, True], ids=["fprop", "dgrad"])
@pytest.mark.parametrize("m", [1, 7, 33])
@pytest.mark.parametrize(("n", "k"), [(16, 16), (48, 80), (100, 144)])
def test_decoded_product(m: int, n: int, k: int, transposed: bool, device: str) -> None:
    _decoded_agrees(m, n, k, device, transposed=transposed)


@pytest.mark.parametrize("transposed", [False, True], ids=["fprop", "dgrad"])
@pytest.mark.parametrize("m", [1, 33])
@pytest.mark.parametrize(("n", "k"), [(16, 32), (48, 96), (100, 160)])
def test_decoded_product_of_mxfp4(m: int, n: int, k: int, transposed: bool, device: str) -> None:
    _decoded_agrees(m, n, k, device, quantize=quantize_mxfp4, transposed=transposed)


@pytest.mark.parametrize("m", [17, 127, 128, 129])
def test_decoded_product_with_many_rows_and_a_bias(m: int, device: str) -> None:
    _decoded_agrees(m, 48, 96, device, bias=True)


def test_an_empty_sum_is_the_bias(device: str) -> None:
    q = quantize_nvfp4(torch.empty(3, 0, device=device))
    x = torch.empty(2, 0, dtype=torch.float16, device=device)
    bias = torch.tensor([1.0, 2.0, 3.0], device=device).half()
    codes_equal(matmul_decoded(x, q, bias=bias), bias.expand(2, 3))
    codes_equal(matmul_decoded(x, q), torch.zeros_like(bias.expand(2, 3)))
    assert matmul_decoded(x[:0], q).shape == (0, 3)


@triton.jit
def _read_scales(
    tiled_ptr, out_ptr, tiles_k, first_row, first_tile, ROWS: tl.constexpr, TILES: tl.constexpr
):
    at = _scale_pointers(tiled_ptr, first_row, tiles_k, ROWS, TILES) + first_tile * 512
    scales = _scale_tile(tl.load(at), ROWS, TILES)
    rows, columns = tl.arange(0, ROWS)[:, None], tl.arange(0, TILES * 4)[None, :]
    tl.store(out_ptr + rows * (TILES * 4) + columns, scales)


@pytest.mark.parametrize("rows", [32, 64, 128, 256])
def test_the_kernel_finds_every_scale_in_its_tile(rows: int, device: str) -> None:
    torch.manual_seed(1)
    scales = torch.randint(0, 255, (512, 32), dtype=torch.uint8, device=device)
    tiled = swizzle_scales(scales)
    for first_row in range(0, 512, rows):
        for first_tile in (0, 4):
            got = torch.empty(rows, 16, dtype=torch.uint8, device=device)
            _read_scales[(1,)](tiled, got, 8, first_row, first_tile, ROWS=rows, TILES=4)
            want = scales[first_row : first_row + rows, first_tile * 4 : first_tile * 4 + 16]
            codes_equal(got, want.contiguous(), f"scales from row {first_row}")


def test_swizzled_scales_follow_the_published_formula() -> None:
    scales = torch.arange(1, 1 + 130 * 5).remainder(251).add(1).to(torch.uint8).view(130, 5)
    tiled = swizzle_scales(scales)
    wide = 2
    for r, c in [(0, 0), (1, 3), (31, 4), (32, 0), (127, 2), (128, 4), (129, 1)]:
        at = ((r // 128) * wide + c // 4) * 512 + (r % 32) * 16 + ((r % 128) // 32) * 4 + c % 4
        assert tiled[at] == scales[r, c]
    assert int((tiled != 0).sum()) == scales.numel(), "what pads the tiles is zero"


@pytest.mark.parametrize("tiles", [*NATIVE_TILES.values(), DECODED_TILES])
def test_the_tile_fits_the_shape(tiles: dict[str, Tile]) -> None:
    assert pick_tile(tiles, 8192, 8192).block_m == 128
    few = pick_tile(tiles, 16, 4096)
    assert few.block_m == min(t.block_m for t in tiles.values())
    assert pick_tile(tiles, 512, 576) == min(
        (t for name, t in tiles.items() if name != "few rows"), key=lambda t: t.block_m * t.block_n
    )


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(1, 64, 64), (7, 80, 48), (129, 576, 896), (512, 1536, 576)])
@pytest.mark.parametrize("quantize", [quantize_nvfp4, quantize_mxfp4])
def test_native_product(quantize: Callable, shape: tuple[int, int, int], device: str) -> None:
    if device == "cpu" or torch.cuda.get_device_capability()[0] < 10:
        pytest.skip("needs a GPU with FP4 tensor cores")
    m, n, k = shape
    torch.manual_seed(2)
    if quantize is quantize_mxfp4:
        k = -(-k // 32) * 32
    a, b = (quantize(torch.randn(r, k, device=device)) for r in (m, n))
    x, w = a.dequantize(), b.dequantize()
    major, minor = torch.cuda.get_device_capability()
    for tile in NATIVE_TILES[10 * major + minor].values():
        got = matmul_native(native_operand(a), native_operand(b), tile=tile, group=a.group)
        no_worse_than_low_precision(got, x.bfloat16() @ w.bfloat16().T, x.double() @ w.double().T)
