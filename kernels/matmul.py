"""Matrix products with NVFP4 or MXFP4 operands in Triton.

    native    both operands packed: the FP4 tensor cores of sm_100, 103 and 120 multiply the codes
    decoded   the weight packed, the other operand in 16 bits: the weight is decoded in registers

Native FP4 wants block scales in tiles of 128 rows by 4 scales, 512 bytes each (``swizzle_scales``):
read that way, the scales arrive where the matrix unit wants them. Read row by row, the compiler
spends 2.7 shuffles on each FP4 instruction and spills registers.

A decoded weight has at most 6 significant bits, so it is exact in 16 bits (``decode_tile`` says how
far in fp16), and the product is as good as one with 16-bit weights. Tensor scales multiply the fp32
sum, and the cast comes last.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from .dequantize import decode_tile, round_to_bf16
from .format import SCALE_BLOCK, swizzle_scales
from .mxfp4 import MX_BLOCK, PackedTensor
from .tiles import DECODED_TILES, NATIVE_TILES, Tile, pick_tile

Operand = tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]
"""Codes, swizzled scales, tensor scale (MXFP4 has none): what FP4 matrix units take."""


"""Rows of tiles that neighbouring programs share, so that loads hit the L2."""


@triton.jit
def _tile_of_program(M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Row and column of this program's tile, in bands of GROUP_M rows so that loads hit the L2."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    band = tl.program_id(0) // (GROUP_M * tiles_n)
    height = tl.minimum(tiles_m - band * GROUP_M, GROUP_M)
    within = tl.program_id(0) % (GROUP_M * tiles_n)
    return band * GROUP_M + within % height, within // height


@triton.jit
def _store(acc, out_ptr, bias_ptr, scale, rows, columns, M, N, HAS_BIAS: tl.constexpr):
    """Scales and adds in fp32, casts last."""
    acc = acc * scale
    if HAS_BIAS:
        bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0)
        acc += bias.to(tl.float32)[None, :]
    at = out_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
    if out_ptr.dtype.element_ty == tl.bfloat16:
        acc = round_to_bf16(acc)
    fits = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(at, acc.to(out_ptr.dtype.element_ty), mask=fits)


@triton.jit
def _scale_pointers(ptr, first_row, tiles_k, ROWS: tl.constexpr, TILES: tl.constexpr):
    """Pointers to the swizzled scales of ROWS rows from first_row and TILES tiles along K.

    Shape (row tiles, TILES, 32, quarters, 4), which ``_scale_tile`` brings into (ROWS, TILES * 4).
    """
    OUTER: tl.constexpr = (ROWS + 127) // 128
    QUARTERS: tl.constexpr = 4 if ROWS >= 128 else ROWS // 32
    tile = (first_row // 128 + tl.arange(0, OUTER)).to(tl.int64) * tiles_k
    quarter = (first_row % 128) // 32 + tl.arange(0, QUARTERS)
    at = tl.arange(0, TILES)[:, None, None, None] * 512
    at += tl.arange(0, 32)[None, :, None, None] * 16
    at += quarter[None, None, :, None] * 4
    at += tl.arange(0, 4)[None, None, None, :]
    return ptr + tile[:, None, None, None, None] * 512 + at[None, :, :, :, :]


@triton.jit
def _scale_tile(scales, ROWS: tl.constexpr, TILES: tl.constexpr):
    return tl.reshape(tl.permute(scales, (0, 3, 2, 1, 4)), (ROWS, TILES * 4))


@triton.jit
def _matmul_native_kernel(
    a_ptr,
    a_scales_ptr,
    a_tensor_scale_ptr,
    b_ptr,
    b_scales_ptr,
    b_tensor_scale_ptr,
    bias_ptr,
    out_ptr,
    M,
    N,
    K,
    HAS_TENSOR_SCALES: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    EVEN_K: tl.constexpr,
    GROUP: tl.constexpr,  # values to a scale: 16 in NVFP4, 32 in MXFP4
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    TILES: tl.constexpr = BLOCK_K // (GROUP * 4)
    tile_m, tile_n = _tile_of_program(M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    halves = tl.arange(0, BLOCK_K // 2)
    tiles_k = tl.cdiv(K, GROUP * 4)
    # Rows beyond the end read row 0 instead, which costs no mask; their results are not stored.
    a_row = tl.where(rows < M, rows, 0).to(tl.int64)
    b_row = tl.where(columns < N, columns, 0).to(tl.int64)
    a_at = a_ptr + a_row[:, None] * (K // 2) + halves[None, :]
    b_at = b_ptr + b_row[:, None] * (K // 2) + halves[None, :]
    a_scale_at = _scale_pointers(a_scales_ptr, tile_m * BLOCK_M, tiles_k, BLOCK_M, TILES)
    b_scale_at = _scale_pointers(b_scales_ptr, tile_n * BLOCK_N, tiles_k, BLOCK_N, TILES)

    acc = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    for start in range(0, K, BLOCK_K):
        if EVEN_K:
            a, b = tl.load(a_at), tl.load(b_at)
            a_bits, b_bits = tl.load(a_scale_at), tl.load(b_scale_at)
        else:
            # Codes of 0 need a finite scale: 0, not whatever lies behind the buffer.
            code_fits = (start // 2 + halves < K // 2)[None, :]
            scale_fits = start // (GROUP * 4) + tl.arange(0, TILES) < tiles_k
            scale_fits = scale_fits[None, :, None, None, None]
            a = tl.load(a_at, mask=code_fits, other=0)
            b = tl.load(b_at, mask=code_fits, other=0)
            a_bits = tl.load(a_scale_at, mask=scale_fits, other=0.0)
            b_bits = tl.load(b_scale_at, mask=scale_fits, other=0.0)
        a_scale = _scale_tile(a_bits, BLOCK_M, TILES)
        b_scale = _scale_tile(b_bits, BLOCK_N, TILES)
        acc = tl.dot_scaled(a, a_scale, "e2m1", b.T, b_scale, "e2m1", acc)
        a_at += BLOCK_K // 2
        b_at += BLOCK_K // 2
        a_scale_at += TILES * 512
        b_scale_at += TILES * 512

    scale = 1.0
    if HAS_TENSOR_SCALES:
        scale = tl.load(a_tensor_scale_ptr) * tl.load(b_tensor_scale_ptr)
    _store(acc, out_ptr, bias_ptr, scale, rows, columns, M, N, HAS_BIAS)


@triton.jit
def _matmul_decoded_kernel(
    x_ptr,
    codes_ptr,
    scales_ptr,
    tensor_scale_ptr,
    bias_ptr,
    out_ptr,
    M,
    N,
    K,
    stride_x,
    HAS_BIAS: tl.constexpr,
    HAS_TENSOR_SCALE: tl.constexpr,
    TRANSPOSED: tl.constexpr,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """x (M, K) by a packed matrix: (N, K) as stored, or with TRANSPOSED (K, N), which is dgrad."""
    tile_m, tile_n = _tile_of_program(M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    x_row = tl.where(rows < M, rows, 0).to(tl.int64)

    acc = tl.full((BLOCK_M, BLOCK_N), 0.0, tl.float32)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        x_at = x_ptr + x_row[:, None] * stride_x + inner[None, :]
        x = tl.load(x_at, mask=(inner < K)[None, :], other=0.0)  # (BLOCK_M, BLOCK_K)
        if TRANSPOSED:
            packed_row, width = inner, N
            half = tile_n * (BLOCK_N // 2) + tl.arange(0, BLOCK_N // 2)
            block = tile_n * (BLOCK_N // GROUP) + tl.arange(0, BLOCK_N // GROUP)
            row_fits = inner < K
        else:
            packed_row, width = columns, K
            half = start // 2 + tl.arange(0, BLOCK_K // 2)
            block = start // GROUP + tl.arange(0, BLOCK_K // GROUP)
            row_fits = columns < N
        row = packed_row.to(tl.int64)[:, None]
        codes = tl.load(
            codes_ptr + row * (width // 2) + half[None, :],
            mask=row_fits[:, None] & (half < width // 2)[None, :],
            other=0,
        )
        scales = tl.load(
            scales_ptr + row * (width // GROUP) + block[None, :],
            mask=row_fits[:, None] & (block < width // GROUP)[None, :],
            other=0,
        )
        if TRANSPOSED:
            w = decode_tile(codes, scales, BLOCK_K, BLOCK_N, GROUP).to(x.dtype)
        else:
            w = tl.trans(decode_tile(codes, scales, BLOCK_N, BLOCK_K, GROUP).to(x.dtype))
        acc = tl.dot(x, w, acc)
    scale = 1.0
    if HAS_TENSOR_SCALE:
        scale = tl.load(tensor_scale_ptr)
    _store(acc, out_ptr, bias_ptr, scale, rows, columns, M, N, HAS_BIAS)


def matmul_native(
    a: Operand,
    b: Operand,
    *,
    tile: Tile,
    group: int = 16,
    bias: torch.Tensor | None = None,
    dtype: torch.dtype = torch.bfloat16,
) -> torch.Tensor:
    """a @ b.T (+ bias) on FP4 tensor cores.

    Args:
        a, b: codes (rows, K // 2) uint8, scales swizzled (flat; float8_e4m3fn, or E8M0 as uint8
            for MXFP4), tensor scale () fp32, or None for both where the format has none.
        group: values to a scale, 16 or 32.
    Returns:
        (M, N) of ``dtype``.
    """
    (a_codes, a_scales, a_tensor), (b_codes, b_scales, b_tensor) = a, b
    m, n, k = a_codes.shape[0], b_codes.shape[0], a_codes.shape[1] * 2
    out = torch.empty(m, n, dtype=dtype, device=a_codes.device)
    if out.numel() == 0 or k == 0:
        return _empty_product(out, bias)
    grid = (triton.cdiv(m, tile.block_m) * triton.cdiv(n, tile.block_n),)
    _matmul_native_kernel[grid](
        a_codes,
        a_scales,
        a_tensor,
        b_codes,
        b_scales,
        b_tensor,
        bias,
        out,
        m,
        n,
        k,
        HAS_TENSOR_SCALES=a_tensor is not None,
        HAS_BIAS=bias is not None,
        EVEN_K=k % tile.block_k == 0,
        GROUP=group,
        **tile.constants,
        num_warps=tile.num_warps,
        num_stages=tile.num_stages,
    )
    return out


def matmul_decoded(
    x: torch.Tensor,
    q: PackedTensor,
    *,
    tile: Tile | None = None,
    transposed: bool = False,
    bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """x @ q.T (+ bias), or with ``transposed`` x @ q: q is decoded in registers.

    Args:
        x: (M, K) fp16 or bf16, or with ``transposed`` (M, N).
        q: (N, K).
    Returns:
        (M, N), or (M, K) with ``transposed``, in x's dtype; sums in fp32.
    """
    m, k = x.shape
    n = q.shape[1] if transposed else q.shape[0]
    out = torch.empty(m, n, dtype=x.dtype, device=x.device)
    if out.numel() == 0 or k == 0:
        return _empty_product(out, bias)
    x = x if x.stride(1) == 1 else x.contiguous()
    tile = tile or pick_tile(DECODED_TILES, m, n)
    _matmul_decoded_kernel[(triton.cdiv(m, tile.block_m) * triton.cdiv(n, tile.block_n),)](
        x,
        q.codes,
        q.block_scales.view(torch.uint8),
        q.tensor_scale,
        bias,
        out,
        m,
        n,
        k,
        x.stride(0),
        HAS_BIAS=bias is not None,
        HAS_TENSOR_SCALE=q.tensor_scale is not None,
        TRANSPOSED=transposed,
        GROUP=q.group,
        **tile.constants,
        num_warps=tile.num_warps,
        num_stages=tile.num_stages,
    )
    return out


def matmul_cublas(
    a: Operand,
    b: Operand,
    *,
    bias: torch.Tensor | None = None,
    dtype: torch.dtype = torch.bfloat16,
) -> torch.Tensor:
    """The same product by cuBLASLt, through torch. Operands as for ``matmul_native``.

    It takes no tensor scale, so the product is left in fp32 until both have multiplied it.
    """
    from torch.nn.functional import ScalingType, SwizzleType, scaled_mm

    product = scaled_mm(
        a[0].view(torch.float4_e2m1fn_x2),
        b[0].view(torch.float4_e2m1fn_x2).t(),
        scale_a=a[1],
        scale_recipe_a=ScalingType.BlockWise1x16,
        scale_b=b[1],
        scale_recipe_b=ScalingType.BlockWise1x16,
        swizzle_a=SwizzleType.SWIZZLE_32_4_4,
        swizzle_b=SwizzleType.SWIZZLE_32_4_4,
        output_dtype=torch.float32,
    )
    product *= a[2] * b[2]
    return (product if bias is None else product.add_(bias)).to(dtype)


def matmul_fp4(
    a: Operand,
    b: Operand,
    *,
    bias: torch.Tensor | None = None,
    dtype: torch.dtype = torch.bfloat16,
    backend: str = "native",
) -> torch.Tensor:
    """a @ b.T (+ bias) on FP4 tensor cores, by ``native`` with a tile to suit, or ``cublas``."""
    if backend == "cublas":
        return matmul_cublas(a, b, bias=bias, dtype=dtype)
    major, minor = torch.cuda.get_device_capability(a[0].device)
    tile = pick_tile(NATIVE_TILES[10 * major + minor], a[0].shape[0], b[0].shape[0])
    group = MX_BLOCK if a[2] is None else SCALE_BLOCK
    return matmul_native(a, b, tile=tile, group=group, bias=bias, dtype=dtype)


def native_operand(q: PackedTensor) -> Operand:
    """A packed tensor as ``matmul_native`` takes it: its scales swizzled."""
    return q.codes, swizzle_scales(q.block_scales), q.tensor_scale


def _empty_product(out: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """A sum over nothing: zeros, or the bias."""
    return out.zero_() if bias is None else out.copy_(bias.expand(out.shape))
