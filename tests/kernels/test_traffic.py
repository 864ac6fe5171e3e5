"""One decoder layer's Linears: what is really launched is what the table says."""

from __future__ import annotations

import pytest
import torch

from benchmarks.traffic import Layer, Traffic, nvfp4, sixteen_bit, table
from kernels import (
    linear_fp4,
    matmul,
    quantize,
    quantize_activation,
    quantize_mx,
    quantize_mxfp4,
    quantize_nvfp4,
)
from kernels.format import swizzle_scales
from kernels.quantize import WHOLE_AMAX

ROOT_README = "kernels/README.md"
LAYER = Layer(hidden=64, key_value=32, ffn=128)


class _Counted:
    """A kernel that counts its launches, and runs as before."""

    def __init__(self, kernel: object, launches: list[str], name: str) -> None:
        self.kernel, self.launches, self.name = kernel, launches, name

    def __getitem__(self, grid: tuple[int, ...]) -> object:
        def launch(*args: object, **options: object) -> object:
            self.launches.append(self.name)
            return self.kernel[grid](*args, **options)

        return launch


class _NoProduct:
    """Stands for the FP4 product, which the interpreter cannot do: writes zeros."""

    def __getitem__(self, grid: tuple[int, ...]) -> object:
        return lambda *args, **options: args[7].zero_()


@pytest.mark.parametrize("whole_amax", [0, WHOLE_AMAX])
@pytest.mark.parametrize("tokens", [1, 33])
def test_launches_of_a_layer_are_as_the_table_counts(
    tokens: int, whole_amax: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = _launched_by_a_layer("nvfp4", tokens, whole_amax, device, monkeypatch)
    assert launched.count("_quantize_nvfp4_kernel") == 4, "each activation at most once"
    assert launched.count("_matmul_native_kernel") == 7
    assert len(launched) == nvfp4(LAYER, tokens, whole_amax=whole_amax).launches


@pytest.mark.parametrize("tokens", [1, 33])
def test_mxfp4_takes_one_launch_for_an_activation_of_any_size(
    tokens: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = _launched_by_a_layer("mxfp4", tokens, 0, device, monkeypatch)
    assert launched.count("_quantize_mxfp4_kernel") == 4
    assert launched.count("_matmul_native_kernel") == 7
    assert len(launched) == 11


def _launched_by_a_layer(
    recipe: str, tokens: int, whole_amax: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    launched: list[str] = []
    product = matmul._matmul_native_kernel if device == "cuda" else _NoProduct()
    for module, name, kernel in (
        (quantize, "_amax_kernel", quantize._amax_kernel),
        (quantize, "_quantize_nvfp4_kernel", quantize._quantize_nvfp4_kernel),
        (quantize_mx, "_quantize_mxfp4_kernel", quantize_mx._quantize_mxfp4_kernel),
        (matmul, "_matmul_native_kernel", product),
    ):
        monkeypatch.setattr(module, name, _Counted(kernel, launched, name))
    monkeypatch.setattr(quantize, "WHOLE_AMAX", whole_amax)
    if device == "cpu":
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: (12, 0))
    torch.manual_seed(0)
    for k, outputs in LAYER.activations():
        x = torch.randn(tokens, k, device=device).bfloat16()
        operand = quantize_activation(x, recipe=recipe, backend="native")
        for n in outputs:
            pack = quantize_mxfp4 if recipe == "mxfp4" else quantize_nvfp4
            q = pack(torch.randn(n, k, device=device), backend="reference")
            tiled = swizzle_scales(q.block_scales)
            options = dict(operand=operand, tiled_scales=tiled, backend="native")
            y = linear_fp4(x, q, recipe=recipe, **options)
            assert y.shape == (tokens, n)
    return launched


def test_bytes_of_a_layer_by_hand() -> None:
    layer = Layer(hidden=16, key_value=16, ffn=16)
    # Seven products of (2, 16) by (16, 16): 2 bytes of 32 + 256 + 32 values each.
    assert sixteen_bit(layer, 2) == Traffic(7, 7 * 2 * 320)
    # Packed operands, 16-bit results; four activations read once and written packed.
    products, quantised = 7 * (0.5625 * 288 + 2 * 32), 4 * 32 * 2.5625
    assert nvfp4(layer, 2, whole_amax=99) == Traffic(11, round(products + quantised))
    assert nvfp4(layer, 2, whole_amax=0).launches == 15


def test_the_table_in_the_readme_is_this_one() -> None:
    from pathlib import Path

    readme = (Path(__file__).parents[2] / ROOT_README).read_text()
    assert table(Layer(), [1, 64, 512, 4096], WHOLE_AMAX) in readme
