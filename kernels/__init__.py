"""Low-precision arithmetic on tensors: NVFP4 and MXFP4 quantised, decoded and multiplied.

The name is also that of a Hugging Face package which transformers probes for: so this file stays
light and defines no version. Triton is imported only where a kernel is about to run.
"""

from .dispatch import BackendChoice, choose_backend
from .format import (
    E2M1_MAX,
    E2M1_VALUES,
    E4M3_MAX,
    SCALE_BLOCK,
    NVFP4Tensor,
)
from .linear import linear_fp4, quantize_activation
from .mxfp4 import MX_BLOCK, MXFP4Tensor, dequantize_mxfp4, fake_quantize_mxfp4, quantize_mxfp4
from .ops import dequantize_nvfp4, matmul_nvfp4, quantize_nvfp4
from .reference import fake_quantize_nvfp4, quantize_nvfp4_reference
from .rounding import round_to

__all__ = [
    "E2M1_MAX",
    "E2M1_VALUES",
    "E4M3_MAX",
    "MX_BLOCK",
    "SCALE_BLOCK",
    "BackendChoice",
    "MXFP4Tensor",
    "NVFP4Tensor",
    "choose_backend",
    "dequantize_mxfp4",
    "dequantize_nvfp4",
    "fake_quantize_mxfp4",
    "fake_quantize_nvfp4",
    "linear_fp4",
    "matmul_nvfp4",
    "quantize_activation",
    "quantize_mxfp4",
    "quantize_nvfp4",
    "quantize_nvfp4_reference",
    "round_to",
]
