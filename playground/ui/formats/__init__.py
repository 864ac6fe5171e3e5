"""The Formats page: numbers, a layer and a model under the microscope."""

from playground.ui.formats.page import build

__all__ = ["build"]
