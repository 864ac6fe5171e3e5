"""A finished run's adapter to take away, or its model merged in 16 bits: checked before offered.

A child process of its own does the work (``__main__.py``: what is written by ``writing.py`` is
loaded again and held to the run's own model by ``verify.py``); the page and the terminal ask for it
through ``export``. What failed its check, or was broken off, leaves nothing behind.
"""

from playground.export.asking import Progress, export
from playground.export.offers import KINDS, Kind, archive_of, exported, folder_of, why_not

__all__ = [
    "KINDS",
    "Kind",
    "Progress",
    "archive_of",
    "export",
    "exported",
    "folder_of",
    "why_not",
]
