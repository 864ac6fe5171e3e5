"""Every layer of a model in every format, one at a time, kept by what the files hold."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

import kernels
from playground.formats.known import FORMATS
from playground.formats.rounding import errors, gaussian_errors
from playground.formats.weights import Layer, Weights


def model_errors(weights: Weights, home: Path) -> Iterator[dict[str, Any]]:
    """``{"tell": ...}`` after each layer, then ``{"answer": ...}``, with the same keys:

    ``done`` of ``layers`` (those in the model's blocks; ``left_out`` others are not), ``rows`` of
    name, shape and relative error by format (None where its K does not suit), the ``total`` over
    all values, the ``gaussian`` errors to compare with, and ``kept``: whether it was computed
    before.
    """
    everything = weights.layers()
    layers = [layer for layer in everything if layer.in_block] or everything
    file = home / "formats" / f"{_key(weights)}.json"
    if (found := _kept(file)) is not None:
        yield {"answer": found | {"kept": True}}
        return
    said = {
        "done": 0,
        "layers": len(layers),
        "left_out": len(everything) - len(layers),
        "rows": [],
        "gaussian": gaussian_errors(),
        "total": {},
        "kept": False,
    }
    sums: dict[str, list[float]] = {name: [] for name in FORMATS}
    sizes: list[float] = []
    for layer in layers:
        row, size = _row(weights, layer)
        said["rows"].append(row)
        said["done"] += 1
        sizes.append(size)
        for name, relative in row["errors"].items():
            sums[name].append(float("nan") if relative is None else (relative * size) ** 2)
        yield {"tell": {"done": said["done"], "layers": said["layers"], "row": row}}
    said["total"] = {name: _together(parts, sizes) for name, parts in sums.items()}
    _keep(file, said)
    yield {"answer": said}


def _row(weights: Weights, layer: Layer) -> tuple[dict[str, Any], float]:
    x = weights.read(layer.name).to(torch.float32)
    bad = x.numel() - int(torch.isfinite(x).sum())
    found = dict.fromkeys(FORMATS) if bad else errors(x)
    size = float(torch.linalg.vector_norm(x, dtype=torch.float64)) if not bad else 0.0
    row = {"name": layer.name, "shape": list(layer.shape), "non_finite": bad, "errors": found}
    return row, size


def _together(squares: list[float], sizes: list[float]) -> float | None:
    """The error of all layers as one; None where a layer has none."""
    whole = sum(size**2 for size in sizes)
    found = sum(squares)
    if found != found:
        return None
    return (found / whole) ** 0.5 if whole else 0.0


def _key(weights: Weights) -> str:
    """Of the files' content and of the arithmetic that looks at it."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    ours = [here / name for name in ("known.py", "model.py", "rounding.py", "weights.py")]
    ours += sorted(Path(kernels.__file__).parent.glob("*.py"))
    for file in (*weights.files, *ours):
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()[:32]


def _kept(file: Path) -> dict[str, Any] | None:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:  # cut short by a full disk: computed anew
        return None


def _keep(file: Path, found: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_text(json.dumps(found, allow_nan=False), encoding="utf-8")
    new.replace(file)  # in one move: a reader never sees half of it
