"""A comparison to give away: what is in a report, and a report as JSON and as CSV.

As one HTML file it is drawn with the page's own parts, so that stands in ``ui/report/``.
"""

from playground.report.cleaning import clean
from playground.report.content import Content, gather
from playground.report.csv_table import csv_text
from playground.report.json_text import json_text

__all__ = ["Content", "clean", "csv_text", "gather", "json_text"]
