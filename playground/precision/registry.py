"""Every precision that can be run: adding one is an entry here and in ``config.PRECISIONS``."""

from __future__ import annotations

from playground.precision import bf16, fp16, fp32, mxfp4, nvfp4
from playground.precision.recipe import Recipe

PRECISION_RECIPES: dict[str, Recipe] = {
    "fp32": fp32.RECIPE,
    "bf16": bf16.RECIPE,
    "fp16": fp16.RECIPE,
    "nvfp4": nvfp4.RECIPE,
    "nvfp4-2d": nvfp4.RECIPE_2D,
    "nvfp4-weight-only": nvfp4.RECIPE_WEIGHT_ONLY,
    "mxfp4": mxfp4.RECIPE,
}
