"""Where kernel tests run, and memory that is never zero by luck."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def device() -> str:
    """A GPU where there is one, compiled; else the CPU, in Triton's interpreter."""
    return "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """torch.empty returns NaN in every float, E4M3 scales included: what is not written shows."""
    empty = torch.empty

    def poison(*size, **options):  # noqa: ANN202
        made = empty(*size, **options)
        if made.numel():
            made.view(-1).view(torch.uint8).fill_(0xFF)
        return made

    monkeypatch.setattr(torch, "empty", poison)
    yield
