"""What ``kernels`` exports, and how lightly it is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import kernels
from kernels import choose_backend

ROOT = Path(__file__).parents[2]


def test_all_is_exact() -> None:
    public = {
        name
        for name, value in vars(kernels).items()
        if not name.startswith("_") and type(value).__name__ != "module"
    }
    assert public == set(kernels.__all__)


def test_no_version_so_that_nobody_takes_it_for_the_hub_package() -> None:
    assert not hasattr(kernels, "__version__")


def test_importing_kernels_loads_no_triton() -> None:
    code = "import sys, kernels; print('triton' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_a_cpu_is_served_by_the_reference_and_says_emulated() -> None:
    choice = choose_backend("cpu")
    assert (choice.name, choice.how) == ("reference", "emulated")
    assert choice.reason.endswith(".")


@pytest.mark.parametrize("name", kernels.__all__)
def test_every_public_name_has_a_docstring(name: str) -> None:
    value = getattr(kernels, name)
    assert not callable(value) or value.__doc__
