"""Files as people really bring them, each small, with what becomes of it.

Numbers are those of the list of faults that users of such tools have reported.
"""

from __future__ import annotations

import gzip
import json
from typing import NamedTuple

import pyarrow


class Awkward(NamedTuple):
    """A file, and what is promised.

    asked: prompt and answer of every row that is understood, in the file's order; for plain text
        the prompt is None.
    refused: a pattern of the sentence that refuses it instead.
    notes: patterns of the sentences that say how it was read.
    counts: of the split, where they are more than rows read.
    columns: the setting.
    """

    name: str
    content: bytes
    asked: tuple[tuple[str | None, str], ...] = ()
    refused: str = ""
    notes: tuple[str, ...] = ()
    counts: dict[str, int] = {}  # noqa: RUF012
    columns: str | None = None


TWO = (("a", "1"), ("b", "2"))
JSONL = b'{"prompt": "a", "completion": "1"}\n{"prompt": "b", "completion": "2"}\n'
CSV = b"prompt,completion\na,1\nb,2\n"
QUOTED = b'prompt,completion\r\n"a\r\n""x"", y",1\r\nb,2\r\n'


def _json(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _named(prompt: str, answer: str) -> bytes:
    return _json({prompt: "a", answer: "1"}, {prompt: "b", answer: "2"})


def _turns(question: str, reply: str) -> list[dict[str, str]]:
    return [{"from": "human", "value": question}, {"from": "gpt", "value": reply}]


AWKWARD: dict[str, Awkward] = {
    # 19: marks, line ends, names and separators
    "byte-order mark": Awkward("a.jsonl", b"\xef\xbb\xbf" + JSONL, TWO),
    "CRLF": Awkward("a.jsonl", JSONL.replace(b"\n", b"\r\n"), TWO),
    "CRLF and a mark": Awkward("a.csv", b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n"), TWO),
    "old line ends": Awkward("a.csv", CSV.replace(b"\n", b"\r"), TWO),
    "capital ending": Awkward("A.CSV", CSV, TWO),
    "semicolons": Awkward("a.csv", CSV.replace(b",", b";"), TWO, notes=("parted by a semicolon",)),
    "tabs": Awkward("a.csv", CSV.replace(b",", b"\t"), TWO, notes=("parted by a tab",)),
    "commas in .tsv": Awkward("a.tsv", CSV, TWO, notes=("parted by a comma, not a tab",)),
    "Excel's first line": Awkward("a.csv", b"sep=;\r\n" + CSV.replace(b",", b";"), TWO,
        notes=("semicolon",)),
    "quoted line ends": Awkward("a.csv", QUOTED, (('a\r\n"x", y', "1"), ("b", "2"))),
    "no line end at the end": Awkward("a.csv", CSV.rstrip(), TWO),
    "blank lines": Awkward("a.csv", CSV.replace(b"\n", b"\n\n"), TWO),
    "quote left open": Awkward("a.csv", b'prompt,completion\na,1\nb,"2\nc,3\n',
        refused="Line 3 of 'a.csv' is not a row of a table .*check its quotes"),
    "a cell too many": Awkward("a.csv", CSV + b"c,3,4\n",
        refused="Line 4 of 'a.csv' has 3 cells and the header 2; mend the line"),
    "UTF-16": Awkward("a.csv", CSV.decode().encode("utf-16"), TWO, notes=("is UTF-16",)),
    "UTF-16 without a mark": Awkward("a.csv", CSV.decode().encode("utf-16-le"),
        refused="Line 1 of 'a.csv' is not UTF-8 text .it holds NUL bytes.*save the file again"),
    "Latin-1": Awkward("a.csv", CSV + "ä,3\n".encode("latin-1"),
        refused="Line 4 of 'a.csv' is not UTF-8 text .byte 0xe4.*save the file again as UTF-8"),
    "gzip": Awkward("a.csv.gz", gzip.compress(CSV), TWO),
    "zstd": Awkward("a.jsonl.zst", pyarrow.compress(JSONL, "zstd", asbytes=True), TWO),
    # 20: cells that say nothing, or say so
    "words for nothing": Awkward(
        "a.csv",
        CSV + b"c,None\nd,NA\ne,null\nf,\ng,  \n",
        (*TWO, ("c", "None"), ("d", "NA"), ("e", "null")),
        notes=("In 3 of the rows read a cell says None, NA, NaN or null; it was kept",),
        counts={"null_words": 3, "no_answer": 2},
    ),
    "null and NaN": Awkward(
        "a.jsonl",
        JSONL + b'{"prompt": "c", "completion": null}\n{"prompt": "d", "completion": NaN}\n',
        TWO,
        counts={"no_answer": 2},
    ),
    "only empty answers": Awkward("a.csv", b"prompt,completion\na,\nb,\n",
        refused="None of 2 rows .*Line 2 of 'a.csv' is the first.* completion \\+ prompt"),
    # 21: a column whose type changes
    "a number among texts": Awkward(
        "a.jsonl",
        _json({"prompt": "a", "completion": "1"}, {"prompt": "b", "completion": 2}),
        TWO,
        notes=("Line 2 of 'a.jsonl': column 'completion' is number here and text before",),
    ),
    "a list among texts": Awkward(
        "a.jsonl",
        _json({"prompt": "a", "completion": "1"}, {"prompt": "b", "completion": [{"text": "2"}]}),
        refused="Line 2 of 'a.jsonl': column 'completion' is list, not text",
    ),
    "parts that are text": Awkward(
        "a.jsonl",
        _json(*(
            {"messages": [
                {"role": "user", "content": [{"type": "text", "text": question}]},
                {"role": "assistant", "content": reply},
            ]}
            for question, reply in TWO
        )),
        TWO,
    ),
    "parts that are none": Awkward(
        "a.jsonl",
        _json({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
        refused="Line 1 of 'a.jsonl': a turn in 'messages' has a part that is no text .image_url",
    ),
    "turns as text": Awkward(
        "a.jsonl", _json({"messages": json.dumps([{"role": "user", "content": "a"}])}),
        refused="Line 1 of 'a.jsonl': column 'messages' is text, not a list of turns; write the",
    ),
    "turns that nobody answers": Awkward(
        "a.jsonl",
        _json(*({"conversations": _turns(*pair)} for pair in TWO),
            {"conversations": _turns("c", "3")[:1]}),
        TWO,
        counts={"no_answer": 1},
    ),
    "a workbook": Awkward("a.csv", b"PK\x03\x04" + bytes(30),
        refused="'a.csv' is a zip archive, as an Excel workbook is too; unpack it, or save its"),
    "ten thousand columns": Awkward(
        "a.csv",
        b",".join(b"%d" % i for i in range(10_000)) + b"\n" + b"," * 9_999,
        refused="^The columns 0, 1, .*, 19 and 9,980 more are not a known format; rename",
    ),
    "a column without a name": Awkward("a.csv", CSV.replace(b"\n", b",\n"), TWO,
        notes=("Columns that are not used: .no name.",)),
    "a column that comes twice later": Awkward("a.jsonl",
        JSONL + b'{"prompt": "c", "Prompt": "d", "completion": "3"}\n',
        refused="Line 3 of 'a.jsonl' has the columns 'prompt' and 'Prompt', which differ only"),
    "a column that goes missing": Awkward("a.jsonl", JSONL + b'{"question": "c"}\n',
        refused="Line 3 of 'a.jsonl': it lacks the column 'prompt' that the first row has"),
    # 22: how columns are called
    "blanks and capitals": Awkward("a.jsonl", _named("PROMPT ", " Completion"), TWO),
    "question and answer": Awkward("a.jsonl", _named("Question", "Answer"), TWO),
    "instruction and output": Awkward("a.jsonl", _named("instruction", "OUTPUT"), TWO),
    "from and value": Awkward(
        "a.jsonl", _json(*({"conversations": _turns(*pair)} for pair in TWO)), TWO
    ),
    "text": Awkward("a.jsonl", _json({"TEXT ": "a"}, {"TEXT ": "b"}), ((None, "a"), (None, "b"))),
    "other names": Awkward("a.jsonl", _named("Frage", "Antwort"),
        refused="columns Frage, Antwort are not a known format; .*setting columns, such as"),
    "other names, mapped": Awkward(
        "a.jsonl", _named("Frage", "Antwort"), TWO, columns="prompt=Frage, answer=Antwort"
    ),
    # 23: how few rows there can be
    "nothing": Awkward("a.jsonl", b"", refused="'a.jsonl' has no rows; add some or pick another"),
    "a header only": Awkward("a.csv", b"prompt,completion\n", refused="'a.csv' has no rows"),
    "blank lines only": Awkward("a.jsonl", b"\n \r\n\n", refused="'a.jsonl' has no rows"),
    "an empty list": Awkward("a.json", b"[]", refused="'a.json' has no rows"),
    "one row": Awkward("a.jsonl", JSONL[:35],
        refused="has 1 different row; at least 2 are needed, one to learn from and one to hold"),
    "five rows": Awkward(
        "a.txt", b"a\n\nb\n\nc\n\nd\n\ne\n", tuple((None, letter) for letter in "abcde")
    ),
    "duplicates only": Awkward("a.jsonl", JSONL[:35] * 9,
        refused="has 1 different row; at least 2 are needed"),
    "duplicates": Awkward("a.jsonl", JSONL * 5, TWO, counts={"duplicates": 8}),
    # 31: markup
    "markup": Awkward(
        "a.csv",
        CSV + b'<script>alert(1)</script>,"| x | **y** | {{ 7 * 7 }}"\n',
        (*TWO, ("<script>alert(1)</script>", "| x | **y** | {{ 7 * 7 }}")),
    ),
}  # fmt: skip
