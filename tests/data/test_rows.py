"""Files become rows, or a sentence that says which line is wrong."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from playground.config import SettingsError
from playground.data.rows import read_rows, stream_rows
from tests.data.reading import JSONL, ROWS, cells, places, write


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", JSONL),
        ("a.JSONL", JSONL.replace("\n", "\r\n")),
        ("a.json", "[" + JSONL.strip().replace("\n\n", ",") + "]"),
        ("a.csv", 'prompt,completion\n"two\nlines",None\n"ä, 日本",NA\n'),
        ("a.tsv", 'prompt\tcompletion\n"two\nlines"\tNone\nä, 日本\tNA\n'),
    ],
)
def test_the_same_rows_from_every_kind_of_file(tmp_path: Path, name: str, text: str) -> None:
    assert cells(read_rows(write(tmp_path, name, text))) == ROWS


def test_parquet(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    rows = read_rows(tmp_path / "a.parquet")
    assert cells(rows) == ROWS
    assert places(rows) == ["Row 1 of 'a.parquet'", "Row 2 of 'a.parquet'"]


def test_parquet_with_a_column_twice_is_refused(tmp_path: Path) -> None:
    table = pyarrow.table([["a"], ["b"]], names=["prompt", "prompt"])
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(SettingsError, match="file 'a.parquet' names the column 'prompt' twice; re"):
        read_rows(tmp_path / "a.parquet")


def test_parquet_that_holds_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    text = pyarrow.array([b"a", b"\xff"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"text": text}), path)
    with pytest.raises(SettingsError, match="could not be read as parquet .*0xff.*write it again"):
        read_rows(path)
    far = pyarrow.table({"text": pyarrow.array([2**60], pyarrow.timestamp("ms"))})
    pyarrow.parquet.write_table(far, path)
    with pytest.raises(SettingsError, match="could not be read as parquet"):
        read_rows(path)


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    assert cells(read_rows(write(tmp_path, "a.jsonl", JSONL, "utf-8-sig"))) == ROWS
    table = write(tmp_path, "a.csv", "prompt,completion\na,b\n", "utf-8-sig")
    assert cells(read_rows(table)) == [{"prompt": "a", "completion": "b"}]


def test_text_has_a_row_for_each_paragraph(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "one\nstill one\n\n\n\ntwo\n")
    rows = read_rows(path)
    assert cells(rows) == [{"text": "one\nstill one"}, {"text": "two"}]
    assert places(rows) == ["Line 1 of 'a.txt'", "Line 6 of 'a.txt'"]


def test_only_the_first_rows(tmp_path: Path) -> None:
    assert read_rows(write(tmp_path, "a.jsonl", JSONL), limit=1)[0].cells == ROWS[0]


def test_a_row_knows_the_line_that_a_person_sees(tmp_path: Path) -> None:
    lines = read_rows(write(tmp_path, "a.jsonl", JSONL))
    assert places(lines) == ["Line 1 of 'a.jsonl'", "Line 3 of 'a.jsonl'"]
    table = 'prompt,completion\n"two\nlines",None\n\n"ä, 日本",NA\nx,y\n'
    assert places(read_rows(write(tmp_path, "a.csv", table))) == [
        "Line 2 of 'a.csv'",
        "Line 5 of 'a.csv'",
        "Line 6 of 'a.csv'",
    ]
    one_document = write(tmp_path, "a.json", '[{"a": 1},\n\n{"a": 2}]')
    assert places(read_rows(one_document)) == [
        "Row 1 of 'a.json'",
        "Row 2 of 'a.json' (line 3)",
    ]
    many_documents = write(tmp_path, "a.json", '\n{"a": 1}\n{"a": 2}\n')
    assert places(read_rows(many_documents)) == ["Line 2 of 'a.json'", "Line 3 of 'a.json'"]


def test_what_a_table_says_is_text_as_it_stands(tmp_path: Path) -> None:
    table = write(tmp_path, "a.csv", "prompt,completion\n007,1.50\n2026-11-30,\n")
    assert cells(read_rows(table)) == [
        {"prompt": "007", "completion": "1.50"},
        {"prompt": "2026-11-30", "completion": ""},
    ]


def test_dates_in_json_stay_text_and_rows_may_differ(tmp_path: Path) -> None:
    rows = '[{"prompt": "2026-11-30", "completion": 1}, {"prompt": "x"}]'
    assert cells(read_rows(write(tmp_path, "a.json", rows))) == [
        {"prompt": "2026-11-30", "completion": 1},
        {"prompt": "x"},
    ]


def test_a_cell_may_be_long(tmp_path: Path) -> None:
    table = write(tmp_path, "a.csv", "text\n" + "x" * 200_000 + "\n")
    assert len(read_rows(table)[0].cells["text"]) == 200_000


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", "prompt,completion\na,b\nc,d,e\n", "Line 3 of 'a.csv' has 3 cells and the hea"),
        ("a.csv", "prompt,completion\na,b,c\n", "Line 2 of 'a.csv' has 3 cells and the header 2"),
        ("a.csv", 'prompt,completion\n"a\nb",c\nd\n', "Line 4 of 'a.csv' has 1 cell and"),
        ("a.tsv", "prompt\tcompletion\na\n", "Line 2 of 'a.tsv' has 1 cell and the header 2"),
        (
            "a.csv",
            'prompt,completion\na,"b\nc,d\n',
            "Line 2 of 'a.csv' is not a row of a table (unexpected",
        ),
        ("a.csv", "prompt,Prompt \na,b\n", "Line 1 of 'a.csv' names the column 'prompt' twice"),
        ("a.jsonl", '{"a": 1}\n' + "[" * 100_000, "Line 2 of 'a.jsonl' is not JSON (it is nested"),
        ("a.json", "[" * 100_000, "'a.json' is not JSON (it is nested too deeply)"),
        ("a.jsonl", '{"a": ' + "1" * 5000 + "}", "Line 1 of 'a.jsonl' is not JSON (Exceeds"),
        ("a.jsonl", '{"a": 1}\n{"a": "\\ud800"}\n', "Line 2 of 'a.jsonl' holds \\ud800, which is"),
        ("a.json", '[{"a": 1}, {"\\udc00": 1}]', "Row 2 of 'a.json' holds \\udc00, which is half"),
        (
            "a.jsonl",
            '{"a": 1}\n{"a": 1, "b": [{"c": 1, "c": 2}]}\n',
            "Line 2 of 'a.jsonl' has the key",
        ),
        ("a.json", '[{"a": 1}, {"a": 1, "a": 2}]', "Row 2 of 'a.json' has the key 'a' twice; remo"),
        ("a.json", '[{"a": 1}, 2]', "Row 2 of 'a.json' is int, not an object"),
        (
            "a.json",
            '[{"a": 1},\n{"a" 2}]',
            "is not JSON (Expecting ':' delimiter at line 2, column",
        ),
        ("a.jsonl", '{"a": 1}\n\n{"a": \n', "Line 3 of 'a.jsonl' is not JSON"),
        ("a.jsonl", '[\n{"a": 1}\n]', "(Expecting value at column 2); name the file .json"),
        ("a.jsonl", '{\n"a": 1}\n', "column 2); name the file .json, if it is one document"),
        ("a.jsonl", "[1, 2]\n", "Line 1 of 'a.jsonl' is list, not an object"),
        ("a.jsonl", "\n \n", "'a.jsonl' has no rows"),
        ("a.csv", "prompt,completion\n", "'a.csv' has no rows"),
        ("a.csv", "", "'a.csv' has no rows"),
        ("a.json", "{", "'a.json' is not JSON (Expecting"),
        ("a.parquet", "no", "'a.parquet' could not be read as parquet"),
        ("a.xml", "<a/>", "'a.xml' is of an unknown kind"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        read_rows(write(tmp_path, name, text))
    assert sentence in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "tsv", "txt"])
@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [
        ("latin-1", "Line 3 of 'a.{}' is not UTF-8 text (byte 0xe4 has no place there); save the"),
        ("utf-16-le", "Line 1 of 'a.{}' is not UTF-8 text (it holds NUL bytes, as UTF-16 does)"),
    ],
)
def test_other_encodings_are_refused_with_the_line(
    tmp_path: Path, kind: str, encoding: str, sentence: str
) -> None:
    text = '{"text": "one"}\n\n{"text": "ä"}\n'
    if encoding == "utf-16-le":  # every byte of it is UTF-8
        text = text.replace("ä", "a")
    with pytest.raises(SettingsError) as refused:
        read_rows(write(tmp_path, f"a.{kind}", text, encoding))
    assert sentence.format(kind) in str(refused.value)


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "tsv", "txt"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_a_file_that_says_its_unicode_is_read(tmp_path: Path, kind: str, encoding: str) -> None:
    """As Excel's "Unicode text" does, and every editor on Windows may."""
    text = '{"text": "größer"}\n' if kind.startswith("json") else "text\n\ngrößer\n"
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    said: list[str] = []
    rows = read_rows(write(tmp_path, f"a.{kind}", mark + text, encoding), said=said.append)
    assert cells(rows)[-1] == {"text": "größer"}
    utf_16 = f"'a.{kind}' is UTF-16, as its first bytes say, and was read as that."
    assert said == ([] if encoding == "utf-8-sig" else [utf_16])


def test_utf_16_that_breaks_off_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("one\n\ntwo".encode("utf-16")[:-1])
    with pytest.raises(SettingsError, match="'a.txt' is not UTF-8 text .it is not utf-16"):
        read_rows(path)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_another_separator_than_the_comma_is_found_and_said(
    tmp_path: Path, separator: str, end: str
) -> None:
    lines = ["Frage;Antwort", '"a;""b""\nc";d, e', "", "f;g"]
    text = end.join(lines).replace(";", separator) + end
    said: list[str] = []
    rows = read_rows(write(tmp_path, "A.CSV", text), said=said.append)
    first = {"Frage": f'a{separator}"b"\nc', "Antwort": "d, e"}
    assert cells(rows) == [first, {"Frage": "f", "Antwort": "g"}]
    assert len(said) == 1 and "parted by a" in said[0] and "not a comma" in said[0]
    assert places(rows) == ["Line 2 of 'A.CSV'", "Line 5 of 'A.CSV'"]


def test_the_separator_that_the_name_promises_wins_a_draw(tmp_path: Path) -> None:
    said: list[str] = []
    assert cells(read_rows(write(tmp_path, "a.csv", "a;b,c\n1;2,3\n"), said=said.append)) == [
        {"a;b": "1;2", "c": "3"}
    ]
    assert cells(read_rows(write(tmp_path, "a.tsv", "a,b\tc\n1,2\t3\n"), said=said.append)) == [
        {"a,b": "1,2", "c": "3"}
    ]
    assert said == []
    assert cells(read_rows(write(tmp_path, "a.csv", "sep=;\na;b,c,d\n1;2\n"))) == [
        {"a": "1", "b,c,d": "2"}
    ]


def test_several_files_are_one_source(tmp_path: Path) -> None:
    first = write(tmp_path, "a.csv", "text\na\n")
    second = write(tmp_path, "b.jsonl", '{"text": "b"}\n')
    rows = list(stream_rows([first, second]))
    assert cells(rows) == [{"text": "a"}, {"text": "b"}]
    assert places(rows) == ["Line 2 of 'a.csv'", "Line 1 of 'b.jsonl'"]
    empty = write(tmp_path, "c.csv", "text\n")
    with pytest.raises(SettingsError, match="'c.csv' has no rows"):
        list(stream_rows([first, empty]))


def test_a_file_that_may_not_be_opened_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="'gone.csv' could not be read .No such file.*check"):
        read_rows(tmp_path / "gone.csv")
