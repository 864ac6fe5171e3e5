"""Models that nobody can have meant: refused before anything of them is built.

A model of shapes alone takes no memory for its weights, but each of its modules takes time, and
nobody can stop it: a few digits too many in a config.json would take minutes, or all memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_module_registration_hook

from playground.config import SettingsError

MOST_COUNTED = 4096
"""Layers, or experts in one. The deepest models have some 130 layers, the widest 2048 experts."""

MOST_MODULES = 250_000
"""Mixtures with each expert a module of its own come to 100,000."""

MOST_PARAMETERS = 10**14
"""The largest that were published have some 10^12."""

_COUNTS = re.compile(
    r"(?:^|\.)(?:(?:num|n)_(?:\w+_)?(?:layers?|experts?)|block_count|expert_count)$"
)


def refuse_counts(model: str, config: Mapping[str, Any]) -> None:
    """Looks for numbers of layers and experts in a config.json or in what a GGUF file says.

    Raises:
        SettingsError: one is beyond all measure.
    """
    for key, value in config.items():
        if isinstance(value, Mapping):
            refuse_counts(model, value)
        elif _COUNTS.search(key) and isinstance(value, int | float) and value > MOST_COUNTED:
            raise SettingsError(
                f"Model '{model}' has '{key}' set to {value:,} in its configuration, far more than "
                "any model has; mend it, or pick another model."
            )


@contextmanager
def bounded(model: str) -> Iterator[None]:
    """Ends the building of a model that becomes too large.

    Raises:
        SettingsError: it has more modules than any.
    """
    built = 0

    def one_more(module: nn.Module, name: str, child: nn.Module) -> None:
        nonlocal built
        built += 1
        if built > MOST_MODULES:
            raise SettingsError(
                f"Model '{model}' would have more than {MOST_MODULES:,} modules by its "
                "configuration, far more than any model has; mend it, or pick another model."
            )

    handle = register_module_module_registration_hook(one_more)
    try:
        yield
    finally:
        handle.remove()


def refuse_parameters(model: str, built: nn.Module) -> None:
    """Of a model of shapes alone.

    Raises:
        SettingsError: it has more weights than any.
    """
    count = sum(parameter.numel() for parameter in built.parameters())
    if count > MOST_PARAMETERS:
        raise SettingsError(
            f"Model '{model}' would have {count:.1e} parameters by its configuration, far more "
            "than any model has; mend it, or pick another model."
        )
