"""What every kernel compiles to, for six architectures, with no GPU: read from PTX and assembly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.compiled import SHARED_LIMIT, Compiled, _main_loop
from benchmarks.configurations import ARCHITECTURES
from kernels.matmul import DECODED_TILES, NATIVE_TILES

ROOT = Path(__file__).parents[2]
NATIVE = "_matmul_native_kernel"
OTHERS_TO_AN_OMMA = 12

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> list[Compiled]:
    """Every configuration, compiled in a process of its own: this one may be interpreting."""
    report = tmp_path_factory.mktemp("compiled") / "report.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.compiled", "--json", report],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [Compiled(**row) for row in json.loads(report.read_text())]


def _only(rows: list[Compiled], what: str) -> None:
    assert not rows, f"{what}: " + "; ".join(r.name for r in rows)


def test_every_architecture_has_every_kernel(compiled: list[Compiled]) -> None:
    for arch in ARCHITECTURES:
        kernels = [r.kernel for r in compiled if r.arch == arch and "one row" not in r.name]
        native = NATIVE_TILES.get(arch, {})
        assert kernels.count("_matmul_decoded_kernel") == (3 if native else 2) * len(DECODED_TILES)
        assert kernels.count(NATIVE) == 4 * len(native)
        assert {
            "_amax_kernel",
            "_quantize_nvfp4_kernel",
            "_quantize_mxfp4_kernel",
            "_dequantize_kernel",
        } <= {*kernels}
        assert ("_transpose_codes_kernel" in kernels) == bool(native)


def test_nothing_is_spilled(compiled: list[Compiled]) -> None:
    _only([r for r in compiled if r.spills or r.local_accesses], "spilled")


def test_shared_memory_is_within_the_architecture_s_limit(compiled: list[Compiled]) -> None:
    _only([r for r in compiled if r.shared > SHARED_LIMIT[r.arch]], "too much shared memory")


def test_native_products_use_fp4_instructions_and_no_16_bit_ones(compiled: list[Compiled]) -> None:
    native = [r for r in compiled if r.kernel == NATIVE]
    assert {r.arch for r in native} == {100, 103, 120}
    _only([r for r in native if not r.fp4], "no FP4 instruction")
    _only([r for r in native if r.sixteen_bit], "silently 16 bits")


def test_decoded_products_use_16_bit_tensor_cores(compiled: list[Compiled]) -> None:
    decoded = [r for r in compiled if r.kernel == "_matmul_decoded_kernel"]
    _only([r for r in decoded if not r.sixteen_bit or r.fp4], "not a 16-bit product")


def test_the_native_loop_on_sm_120_is_not_bound_by_issue(compiled: list[Compiled]) -> None:
    rows = [r for r in compiled if r.kernel == NATIVE and r.arch == 120]
    assert all(r.loop_fp4 for r in rows)
    _only([r for r in rows if r.ratio > OTHERS_TO_AN_OMMA], "bound by issue")


def test_subnormals_are_never_flushed(compiled: list[Compiled]) -> None:
    # E2M1's and E4M3's small values are decoded by way of fp32 subnormals.
    _only([r for r in compiled if r.flushes], "flushes subnormals")


def test_quantisers_and_decoders_round_as_the_reference_does(compiled: list[Compiled]) -> None:
    exact = [r for r in compiled if "quantize" in r.kernel]
    assert exact
    _only([r for r in exact if r.inexact], "a fused or approximate operation")


def test_the_main_loop_is_the_one_with_most_of_the_instruction() -> None:
    def line(address: int, text: str) -> str:
        return f"        /*{address:04x}*/                   {text} ;"

    listing = "\n".join(
        [
            ".L_x_0:",
            line(0, "IADD R1, R1, 1"),
            line(16, "@P0 BRA `(.L_x_0)"),
            ".L_x_1:",
            line(32, "OMMA.SF.16864 R4, R8"),
            line(48, "LDS R4, [R8]"),
            line(64, "@!P1 BRA `(.L_x_1)"),
            line(80, "OMMA.SF.16864 R4, R8"),
            line(96, "EXIT"),
        ]
    )
    assert len(_main_loop(listing, "OMMA")) == 3
    assert _main_loop(listing, "UTCOMMA") == []
