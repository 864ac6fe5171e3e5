"""The report as a file: opened from disk without any server, and printed."""

from __future__ import annotations

from pathlib import Path

from playground.store import RunStore
from playground.ui.report import as_text
from tests.ui.screenshots.camera import Shot
from tests.ui.screenshots.homes import over


def written(store: RunStore) -> dict[str, str]:
    """Reports of some of the comparisons, as addresses of files."""
    ids = over(store)
    return {name: _written(store, ids[name]) for name in ("finished", "ladder", "repeated")}


def _written(store: RunStore, group_id: str) -> str:
    path = Path(store.home / f"{group_id}.html").absolute()
    path.write_text(as_text(store, store.get_group(group_id), "html", rows=True), encoding="utf-8")
    return path.as_uri()


DRAWN = "#charts .plot-loss .line"

SHOTS = [
    Shot("report", written, "{finished}", DRAWN),
    Shot("report-ladder", written, "{ladder}", DRAWN),
    Shot("printed", written, "{repeated}", DRAWN, printed=True),
    Shot("printed-ladder", written, "{ladder}", DRAWN, printed=True),
]
