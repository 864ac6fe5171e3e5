"""Before a backend is used on a GPU it must pass here; the quickest that passed is then chosen.

    python -m kernels.selftest [--recipe nvfp4] [--cache FILE] [--json FILE]

For each backend, one forward and one backward on the shapes at hand are held against the reference:
the result within a bound, gradients finite and not all zero (both have happened elsewhere: a
capability said yes and the product failed, and stochastic rounding returned zeros). Verdicts are
kept in a file for each GPU, driver and library version, so a machine pays for this once.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import torch

from .dispatch import LinearRecipe, Verdict, candidates, choose_backend, remember
from .format import swizzle_scales
from .fp8 import linear_fp8, quantize_fp8
from .linear import linear_fp4, quantize_activation
from .mxfp4 import quantize_mxfp4
from .nf4 import linear_nf4, quantize_nf4
from .ops import quantize_nvfp4
from .scales import ScaleRule

Shape = tuple[int, int, int]

DEFAULT_SHAPES: tuple[Shape, ...] = ((512, 576, 576), (512, 1536, 576), (129, 576, 1536))
"""(M tokens, N outputs, K inputs): SmolLM2-135M's Linears, and a ragged M."""

LARGEST_ERROR = 0.01
"""Relative L2 error to the reference. Operands are rounded alike in both, so only the order of sums
and the last rounding differ; rounding to bf16 alone is 2^-9 relative at most, 0.002."""

_TIMED_RUNS = 5


def self_test(
    device: torch.device | str,
    recipe: LinearRecipe,
    shapes: tuple[Shape, ...] = DEFAULT_SHAPES,
    *,
    scale_rule: ScaleRule = "amax",
    backends: list[str] | None = None,
    dtype: torch.dtype = torch.bfloat16,
) -> list[Verdict]:
    """Tries every backend that might serve, and lets ``choose_backend`` know.

    Args:
        shapes: (M, N, K) of the products that the model will do.
        scale_rule: by which NVFP4 will choose an activation's scales.
        backends: None tries what ``candidates`` names.
    """
    named = candidates(device, recipe)[0] if backends is None else backends
    device = torch.device(device)
    found = [_try(name, device, recipe, shapes, scale_rule, dtype) for name in named]
    for verdict in found:
        remember(device, verdict)
    return found


def _try(
    backend: str,
    device: torch.device,
    recipe: LinearRecipe,
    shapes: tuple[Shape, ...],
    scale_rule: ScaleRule,
    dtype: torch.dtype,
) -> Verdict:
    worst, milliseconds = 0.0, 0.0
    try:
        for shape in shapes:
            error, spent = _one_shape(backend, device, recipe, shape, scale_rule, dtype)
            worst, milliseconds = max(worst, error), milliseconds + spent
    # Whatever a backend dies of (compiler, driver, launch), it is switched off and says why.
    except Exception as error:
        why = str(error).strip().splitlines() or ["no message"]
        return Verdict(backend, recipe, False, f"{type(error).__name__}: {why[0]}.")
    reason = f"{backend} agrees with the reference to {worst:.2%} on {len(shapes)} shapes."
    return Verdict(backend, recipe, True, reason, milliseconds)


class _Failed(ValueError):
    """What the self-test found wrong, in one sentence."""


def _one_shape(
    backend: str,
    device: torch.device,
    recipe: LinearRecipe,
    shape: Shape,
    scale_rule: ScaleRule,
    dtype: torch.dtype,
) -> tuple[float, float]:
    """The larger relative error of forward and backward, and their milliseconds together."""
    m, n, k = shape
    generator = torch.Generator().manual_seed(0)
    x, w, dy = (
        torch.randn(size, generator=generator).to(device=device, dtype=dtype)
        for size in ((m, k), (n, k), (m, n))
    )
    x.requires_grad_()
    linear = _frozen_linear(recipe, w, scale_rule)

    def run(name: str) -> tuple[torch.Tensor, torch.Tensor]:
        y = linear(x, name)
        return y.detach(), torch.autograd.grad(y, x, dy)[0]

    worst = 0.0
    for what, got, want in zip(("result", "gradient"), run(backend), run("reference"), strict=True):
        worst = max(worst, _error(what, got, want, shape))
    return worst, _time(lambda: run(backend), device)


def _frozen_linear(
    recipe: LinearRecipe, w: torch.Tensor, scale_rule: ScaleRule
) -> Callable[[torch.Tensor, str], torch.Tensor]:
    """(x, backend) -> x @ w.T, w packed once as the recipe says."""
    if recipe == "fp8":
        in_8_bits = quantize_fp8(w)
        return lambda x, backend: linear_fp8(x, in_8_bits, backend=backend)
    if recipe == "nf4":
        from_a_table = quantize_nf4(w)
        return lambda x, backend: linear_nf4(x, from_a_table, backend=backend)
    if recipe == "mxfp4":
        q = quantize_mxfp4(w, backend="reference")
    else:
        q = quantize_nvfp4(w, scaling="2d" if recipe == "nvfp4-2d" else "1d", backend="reference")
    options = {
        "recipe": recipe,
        "tiled_scales": swizzle_scales(q.block_scales),
        "seed": torch.ones(1, dtype=torch.int64, device=w.device),
        "compute": "fp16" if w.dtype == torch.float16 else "bf16",
    }

    def linear(x: torch.Tensor, backend: str) -> torch.Tensor:
        rounded = {"scale_rule": scale_rule, "backend": backend, "recipe": recipe}
        weight_only = recipe == "nvfp4-weight-only"
        operand = [] if weight_only else quantize_activation(x, **rounded)
        return linear_fp4(x, q, operand=operand, backend=backend, **options)

    return linear


def _error(what: str, got: torch.Tensor, want: torch.Tensor, shape: Shape) -> float:
    if not got.isfinite().all():
        bad = got.numel() - int(got.isfinite().sum())
        raise _Failed(f"{bad} of {got.numel()} values of the {what} are not finite at {shape}")
    if not got.any():
        raise _Failed(f"the {what} is all zeros at {shape}")
    got, want = got.double(), want.double()
    error = float((got - want).norm() / want.norm())
    if error > LARGEST_ERROR:
        raise _Failed(
            f"the {what} is {error:.1%} off the reference at {shape}, more than {LARGEST_ERROR:.0%}"
        )
    return error


def _time(run, device: torch.device) -> float:  # noqa: ANN001
    """Median milliseconds of a few runs, the device waited for around each."""

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    spent = []
    for _ in range(_TIMED_RUNS):
        wait()
        start = time.perf_counter()
        run()
        wait()
        spent.append(1000 * (time.perf_counter() - start))
    return statistics.median(spent)


def fingerprint(device: torch.device | str) -> str:
    """What a verdict holds for: this GPU, driver and these libraries."""
    import triton

    device = torch.device(device)
    parts = [f"torch {torch.__version__}", f"triton {triton.__version__}"]
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        parts = [
            properties.name,
            f"sm_{properties.major}{properties.minor}",
            f"driver {torch._C._cuda_getDriverVersion()}",
            *parts,
        ]
    else:
        parts = [device.type, *parts]
    return ", ".join(parts)


def verified(
    device: torch.device | str,
    recipe: LinearRecipe,
    shapes: tuple[Shape, ...] = DEFAULT_SHAPES,
    *,
    cache: Path,
    scale_rule: ScaleRule = "amax",
    backends: list[str] | None = None,
    dtype: torch.dtype = torch.bfloat16,
) -> list[Verdict]:
    """The verdicts kept for this device, recipe, rule and shapes, or new ones, then kept."""
    kept = json.loads(cache.read_text()) if cache.exists() else {}
    key = f"{fingerprint(device)}; {recipe}; {scale_rule}; {dtype}; {sorted(set(shapes))}"
    if key not in kept:
        options = {"scale_rule": scale_rule, "backends": backends, "dtype": dtype}
        found = self_test(device, recipe, shapes, **options)
        kept[key] = [asdict(verdict) for verdict in found]
        cache.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and moved over, so that a reader never sees half a file.
        draft = cache.with_suffix(".new")
        draft.write_text(json.dumps(kept, indent=1))
        draft.replace(cache)
    found = [Verdict(**row) for row in kept[key]]
    for verdict in found:
        remember(device, verdict)
    return found


def report(device: torch.device | str, *, cache: Path | None = None) -> dict:
    """What each recipe runs on here, and what the self-test found: plain values, for JSON."""
    rows = []
    for recipe in get_args(LinearRecipe):
        found = verified(device, recipe, cache=cache) if cache else self_test(device, recipe)
        rows.append(
            {
                "recipe": recipe,
                "choice": asdict(choose_backend(device, recipe)),
                "verdicts": [asdict(verdict) for verdict in found],
            }
        )
    return {"device": fingerprint(device), "recipes": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, help="keep verdicts in this file")
    parser.add_argument("--json", type=Path, help="write the report to this file")
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    found = report(device, cache=arguments.cache)
    print(found["device"])
    for row in found["recipes"]:
        print(f"{row['recipe']:18} {row['choice']['how']:12} {row['choice']['reason']}")
        for verdict in row["verdicts"]:
            print(f"{'':18} {'passed' if verdict['passed'] else 'off':12} {verdict['reason']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
