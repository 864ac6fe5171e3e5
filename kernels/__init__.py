"""Low-precision arithmetic on tensors: NVFP4, MXFP4, NF4 and FP8, to them, back, and multiplied.

The name is also that of a Hugging Face package which transformers probes for: so this file stays
light and defines no version. Triton is imported only where a kernel is about to run.
"""

from .blocks import fake_quantize_blocks
from .dispatch import BackendChoice, choose_backend
from .elements import Elements, elements
from .format import (
    E2M1_MAX,
    E2M1_VALUES,
    E4M3_MAX,
    SCALE_BLOCK,
    NVFP4Tensor,
)
from .fp8 import FP8Tensor, fake_quantize_fp8, linear_fp8, quantize_fp8, quantize_fp8_operand
from .linear import linear_fp4, quantize_activation
from .mxfp4 import MX_BLOCK, MXFP4Tensor, dequantize_mxfp4, fake_quantize_mxfp4, quantize_mxfp4
from .nf4 import NF4Tensor, dequantize_nf4, linear_nf4, quantize_nf4
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
    "Elements",
    "FP8Tensor",
    "MXFP4Tensor",
    "NF4Tensor",
    "NVFP4Tensor",
    "choose_backend",
    "dequantize_mxfp4",
    "dequantize_nf4",
    "dequantize_nvfp4",
    "elements",
    "fake_quantize_blocks",
    "fake_quantize_fp8",
    "fake_quantize_mxfp4",
    "fake_quantize_nvfp4",
    "linear_fp4",
    "linear_fp8",
    "linear_nf4",
    "matmul_nvfp4",
    "quantize_activation",
    "quantize_fp8",
    "quantize_fp8_operand",
    "quantize_mxfp4",
    "quantize_nf4",
    "quantize_nvfp4",
    "quantize_nvfp4_reference",
    "round_to",
]
