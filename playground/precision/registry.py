"""Every precision that can be run: adding one is an entry here and in ``config.PRECISIONS``."""

from __future__ import annotations

from playground.config import RunConfig
from playground.precision import bf16, fp8, fp16, fp32, mxfp4, nf4, nvfp4
from playground.precision.recipe import Recipe

PRECISION_RECIPES: dict[str, Recipe] = {
    "fp32": fp32.RECIPE,
    "bf16": bf16.RECIPE,
    "fp16": fp16.RECIPE,
    "fp8": fp8.RECIPE,
    "nvfp4": nvfp4.RECIPE,
    "nvfp4-2d": nvfp4.RECIPE_2D,
    "nvfp4-weight-only": nvfp4.RECIPE_WEIGHT_ONLY,
    "mxfp4": mxfp4.RECIPE,
    "nf4": nf4.RECIPE,
}


def recipe_of(config: RunConfig) -> Recipe:
    """The recipe of a run's precision, with the run's options."""
    return PRECISION_RECIPES[config.precision].with_options(config.quantization)
