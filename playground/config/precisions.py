"""The precisions by name and label; how each is done is in ``playground/precision/``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from playground.config.errors import SettingsError, nearest


class PrecisionInfo(BaseModel):
    """One row of the precision table, for people. The implementation is in ``precision/``.

    Attributes:
        label: short name for charts and badges.
        storage_bits: bits a frozen weight takes at rest, scales included.
        weights / activations: the format fprop's operands are rounded to.
        dgrad: how the gradient of the input is computed (there is no wgrad for a frozen weight).
        compute: the 16- or 32-bit type of everything that is not a converted Linear.
        summary: one sentence for a newcomer.
    """

    model_config = ConfigDict(frozen=True)

    label: str
    storage_bits: float
    weights: str
    activations: str
    dgrad: str
    compute: Literal["fp32", "fp16", "bf16"]
    summary: str


PRECISIONS: dict[str, PrecisionInfo] = {
    "fp32": PrecisionInfo(
        label="FP32",
        storage_bits=32,
        weights="fp32",
        activations="fp32",
        dgrad="fp32",
        compute="fp32",
        summary="Full single precision: the yardstick, and the largest.",
    ),
    "bf16": PrecisionInfo(
        label="BF16",
        storage_bits=16,
        weights="bf16",
        activations="bf16",
        dgrad="bf16",
        compute="bf16",
        summary="Half the bytes of FP32 with its full range; needs no loss scaling.",
    ),
    "fp16": PrecisionInfo(
        label="FP16",
        storage_bits=16,
        weights="fp16",
        activations="fp16",
        dgrad="fp16",
        compute="fp16",
        summary="Half the bytes of FP32, finer steps than BF16 but a small range: "
        "the loss is scaled so that small gradients survive.",
    ),
    "fp8": PrecisionInfo(
        label="FP8",
        storage_bits=8,
        weights="fp8 (e4m3)",
        activations="fp8 (e4m3)",
        dgrad="fp8 (e5m2), through the same weight",
        compute="bf16",
        summary="8-bit weights, activations and gradients, a scale for every token: half of FP16's "
        "weight memory and twice the products a second on GPUs since 2022, with little lost.",
    ),
    "nvfp4": PrecisionInfo(
        label="NVFP4",
        storage_bits=4.5,
        weights="nvfp4",
        activations="nvfp4",
        dgrad="bf16, through the decoded weight",
        compute="bf16",
        summary="4-bit weights and activations, a scale for every 16 values: "
        "28 % of FP16's weight memory, FP4 tensor cores on Blackwell.",
    ),
    "nvfp4-2d": PrecisionInfo(
        label="NVFP4-2D",
        storage_bits=4.5,
        weights="nvfp4 in 16x16 tiles",
        activations="nvfp4",
        dgrad="nvfp4, stochastic rounding",
        compute="bf16",
        summary="NVFP4 in the backward pass too: a scale for every 16x16 tile, so that one copy of "
        "a weight serves both directions; the fastest, and the noisiest gradients.",
    ),
    "nvfp4-weight-only": PrecisionInfo(
        label="NVFP4 W4A16",
        storage_bits=4.5,
        weights="nvfp4",
        activations="bf16",
        dgrad="bf16, through the decoded weight",
        compute="bf16",
        summary="Weights in 4 bits, everything else in 16: the memory of NVFP4 with nearly the "
        "accuracy of BF16, and products no faster than BF16's.",
    ),
    "mxfp4": PrecisionInfo(
        label="MXFP4",
        storage_bits=4.25,
        weights="mxfp4",
        activations="mxfp4",
        dgrad="bf16, through the decoded weight",
        compute="bf16",
        summary="The open 4-bit format that NVFP4 refines: a scale for every 32 values, always a "
        "power of two, so it is a little smaller than NVFP4 and rounds more coarsely.",
    ),
    "nf4": PrecisionInfo(
        label="NF4",
        storage_bits=4.5,
        weights="nf4",
        activations="bf16",
        dgrad="bf16, through the decoded weight",
        compute="bf16",
        summary="QLoRA's 4-bit weights, sixteen values placed as weights are distributed: the "
        "memory of NVFP4 on any GPU, but only storage, so products are no faster than BF16's.",
    ),
}


def check_precision(name: str) -> str:
    """Returns ``name`` if it is a known precision id.

    Raises:
        SettingsError: it is not; the message lists those that are.
    """
    if name not in PRECISIONS:
        known = list(PRECISIONS)
        raise SettingsError(
            f"Precision '{name}' is unknown; choose from {', '.join(known)}.{nearest(name, known)}"
        )
    return name
