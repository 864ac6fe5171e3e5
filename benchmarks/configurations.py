"""Every kernel in every configuration that can be chosen, as ``compiled.py`` compiles them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

ARCHITECTURES = (80, 89, 90, 100, 103, 120)
FORMATS = {16: "NVFP4", 32: "MXFP4"}
"""By the number of values that share a scale."""


@dataclass(frozen=True)
class Spec:
    """One kernel in one configuration, for one architecture."""

    arch: int
    module: str
    kernel: str
    label: str
    types: dict[str, str]
    constants: dict[str, object]
    num_warps: int = 4
    num_stages: int = 3
    fusion: bool = True

    @property
    def name(self) -> str:
        return f"sm_{self.arch} {self.kernel.strip('_')} {self.label}"


def specs(arch: int) -> Iterator[Spec]:
    """Every configuration that can be chosen on an architecture.

    Only where FP4 tensor cores multiply them are activations packed, codes transposed, and MXFP4's
    weights decoded for dgrad (NVFP4's are, weight-only, anywhere).
    """
    from kernels import dequantize as d
    from kernels import matmul as m
    from kernels import quantize as q
    from kernels import quantize_mx as mx

    native = m.NATIVE_TILES.get(arch, {})
    for dtype in ("fp32", "bf16", "fp16"):
        yield Spec(
            arch,
            "quantize",
            "_amax_kernel",
            dtype,
            {"x_ptr": f"*{dtype}", "partial_ptr": "*i32"},
            {
                "stride_k": 1,
                "COUNT": q.AMAX_PROGRAMS,
                "BLOCK_M": q.BLOCK_M,
                "BLOCK_K": q.BLOCK_K,
            },
        )
    for dtype, rule, scaling, stochastic, swizzled, amax in (
        ("bf16", "amax", "1d", False, True, "partial"),
        ("bf16", "amax", "1d", False, True, "whole"),
        ("bf16", "amax", "1d", True, True, "partial"),
        ("fp16", "amax", "1d", False, True, "partial"),
        ("bf16", "four_over_six", "1d", False, True, "partial"),
        ("fp32", "search", "1d", False, False, "partial"),
        ("fp32", "search", "2d", False, False, "partial"),
    ):
        if swizzled and not native:
            continue
        yield Spec(
            arch,
            "quantize",
            "_quantize_nvfp4_kernel",
            f"{dtype} {scaling} {rule} {amax}"
            + " stochastic" * stochastic
            + " swizzled" * swizzled,
            {
                "x_ptr": f"*{dtype}",
                "partial_ptr": "*i32",
                "tensor_scale_ptr": "*fp32",
                "codes_ptr": "*u8",
                "scales_ptr": "*u8",
                "seed_ptr": "*i64",
            },
            {
                "stride_k": 1,
                "AMAX": amax,
                "COUNT": q.AMAX_PROGRAMS,
                "COUNT_PADDED": q.AMAX_PROGRAMS,
                "BOUND": q.scale_bound(rule),
                "RULE": rule,
                "TILED": scaling == "2d",
                "STOCHASTIC": stochastic,
                "SWIZZLED": swizzled,
                "FIRST_STEP": min(q.SEARCH_STEPS),
                "LAST_STEP": max(q.SEARCH_STEPS),
                "BLOCK_M": q.BLOCK_M,
                "BLOCK_K": q.BLOCK_K,
            },
            num_warps=q.NUM_WARPS,
            fusion=False,
        )
    for dtype, group in (("fp32", 16), ("bf16", 16), ("fp16", 16), ("fp32", 32)):
        yield Spec(
            arch,
            "dequantize",
            "_dequantize_kernel",
            f"{FORMATS[group]} {dtype}",
            {
                "codes_ptr": "*u8",
                "scales_ptr": "*u8",
                "tensor_scale_ptr": "*fp32",
                "out_ptr": f"*{dtype}",
            },
            {
                "stride_k": 1,
                "HAS_TENSOR_SCALE": group == 16,
                "GROUP": group,
                "BLOCK_M": d.BLOCK_M,
                "BLOCK_K": d.BLOCK_K,
            },
            num_warps=d.NUM_WARPS,
            fusion=False,
        )
    if native:
        yield Spec(
            arch,
            "dequantize",
            "_transpose_codes_kernel",
            "",
            {"codes_ptr": "*u8", "out_ptr": "*u8"},
            {"BLOCK_M": d.BLOCK_M, "BLOCK_K": d.BLOCK_K},
            num_warps=d.NUM_WARPS,
        )
    for dtype, swizzled in (("fp32", False), ("bf16", True)) if native else (("fp32", False),):
        yield Spec(
            arch,
            "quantize_mx",
            "_quantize_mxfp4_kernel",
            dtype + " swizzled" * swizzled,
            {"x_ptr": f"*{dtype}", "codes_ptr": "*u8", "scales_ptr": "*u8"},
            {"stride_k": 1, "SWIZZLED": swizzled, "BLOCK_M": mx.BLOCK_M, "BLOCK_K": mx.BLOCK_K},
            num_warps=mx.NUM_WARPS,
        )
    for size, tile in m.DECODED_TILES.items():
        nvfp4 = ((16, False), (16, True))
        for group, transposed in (*nvfp4, (32, True)) if native else nvfp4:
            yield Spec(
                arch,
                "matmul",
                "_matmul_decoded_kernel",
                f"{FORMATS[group]} {size} {'dgrad' if transposed else 'fprop'}",
                {
                    "x_ptr": "*bf16",
                    "codes_ptr": "*u8",
                    "scales_ptr": "*u8",
                    "tensor_scale_ptr": "*fp32",
                    "bias_ptr": "*bf16",
                    "out_ptr": "*bf16",
                },
                {
                    "HAS_BIAS": True,
                    "HAS_TENSOR_SCALE": group == 16,
                    "TRANSPOSED": transposed,
                    "GROUP": group,
                    **tile.constants,
                },
                num_warps=tile.num_warps,
                num_stages=tile.num_stages,
            )
    for size, tile in native.items():
        for group, even in ((16, True), (16, False), (32, True), (32, False)):
            yield Spec(
                arch,
                "matmul",
                "_matmul_native_kernel",
                f"{FORMATS[group]} {size}{'' if even else ' ragged K'}",
                {
                    "a_ptr": "*u8",
                    "a_scales_ptr": "*fp8e4nv" if group == 16 else "*u8",
                    "a_tensor_scale_ptr": "*fp32",
                    "b_ptr": "*u8",
                    "b_scales_ptr": "*fp8e4nv" if group == 16 else "*u8",
                    "b_tensor_scale_ptr": "*fp32",
                    "bias_ptr": "*bf16",
                    "out_ptr": "*bf16",
                },
                {
                    "HAS_TENSOR_SCALES": group == 16,
                    "HAS_BIAS": True,
                    "EVEN_K": even,
                    "GROUP": group,
                    **tile.constants,
                },
                num_warps=tile.num_warps,
                num_stages=tile.num_stages,
            )


def one_row(spec: Spec) -> Spec:
    """The same with a single row, which Triton compiles apart: an argument of 1 is a constant."""
    constants = {**spec.constants, "M": 1}
    return replace(spec, constants=constants, label=f"{spec.label} one row")
