"""NF4: equal to bitsandbytes byte for byte, the published error, the edges, and the product."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from kernels import nf4 as operators
from kernels.nf4 import NF4_VALUES, NF4Tensor, dequantize_nf4, linear_nf4, quantize_nf4
from kernels.rounding import round_to
from tests.assertions import bits_equal, codes_equal, relative_mse

# quantize_4bit(torch.manual_seed(7); torch.randn(4, 64), blocksize=64, quant_type="nf4") of
# bitsandbytes 0.50.2 on a CPU: its bytes and its absmax.
BITSANDBYTES_CODES = (
    "49b26854b535ab8b26e68ab466161a33778eb5452cd366986676036bd751b66a885b21443da6353a09a963ec56bc38ad"
    "4bc2875a9e2ea6a225a845aa3d2a5a9da8a36303e15a813d96d2f4b77457b248b278e584444836c853b8b49e9be30237"
    "683bc42607aaa97794445093325b65c79ac675953674586c4a555ea7a667a476"
)
BITSANDBYTES_ABSMAX = [2.966169834136963, 2.257782220840454, 2.1510300636291504, 3.0205957889556885]


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def decoded(q: NF4Tensor) -> Tensor:
    """Once more, in other words: an index into the table for each nibble, high one first."""
    values = q.shape[0] * q.shape[1]
    nibbles = torch.stack([q.codes >> 4, q.codes & 15], 1).view(-1)[:values].long()
    blocks = torch.arange(values) // 64
    return (torch.tensor(NF4_VALUES)[nibbles] * q.absmax[blocks]).view(q.shape)


def test_bitsandbytes_returns_the_same_bytes() -> None:
    x = torch.randn(4, 64, generator=torch.Generator().manual_seed(7))
    q = quantize_nf4(x)
    codes_equal(q.codes, torch.tensor(list(bytes.fromhex(BITSANDBYTES_CODES)), dtype=torch.uint8))
    assert q.absmax.tolist() == BITSANDBYTES_ABSMAX


def test_published_error_and_bits() -> None:
    x = normal(1024, 2048)
    q = quantize_nf4(x)
    assert relative_mse(q.dequantize(), x) == pytest.approx(0.00846, rel=0.01)
    assert q.nbytes * 8 == x.numel() * 4.5


@pytest.mark.parametrize("index", range(16))
def test_every_code_and_its_ties(index: int) -> None:
    table = torch.tensor(NF4_VALUES)
    x = torch.zeros(1, 64)
    x[0, 0] = 1
    x[0, 1] = table[index]
    if index:
        tie = (table[index - 1] + table[index]) / 2
        x[0, 2] = tie
        x[0, 3] = torch.nextafter(tie, torch.tensor(2.0))
    got = quantize_nf4(x).dequantize()[0]
    assert got[1] == table[index]
    if index:
        assert got[2] == table[index - 1] and got[3] == table[index]


@pytest.mark.parametrize("shape", [(1, 1), (3, 21), (5, 32), (2, 64), (7, 50), (600, 896), (0, 64)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_blocks_run_on_from_row_to_row(shape: tuple[int, int], dtype: torch.dtype) -> None:
    x = normal(*shape)
    q = quantize_nf4(x)
    bits_equal(dequantize_nf4(q, dtype), decoded(q).to(dtype))


@pytest.mark.parametrize("magnitude", [1e-44, 1e-38, 1e-30, 1e30, 3e38])
def test_the_ends_of_fp32(magnitude: float) -> None:
    x = normal(4, 64).clamp(-1, 1) * magnitude
    got = quantize_nf4(x).dequantize()
    assert got.isfinite().all()
    assert (got - x).abs().max() <= x.abs().max()


def test_zeros_stay_zeros_beside_others() -> None:
    x = normal(2, 64)
    x[0] = 0
    q = quantize_nf4(x)
    assert q.absmax[0] == 0 and (q.codes[:32] == 0x77).all()
    assert not q.dequantize()[0].any() and q.dequantize()[1].any()


def test_forward_and_backward_are_16_bit_products_with_the_decoded_weight() -> None:
    x, q = normal(2, 5, 96).requires_grad_(), quantize_nf4(normal(48, 96))
    dy, bias = normal(2, 5, 48), normal(48)
    y = linear_nf4(x, q, bias)
    y.backward(dy)
    w = decoded(q).to(torch.bfloat16).float()
    want = torch.nn.functional.linear(round_to(x.detach(), "bf16"), w, bias)
    bits_equal(y.detach(), round_to(want, "bf16"))
    bits_equal(x.grad, round_to(round_to(dy, "bf16") @ w, "bf16"))


def test_our_decode_on_a_gpu_is_a_plain_16_bit_product() -> None:
    x, q, dy = normal(5, 64).requires_grad_(), quantize_nf4(normal(48, 64)), normal(5, 48)
    y = linear_nf4(x, q, backend="torch")
    grad = torch.autograd.grad(y, x, dy)[0]
    want = linear_nf4(x, q, backend="reference")
    torch.testing.assert_close(y, want, rtol=2**-7, atol=1e-5)
    torch.testing.assert_close(grad, torch.autograd.grad(want, x, dy)[0], rtol=2**-7, atol=1e-5)


def test_bitsandbytes_decodes_to_the_same_values() -> None:
    pytest.importorskip("bitsandbytes", reason="bitsandbytes is not installed")
    q = quantize_nf4(normal(128, 576))
    got = operators._decoded(q, "bitsandbytes").float()
    bits_equal(got, operators._decoded(q, "reference"))


def test_the_operator_passes_torch_s_own_check() -> None:
    q = quantize_nf4(normal(16, 32))
    arguments = (normal(5, 32).requires_grad_(), q.codes, q.absmax, 16, 32, None, "reference")
    torch.library.opcheck(operators._linear, arguments)


def test_refused_with_the_value_and_the_remedy() -> None:
    with pytest.raises(ValueError, match="1 of 64 values are NaN or inf"):
        quantize_nf4(torch.tensor([[float("nan")] + [1.0] * 63]))
    with pytest.raises(ValueError, match="float32 with 3 dimensions"):
        quantize_nf4(torch.ones(1, 2, 64))
    with pytest.raises(ValueError, match="torch.float64; decode to float32"):
        quantize_nf4(torch.ones(1, 64)).dequantize(torch.float64)
    with pytest.raises(ValueError, match=r"absmax is .*needs torch.float32 \(1,\)"):
        NF4Tensor(torch.zeros(32, dtype=torch.uint8), torch.zeros(2), (1, 64))
