"""The same two rows in many kinds of file, and what a test looks at of the rows it read."""

from __future__ import annotations

from pathlib import Path

from playground.data.rows import Row

ROWS = [{"prompt": "two\nlines", "completion": "None"}, {"prompt": "ä, 日本", "completion": "NA"}]


def cells(rows: list[Row]) -> list[dict]:
    return [row.cells for row in rows]


def places(rows: list[Row]) -> list[str]:
    return [row.place for row in rows]


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


JSONL = (
    '{"prompt": "two\\nlines", "completion": "None"}\n\n{"prompt": "ä, 日本", "completion": "NA"}\n'
)
