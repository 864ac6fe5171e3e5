"""Packed files, and no more of any file than is asked for."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from playground.config import SettingsError
from playground.data import files
from playground.data.rows import read_rows, stream_rows
from tests.data.reading import JSONL, ROWS, cells, places, write


def zstd(content: bytes) -> bytes:
    return pyarrow.compress(content, "zstd", asbytes=True)


PACKERS = {"gz": gzip.compress, "zst": zstd}


@pytest.mark.parametrize("packer", PACKERS)
def test_packed_files_are_unpacked_by_what_they_hold(tmp_path: Path, packer: str) -> None:
    pack = PACKERS[packer]
    path = tmp_path / f"a.JSONL.{packer}"
    path.write_bytes(pack(JSONL.encode()))
    assert cells(read_rows(path)) == ROWS
    assert places(read_rows(path))[1] == f"Line 3 of 'a.JSONL.{packer}'"
    path.write_bytes(pack(JSONL.encode()) + pack(JSONL.encode()))  # as `cat` joins them
    assert cells(read_rows(path)) == ROWS * 2
    path.write_bytes(JSONL.encode())  # not packed after all
    assert cells(read_rows(path)) == ROWS
    plain_name = tmp_path / "a.csv"
    plain_name.write_bytes(pack("text\nä\n".encode("utf-16")))
    assert cells(read_rows(plain_name)) == [{"text": "ä"}]


@pytest.mark.parametrize("packer", PACKERS)
def test_a_packed_file_that_is_damaged_is_refused(tmp_path: Path, packer: str) -> None:
    rows = "".join(json.dumps({"text": f"row {i} {i * i}"}) + "\n" for i in range(5000))
    packed = PACKERS[packer](rows.encode())
    for content in (packed[: len(packed) // 2], packed[:12] + b"\xff" * 50 + packed[62:]):
        path = tmp_path / f"a.jsonl.{packer}"
        path.write_bytes(content)
        with pytest.raises(SettingsError, match="could not be read .*incomplete, so pack it again"):
            read_rows(path)


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("line", ["\n", "a" * 1000, '{"text": "a"}\n'])
def test_a_file_made_to_fill_the_memory_is_refused_in_time(
    tmp_path: Path, packer: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "UNPACKED_FREELY", 2**20)
    monkeypatch.setattr(files, "LARGEST_VALUE", 2**22)
    path = tmp_path / f"a.txt.{packer}"
    path.write_bytes(PACKERS[packer](line.encode() * (2**24 // len(line))))
    assert path.stat().st_size < 2**16
    with pytest.raises(SettingsError, match="unpacks to over|longer than 4 million characters"):
        read_rows(path)


class Counted(files.TextFile):
    """A text that counts the characters that were asked of it, over all of its kind."""

    given = 0

    def _read(self, call, size):  # type: ignore[no-untyped-def]
        text = super()._read(call, size)
        Counted.given += len(text)
        return text


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "list.json", "a.csv", "a.tsv", "a.txt"])
def test_the_first_rows_cost_no_more_than_themselves(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.data.rows.TextFile", Counted)
    monkeypatch.setattr("playground.data.json_rows._CHUNK", 1000)
    monkeypatch.setattr(Counted, "given", 0)
    rows = [f'{{"text": "row {i}"}}' for i in range(10_000)]
    text = "[\n" + ",\n".join(rows) + "]" if name.startswith("list") else "\n\n".join(rows)
    path = write(tmp_path, name, text.replace('"', "") if name[2] in "ct" else text)
    assert len(read_rows(path, limit=5)) == 5
    assert Counted.given < 2500 < len(text) // 50
    stream = stream_rows([path])
    assert len(list(islice(stream, 7))) == 7 and next(stream).place.startswith(("Line", "Row 8"))


def test_parquet_is_decoded_as_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    table = pyarrow.Table.from_pylist([{"text": f"row {i}"} for i in range(5000)])
    pyarrow.parquet.write_table(table, path)
    decoded = []
    batches = pyarrow.parquet.ParquetFile.iter_batches

    def counted(self, size):  # type: ignore[no-untyped-def]
        for batch in batches(self, size):
            decoded.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "iter_batches", counted)
    assert cells(read_rows(path, limit=3))[2] == {"text": "row 2"}
    assert sum(decoded) < 500
    assert len(read_rows(path)) == 5000


def test_a_mistake_is_found_before_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("playground.data.rows.TextFile", Counted)
    monkeypatch.setattr("playground.data.json_rows._CHUNK", 100)
    monkeypatch.setattr(Counted, "given", 0)
    with pytest.raises(SettingsError, match="line 1, column 7"):
        read_rows(write(tmp_path, "a.json", '[{"a" 1}' + ', {"a": 1}' * 10_000 + "]"))
    assert Counted.given < 1000
