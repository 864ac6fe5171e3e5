"""The child: ``python -m playground.formats`` answers questions, a line each (see asking.py)."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playground.answering import serve


def answer(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What ``question["about"]`` names: numbers, layers, a layer, or a whole model."""
    return _ABOUT[question["about"]](question)


def _numbers(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from playground.formats.experiments import experiments
    from playground.formats.magnify import magnify, of_numbers

    window = of_numbers(question["values"])
    found = {"values": window.values[0].tolist(), "formats": magnify(window)}
    yield {"answer": found | {"experiments": experiments(window.values), **_reference()}}


def _layers(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"answer": [layer._asdict() for layer in _open(question).layers()]}


def _layer(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from playground.formats.layer import look
    from playground.formats.weights import find_layer

    weights = _open(question)
    layer = find_layer(weights.layers(), question["layer"])
    found = look(layer, weights.read(layer.name), question["block"])
    found |= {"model": question["model"], "gguf": weights.gguf}
    yield {"answer": found | _reference()}


def _model(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    from playground.formats.model import model_errors

    weights = _open(question)
    about = {"model": question["model"], "gguf": weights.gguf}
    for line in model_errors(weights, Path(question["home"])):
        what = next(iter(line))
        yield {what: line[what] | about}


def _open(question: dict[str, Any]) -> Any:
    from playground.formats.weights import open_weights

    home = question.get("home")
    return open_weights(question["model"], home and Path(home))


@functools.cache
def _reference() -> dict[str, Any]:
    """What N(0,1) gives, to compare with."""
    from playground.formats.experiments import block_sizes
    from playground.formats.rounding import gaussian, gaussian_errors

    return {"gaussian": {"errors": gaussian_errors(), "blocks": block_sizes(gaussian())}}


_ABOUT = {"numbers": _numbers, "layers": _layers, "layer": _layer, "model": _model}

if __name__ == "__main__":
    serve(answer)
