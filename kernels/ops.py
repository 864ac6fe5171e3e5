"""The public operations: each checks its operands, has ``dispatch`` choose a backend, calls it."""

from __future__ import annotations

import torch

from .dispatch import candidates, check_backend, choose_backend
from .format import NVFP4Tensor, check_decoded_dtype, check_input, check_matrix
from .reference import (
    Rounding,
    check_options,
    dequantize_nvfp4_reference,
    matmul_nvfp4_reference,
    quantize_nvfp4_reference,
)
from .rounding import seed_tensor
from .scales import ScaleRule, Scaling, given_scale


def quantize_nvfp4(
    x: torch.Tensor,
    *,
    tensor_scale: torch.Tensor | float | None = None,
    scaling: Scaling = "1d",
    scale_rule: ScaleRule = "amax",
    rounding: Rounding = "nearest",
    seed: int | None = None,
    offset: int = 0,
    backend: str | None = None,
) -> NVFP4Tensor:
    """Packs a matrix in NVFP4: (M, K) fp32, bf16 or fp16 -> 4.5 bits a value.

    Args and errors as ``quantize_nvfp4_reference``. ``backend`` None takes what ``choose_backend``
    says; every backend returns the same bytes.
    """
    options = dict(scaling=scaling, scale_rule=scale_rule)
    if check_backend(backend, x.device) == "reference":
        return quantize_nvfp4_reference(
            x, tensor_scale=tensor_scale, rounding=rounding, seed=seed, offset=offset, **options
        )
    from .quantize import quantize_nvfp4_triton

    check_input(x)
    check_matrix(x)
    check_options(scaling, scale_rule, rounding, seed, offset)
    parts = quantize_nvfp4_triton(
        x,
        tensor_scale=None if tensor_scale is None else given_scale(tensor_scale, x.device),
        seed=None if seed is None else seed_tensor(seed, x.device),
        offset=offset,
        **options,
    )
    return NVFP4Tensor(*parts, tuple(x.shape))


def dequantize_nvfp4(
    q: NVFP4Tensor, dtype: torch.dtype = torch.float32, *, backend: str | None = None
) -> torch.Tensor:
    """The (M, K) values of a packed tensor, computed in fp32 and rounded once to ``dtype``.

    Raises:
        ValueError: ``dtype`` is not fp32, bf16 or fp16.
    """
    check_decoded_dtype(dtype)
    if check_backend(backend, q.device) == "reference":
        return dequantize_nvfp4_reference(q, dtype)
    from .dequantize import dequantize_triton

    return dequantize_triton(q, dtype)


def matmul_nvfp4(
    a: NVFP4Tensor,
    b: NVFP4Tensor,
    *,
    bias: torch.Tensor | None = None,
    dtype: torch.dtype = torch.float32,
    backend: str | None = None,
) -> torch.Tensor:
    """a @ b.T (+ bias): (M, K) x (N, K) -> (M, N), sums in fp32, cast to ``dtype`` last.

    Args:
        backend: "reference", or on a GPU with FP4 tensor cores "native" or "cublas"; None takes
            what ``choose_backend`` says.
    Raises:
        ValueError: the operands do not fit together or are no NVFP4Tensors, or the device has no
            such backend.
    """
    for name, operand in (("a", a), ("b", b)):
        if not isinstance(operand, NVFP4Tensor):
            raise ValueError(
                f"{name} is a {type(operand).__name__}; pack it first: quantize_nvfp4({name})"
            )
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"a is {a.shape} and b is {b.shape}, but they are multiplied along K, their last "
            "dimension, which must agree; b is (N, K), the layout of nn.Linear's weight"
        )
    if a.device != b.device:
        raise ValueError(f"a is on {a.device} and b on {b.device}; move one with .to(device)")
    if bias is not None and tuple(bias.shape) != (b.shape[0],):
        raise ValueError(f"bias is {tuple(bias.shape)}; b has N = {b.shape[0]} rows: pass (N,)")
    backend = backend or choose_backend(a.device).name
    if backend == "reference":
        return matmul_nvfp4_reference(a, b, bias=bias, dtype=dtype)
    served, why = candidates(a.device, "nvfp4")
    if backend not in served:
        known = ", ".join(["reference", *served])
        raise ValueError(
            f"backend is {backend!r}; here choose from {known}{f' ({why})' if why else ''}"
        )
    from .matmul import matmul_fp4, native_operand

    operands = native_operand(a), native_operand(b)
    return matmul_fp4(*operands, bias=bias, dtype=dtype, backend=backend)
