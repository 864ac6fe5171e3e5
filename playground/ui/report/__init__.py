"""Reports: one HTML file of a comparison (``document``), and the section that offers them."""

from playground.ui.report.making import FORMATS, as_text, file_name, parts
from playground.ui.report.section import build
from playground.ui.report.serving import download

__all__ = ["FORMATS", "as_text", "build", "download", "file_name", "parts"]
