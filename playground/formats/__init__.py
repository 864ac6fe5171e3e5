"""A microscope for number formats: what NVFP4 and others make of numbers, of a layer, of a model.

The page and the terminal ask (``asking.py``), a child process computes (``__main__.py``), and all
arithmetic is the reference in ``kernels/``, on the CPU.
"""

from playground.formats.asking import MEDIAN, Microscope
from playground.formats.known import FORMATS, FormatInfo
from playground.formats.typed import EXAMPLES, read_numbers, written

__all__ = ["EXAMPLES", "FORMATS", "MEDIAN", "FormatInfo", "Microscope", "read_numbers", "written"]
