"""What the compiler makes of every kernel, read without a GPU.

    python -m benchmarks.compiled [--arch 120] [--json FILE]

Compiles each kernel ahead of time for each architecture, in every configuration that can be chosen,
down to the cubin, with the tools that Triton ships; then reads registers, spills, shared memory,
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
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, field
from io import StringIO
from pathlib import Path

from benchmarks.configurations import ARCHITECTURES, Spec, one_row, specs

SHARED_LIMIT = {80: 166912, 89: 101376, 90: 232448, 100: 232448, 103: 232448, 120: 101376}
"""Bytes of shared memory that one block may use (CUDA C++ Programming Guide, table of limits)."""


@dataclass(frozen=True)
class Compiled:
    """What came out.

    Attributes:
        stack: bytes of local memory set aside for a thread; the compiler's front end reserves a few
            that the assembly then never touches.
        spills: bytes of registers stored to local memory and loaded again, by ``ptxas -v``.
        local_accesses: local loads and stores in a native product's disassembly.
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
    local_accesses: int
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
    triton.knobs.nvidia.dump_ptxas_log = True
    with redirect_stdout(StringIO()) as log:
        done = triton.compile(
            ASTSource(kernel, types, constants, aligned),
            target=GPUTarget("cuda", spec.arch, 32),
            options={
                "num_warps": spec.num_warps,
                "num_stages": spec.num_stages,
                "enable_fp_fusion": spec.fusion,
            },
        )
    ptx = done.asm["ptx"]
    # Nothing is assembled, and so nothing logged, where Triton finds the kernel in its cache.
    usage = _usage(log.getvalue()) or _usage(_assemble(spec, ptx))
    return _read(spec, ptx, done.asm["cubin"], done.metadata.shared, usage)


def _read(spec: Spec, ptx: str, cubin: bytes, shared: int, usage: tuple[int, int, int]) -> Compiled:
    registers, stack, spills = usage
    # The disassembler takes half a second to start, and only a native product's loop is read.
    native = spec.kernel == "_matmul_native_kernel"
    assembly = _disassembled(cubin) if native else ""
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
        spills=spills,
        local_accesses=len(re.findall(r"\b(?:LDL|STL)\b", assembly)),
        shared=shared,
        fp4=ptx.count("mxf4nvf4") + ptx.count("kind::mxf4."),
        sixteen_bit=len(re.findall(r"mma\.sync\S*m16n8k16|wgmma\.mma_async|kind::f16", ptx)),
        flushes=ptx.count(".ftz"),
        inexact=len(re.findall(r"\bfma\.rn\.f32|\bdiv\.(?:full|approx)", ptx)),
        loop_fp4=fp4,
        loop_others=len(loop) - fp4,
        opcodes=dict(sorted(opcodes.items(), key=lambda item: -item[1])),
    )


def _usage(report: str) -> tuple[int, int, int] | None:
    """Registers, bytes of stack and bytes spilled, reported by ``ptxas -v``; None if not."""
    registers = re.search(r"Used (\d+) registers", report)
    local = re.search(
        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", report
    )
    if not registers or not local:
        return None
    stack, stored, loaded = map(int, local.groups())
    return int(registers[1]), stack, stored + loaded


def _assemble(spec: Spec, ptx: str) -> str:
    """What ``ptxas -v`` says, run with Triton's options (``NvidiaBackend.make_cubin``)."""
    from triton.backends.nvidia.compiler import get_ptxas, sm_arch_from_capability

    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        return _run(
            get_ptxas(spec.arch).path,
            "-v",
            "-lineinfo",
            "--regAllocOptLevel=2",
            *([] if spec.fusion else ["--fmad=false"]),
            f"--gpu-name={sm_arch_from_capability(spec.arch)}",
            file.name,
            "-o",
            os.devnull,
        ).stderr


def _disassembled(cubin: bytes) -> str:
    import triton

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "nvdisasm"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        return _run(tool, "-c", file.name).stdout


def _run(tool: str | Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=True)


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
