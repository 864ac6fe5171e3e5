"""A stranger's file is kept once, under a safe name, or nothing of it is left."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from playground.config import SettingsError
from playground.data import uploads
from playground.data.rows import Row
from playground.data.uploads import columns_of, keep, kept, look

ROWS = b'{"Frage": "a", "Antwort": "1", "n": 3}\n{"Frage": "b", "Antwort": "2", "n": 4}\n'


def given(folder: Path, content: bytes = ROWS, name: str = "received") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    return path


def left(home: Path) -> list[str]:
    """All files and folders under ``uploads``."""
    return sorted(str(p.relative_to(home)) for p in (home / "uploads").rglob("*"))


@pytest.mark.parametrize(
    ("name", "stored", "called"),
    [
        ("my rows.jsonl", "my-rows.jsonl", "my rows.jsonl"),
        ("../../x.jsonl", "x.jsonl", "x.jsonl"),
        ("..\\..\\x.JSONL", "x.jsonl", "x.JSONL"),
        ("$(touch x).jsonl", "touch-x.jsonl", "$(touch x).jsonl"),
        ("日本.jsonl", "rows.jsonl", "日本.jsonl"),
        (".jsonl.jsonl", "jsonl.jsonl", ".jsonl.jsonl"),
        ("a\0b\n.jsonl", "a-b.jsonl", "a\0b\n.jsonl"),
        ("x" * 300 + ".jsonl", "x" * 40 + ".jsonl", "x" * 119 + "…"),
    ],
)
def test_whatever_a_file_is_called(tmp_path: Path, name: str, stored: str, called: str) -> None:
    file = given(tmp_path / "in")
    found = keep(tmp_path / "home", file, name, look)
    assert found.name == called
    assert re.fullmatch(rf"[0-9a-f]{{16}}/{re.escape(stored)}", "/".join(found.path.parts[-2:]))
    assert found.path.is_relative_to(tmp_path / "home" / "uploads")
    assert found.path.read_bytes() == ROWS and not file.exists()
    assert kept(tmp_path / "home") == [found]
    assert uploads.called(str(found.path)) == called


def test_what_was_not_uploaded_is_called_what_it_is() -> None:
    for name in ("iso-dates", str(Path.home() / "a.jsonl"), "a\0b", "x" * 5000):
        assert uploads.called(name) == name.replace(str(Path.home()), "~")


def test_the_same_content_is_kept_once(tmp_path: Path) -> None:
    first, again, other = (given(tmp_path / "in", name=n) for n in ("a", "b", "c"))
    one = keep(tmp_path, first, "one.jsonl", look)
    assert keep(tmp_path, again, "two.jsonl", look) == one
    as_text = keep(tmp_path, other, "one.txt", look)  # read another way, so another dataset
    assert as_text.path != one.path
    assert len(left(tmp_path)) == 6 and not list((tmp_path / "in").iterdir())


def _parquet(path: Path, rows: int) -> bytes:
    pyarrow.parquet.write_table(pyarrow.table({"text": ["x" * 1000] * rows}), path)
    return path.read_bytes()


REFUSED: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.jsonl", b"", "'a.jsonl' is empty"),
    "no rows": ("a.csv", b"prompt,completion\n", "has no rows"),
    "binary": ("a.jsonl", bytes(range(256)) * 9, "is not UTF-8 text"),
    "a picture": ("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not UTF-8 text"),
    "of no kind": ("a.exe", b"MZ", "'a.exe' is of a kind that cannot be read; choose one of"),
    "no ending": ("rows", ROWS, "'rows' is of a kind that cannot be read"),
    "packed parquet": ("a.parquet.gz", b"PAR1", "is of a kind that cannot be read"),
    "not parquet": ("a.parquet", ROWS, "could not be read as parquet"),
    "broken line": ("a.jsonl", ROWS + b"{", "Line 3 of 'a.jsonl' is not JSON"),
    "gzip cut short": ("a.jsonl.gz", gzip.compress(ROWS * 999)[:-20], "unpack|could not be read"),
    "gzip bomb": ("a.jsonl.gz", gzip.compress(ROWS + b" " * 2**25), "unpacks to over 16 MiB"),
    "zstd bomb": (
        "a.txt.zst",
        pyarrow.compress(b"a\n\n" + b"b" * 2**25, "zstd", asbytes=True),
        "unpacks to over 16 MiB",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_is_left_of_what_is_refused(tmp_path: Path, case: str) -> None:
    name, content, said = REFUSED[case]
    file = given(tmp_path / "in", content)
    with pytest.raises(SettingsError, match=said) as refused:
        keep(tmp_path, file, name, look)
    assert str(refused.value).count("\n") == 0 and str(tmp_path) not in str(refused.value)
    assert not file.exists()
    assert not (tmp_path / "uploads").exists() or left(tmp_path) == []


def test_what_it_may_hold_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_UNPACKED", 10_000)
    packed = given(tmp_path / "in", gzip.compress(os.urandom(9_000).hex().encode()), "a.txt.gz")
    with pytest.raises(SettingsError, match="'a.txt.gz' unpacks to more than 0 GiB; divide it"):
        look(packed)
    table = given(tmp_path / "in", _parquet(tmp_path / "t", 2), "a.parquet")
    assert [c["name"] for c in look(table)["columns"]] == ["text"]
    monkeypatch.setattr(uploads, "MAX_UNPACKED", 100)
    with pytest.raises(SettingsError, match=r"'a.parquet' unpacks to more than"):
        look(table)


def test_too_large_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_BYTES", 2**20)
    file = given(tmp_path / "in", b"x" * (2**20 + 1))
    with pytest.raises(SettingsError, match="'a.jsonl' is larger than 1 MiB, which is the most"):
        keep(tmp_path, file, "a.jsonl", lambda _: pytest.fail("it was read"))
    assert not file.exists()


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("shutil.move", full)
    file = given(tmp_path / "in")
    with pytest.raises(SettingsError, match=r"could not be stored \(No space left on device\)"):
        keep(tmp_path, file, "a.jsonl", look)
    assert not file.exists() and left(tmp_path) == []


def test_what_a_killed_server_had_begun_goes_with_the_next(tmp_path: Path) -> None:
    for name, age in (("old", 2 * 3600), ("new", 0)):
        folder = tmp_path / "uploads" / f".arriving-{name}"
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - age,) * 2)
    keep(tmp_path, given(tmp_path / "in"), "a.jsonl", look)
    assert [name for name in left(tmp_path) if "arriving" in name] == ["uploads/.arriving-new"]


def test_columns_by_the_first_row() -> None:
    cells = {" Prompt": "x" * 500, "COMPLETION": "2", "n": 3, "l": [1, {"a": "ä"}], "none": None}
    found = json.loads(json.dumps(columns_of(Row(cells, "Line 1"))))
    assert found["recognised"] == {"prompt": "Prompt", "answer": "COMPLETION"}
    assert [column["kind"] for column in found["columns"]] == [
        "text", "text", "number", "list", "nothing"
    ]  # fmt: skip
    assert found["columns"][0]["example"] == "x" * 160 + "…"
    assert found["columns"][3]["example"] == '[1, {"a": "ä"}]'
    assert columns_of(Row({"Frage": "a"}, "Line 1"))["recognised"] is None
