"""What the compiler makes of every kernel, read without a GPU.

    python -m benchmarks.compiled [--arch 120] [--json FILE]

Compiles each kernel ahead of time for each architecture, in every configuration that can be chosen,
down to the cubin, with the tools that Triton ships; then reads registers, shared memory, spills,
and, of a native product's main loop, how many other instructions go to one FP4 instruction.

On sm_120 dense FP4 is 2048 multiply-adds a clock and multiprocessor, 512 for each of its four
schedulers, and one OMMA (m16n8k64) is 8192: 16 issue slots. So a loop with more than about 15 other
instructions to an OMMA is bound by issue and not by the tensor cores.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

ARCHITECTURES = (80, 89, 90, 100, 103, 120)
SHARED_LIMIT = {80: 166912, 89: 101376, 90: 232448, 100: 232448, 103: 232448, 120: 101376}
"""Bytes of shared memory that one block may use (CUDA C++ Programming Guide, table of limits)."""
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


@dataclass(frozen=True)
class Compiled:
    """What came out.

    Attributes:
        stack: bytes of local memory set aside for a thread; the compiler's front end reserves a few
            that the assembly then never touches.
        spills: local loads and stores in the disassembly: 0 means that nothing was spilled.
        fp4 / sixteen_bit: matrix instructions of either kind in the PTX.
        flushes: instructions that flush subnormals, which decoding must not.
        inexact: fused multiply-adds and divisions that are not correctly rounded: a quantiser must
            have neither, or its bytes are not the reference's.
        loop_fp4 / loop_others: instructions in the main loop of a native product.
    """

    name: str
    arch: int
    kernel: str
    registers: int
    stack: int
    spills: int
    shared: int
    fp4: int
    sixteen_bit: int
    flushes: int
    inexact: int
    loop_fp4: int = 0
    loop_others: int = 0
    opcodes: dict[str, int] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        return self.loop_others / self.loop_fp4 if self.loop_fp4 else None


def specs(arch: int) -> Iterator[Spec]:
    """Every configuration that can be chosen on an architecture."""
    from kernels import dequantize as d
    from kernels import matmul as m
    from kernels import quantize as q
    from kernels import quantize_mx as mx

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
    yield Spec(
        arch,
        "dequantize",
        "_transpose_codes_kernel",
        "",
        {"codes_ptr": "*u8", "out_ptr": "*u8"},
        {"BLOCK_M": d.BLOCK_M, "BLOCK_K": d.BLOCK_K},
        num_warps=d.NUM_WARPS,
    )
    yield Spec(
        arch,
        "quantize_mx",
        "_quantize_mxfp4_kernel",
        "bf16 swizzled",
        {"x_ptr": "*bf16", "codes_ptr": "*u8", "scales_ptr": "*u8"},
        {"stride_k": 1, "SWIZZLED": True, "BLOCK_M": mx.BLOCK_M, "BLOCK_K": mx.BLOCK_K},
        num_warps=mx.NUM_WARPS,
    )
    for size, tile in m.DECODED_TILES.items():
        # MXFP4's fprop is always in FP4, so only its dgrad decodes.
        for group, transposed in ((16, False), (16, True), (32, True)):
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
                    **_blocks(tile),
                },
                num_warps=tile.num_warps,
                num_stages=tile.num_stages,
            )
    for size, tile in m.NATIVE_TILES.get(arch, {}).items():
        for group, even in ((16, True), (16, False), (32, False)):
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
                    **_blocks(tile),
                },
                num_warps=tile.num_warps,
                num_stages=tile.num_stages,
            )


def one_row(spec: Spec) -> Spec:
    """The same with a single row, which Triton compiles apart: an argument of 1 is a constant."""
    constants = {**spec.constants, "M": 1}
    return replace(spec, constants=constants, label=f"{spec.label} one row")


def _blocks(tile) -> dict[str, int]:  # noqa: ANN001
    return {
        "BLOCK_M": tile.block_m,
        "BLOCK_N": tile.block_n,
        "BLOCK_K": tile.block_k,
        "GROUP_M": 8,
    }


def compile_spec(spec: Spec) -> Compiled:
    """Compiles one configuration to a cubin and reads it."""
    import importlib

    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = getattr(importlib.import_module(f"kernels.{spec.module}"), spec.kernel)
    names = kernel.arg_names
    types = {n: "constexpr" if n in spec.constants else spec.types.get(n, "i32") for n in names}
    # As at run time: pointers are aligned, the shapes a model has are multiples of 16, and an
    # argument of 1 is a constant, which a contiguous tensor's last stride is.
    aligned = {
        (i,): [["tt.divisibility", 16]]
        for i, n in enumerate(names)
        if types[n].startswith("*")
        or (n in ("K", "N", "stride_x", "stride_m") and n not in spec.constants)
    }
    constants = {(names.index(n),): value for n, value in spec.constants.items()}
    done = triton.compile(
        ASTSource(kernel, types, constants, aligned),
        target=GPUTarget("cuda", spec.arch, 32),
        options={
            "num_warps": spec.num_warps,
            "num_stages": spec.num_stages,
            "enable_fp_fusion": spec.fusion,
        },
    )
    return _read(spec, done.asm["ptx"], done.asm["cubin"], done.metadata.shared)


def _read(spec: Spec, ptx: str, cubin: bytes, shared: int) -> Compiled:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        usage = _tool("cuobjdump", "-res-usage", file.name)
        assembly = _tool("nvdisasm", "-c", file.name)
    registers, stack = map(int, re.search(r"REG:(\d+) STACK:(\d+)", usage).groups())
    loop = _main_loop(assembly, "OMMA" if spec.arch >= 120 else "UTCOMMA")
    fp4 = sum("OMMA" in line for line in loop)
    opcodes: dict[str, int] = {}
    for line in loop:
        opcode = re.sub(r"^@!?U?P\w+ ", "", line).split()[0].split(".")[0]
        opcodes[opcode] = opcodes.get(opcode, 0) + 1
    return Compiled(
        name=spec.name,
        arch=spec.arch,
        kernel=spec.kernel,
        registers=registers,
        stack=stack,
        spills=len(re.findall(r"\b(?:LDL|STL)\b", assembly)),
        shared=shared,
        fp4=ptx.count("mxf4nvf4") + ptx.count("kind::mxf4."),
        sixteen_bit=len(re.findall(r"mma\.sync\S*m16n8k16|wgmma\.mma_async|kind::f16", ptx)),
        flushes=ptx.count(".ftz"),
        inexact=len(re.findall(r"\bfma\.rn\.f32|\bdiv\.(?:full|approx)", ptx)),
        loop_fp4=fp4,
        loop_others=len(loop) - fp4,
        opcodes=dict(sorted(opcodes.items(), key=lambda item: -item[1])),
    )


def _tool(name: str, *arguments: str) -> str:
    import triton

    path = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / name
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def _main_loop(assembly: str, opcode: str) -> list[str]:
    """The instructions of the loop that holds most of ``opcode``: a branch back, and its target."""
    instructions: list[str] = []
    labels: dict[str, int] = {}
    best: list[str] = []
    for line in assembly.splitlines():
        if label := re.match(r"\s*(\.L_\w+):", line):
            labels[label[1]] = len(instructions)
        if found := re.search(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line):
            instructions.append(found[1])
            back = re.search(r"\bBRA\b.*`\((\.L_\w+)\)", found[1])
            if back and back[1] in labels:
                loop = instructions[labels[back[1]] :]
                count, most = (sum(opcode in i for i in body) for body in (loop, best))
                if count > most or (count == most and count and len(loop) < len(best)):
                    best = loop
    return best


def compile_all(architectures: tuple[int, ...] = ARCHITECTURES) -> list[Compiled]:
    """Everything, on all cores."""
    todo = []
    for arch in architectures:
        every = list(specs(arch))
        first = {spec.kernel: spec for spec in reversed(every)}
        todo += [*every, *(one_row(spec) for spec in first.values())]
    with ProcessPoolExecutor() as pool:
        return list(pool.map(compile_spec, todo))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", type=int, choices=ARCHITECTURES, action="append")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    # Read when triton is imported, which is later: kernels must be compiled here, not interpreted.
    os.environ.pop("TRITON_INTERPRET", None)
    results = compile_all(tuple(arguments.arch or ARCHITECTURES))
    print(f"{'kernel':66} {'regs':>4} {'spills':>6} {'shared':>7} {'fp4':>4} {'16b':>4} ratio")
    for r in results:
        ratio = f"{r.ratio:.2f}" if r.ratio is not None else ""
        counts = f"{r.registers:4} {r.spills:6} {r.shared:7} {r.fp4:4} {r.sixteen_bit:4}"
        print(f"{r.name:66} {counts} {ratio}")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(r) for r in results], indent=1))


if __name__ == "__main__":
    main()
