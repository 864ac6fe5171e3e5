"""A comparison to give away: what is in a report, and a report as JSON and as CSV.

As one HTML file it is drawn with the page's own parts, so that stands in ``ui/report/``.
"""

from playground.report.cleaning import Cleaner
from playground.report.content import Content, gather
from playground.report.csv_table import csv_parts
from playground.report.json_text import json_parts

__all__ = ["Cleaner", "Content", "csv_parts", "gather", "json_parts"]
