"""A report in its three formats: what is in it, and what is in none of them."""

from __future__ import annotations

import csv
import io
import json
import math
import platform
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from playground.events import Message
from playground.report import gather
from playground.report.csv_table import text_cell
from playground.store import RunStore
from playground.ui.report import FORMATS, as_text
from tests.report.scripted import MARKUP, scripted

TOKEN = "hf_abcdefghijklmnop"
PROMPT, FORMULA = "What is two and two?", "=HYPERLINK(1)"


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("kind", FORMATS)
def test_nothing_private_is_in_any_of_them(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Planted wherever a word can get in, as it is and as addresses and JSON write it."""
    home = tmp_path / "home" / "mallory"
    home.mkdir(parents=True)
    told = {"HOME": str(home), "USER": "mallory", "LOGNAME": "mallory", "HF_TOKEN": TOKEN}
    for name, value in (told | {"CUSTOMER": "Ærø & Sons 4711"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(platform, "node", lambda: "vault-17.example.org")
    secrets = (TOKEN, "mallory", str(home), str(store.home), str(tmp_path), "Ærø & Sons 4711",
               "vault-17", "acme-deals")  # fmt: skip
    said = [f"{TOKEN} of mallory in {home}/x and {store.home}/y, on vault-17.example.org",
            "for Ærø & Sons 4711 at /srv/acme-deals/x"]  # fmt: skip
    planted = ", ".join(form for one in said for form in sorted(spellings(one)))
    group = scripted(
        store,
        title=f"Title {planted}",
        answers=(planted, planted, planted),
        script={"fail_at": 9, "only": "nvfp4", "error": f"Failed: {planted}."},
        facts={"environment": {f"key {planted}": planted}, "device": {"name": planted}},
        model=f"{home}/acme-deals/model",
        dataset="/srv/acme-deals/rows of mallory.jsonl",
        columns="prompt=of mallory, answer=vault-17",
    )  # fmt: skip
    store.annotate(group.id, f"Note {planted}")
    store.append(group.run_ids[0], Message(level="warning", text=f"Warned of {planted}"))
    made = as_text(store, store.get_group(group.id), kind, rows=True)
    for secret in (form for one in secrets for form in spellings(one)):
        assert secret not in made, f"{secret} is in the report"
    assert "*** of *** in …/x" in made, "the rest of what was said is there"
    assert "rows of ***.jsonl" in made


def spellings(text: str) -> set[str]:
    in_json = (json.dumps(text, ensure_ascii=plain)[1:-1] for plain in (True, False))
    return {text, escape(text), quote(text), quote(text, safe=""), quote_plus(text), *in_json}


@pytest.mark.parametrize("kind", FORMATS)
def test_rows_of_the_data_are_there_only_when_asked_for(store: RunStore, kind: str) -> None:
    """Also where an error or a message quotes one."""
    rows = (PROMPT, "reference words", "answer words")
    group = scripted(store, answers=rows, script={"only": "nvfp4", "fail_at": 9,
                     "error": f"Row 3 says {PROMPT!r}, mend it."})  # fmt: skip
    store.append(group.run_ids[0], Message(level="warning", text=f"Odd: {json.dumps(rows)}"))
    without, with_rows = (as_text(store, group, kind, rows) for rows in (False, True))
    for words in rows:
        assert words not in without and words.split()[0] in with_rows
    assert "Row 3 says" in without


class Elements(HTMLParser):
    """Which elements a page has, and what its attributes would do."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_whatever_was_written_is_text(store: RunStore) -> None:
    plain, marked = (
        Elements(as_text(store, scripted(store, title, answers=(title,) * 3), "html", rows=True))
        for title in ("Plain", MARKUP)
    )
    assert marked.tags.count("script") == plain.tags.count("script") == 2
    assert "img" not in marked.tags
    loads = {"src", "href", "action", "data", "poster", "srcset"}
    assert not [a for a in marked.attributes if a[0] in loads or a[0].startswith("on")]


def test_a_report_of_the_quick_comparison_is_small_and_says_everything(store: RunStore) -> None:
    group = scripted(store, "Mine", facts={"predicted_peak_mib": 12.5, "device": {"name": "GPU 7"}})
    made = as_text(store, group, "html")
    assert len(made.encode()) < 2_000_000
    assert "default-src 'none'" in made
    for said in ("Mine", "GPU 7", "emulated", "the head stays in the compute type", "12.50 MiB",
                 "same batches", "5b5b5b5b5b5b", "learning_rate", "compare quick --title Mine",
                 "2 000 rows read", "higher perplexity"):  # fmt: skip
        assert said in made, said


def test_json_is_what_compare_writes_with_every_step(store: RunStore) -> None:
    group = scripted(store, script={"nan_at": [7], "diverge_at": 7})
    found = json.loads(as_text(store, group, "json"))
    assert found["group"] == group.id and found["verdict"]["text"] and found["fair"]
    diverged = found["runs"][1]
    assert diverged["steps"] == len(diverged["every_step"]) == 7
    assert diverged["every_step"][5]["loss"] > 0 and diverged["every_step"][6]["loss"] is None
    assert "energy_j" not in diverged["every_step"][0], "what was not measured is left out"
    assert [e["when"] for e in diverged["evaluations"]] == ["before"]
    assert diverged["config"]["training"]["max_steps"] == 60
    assert "answers" not in diverged


def test_csv_is_tidy_and_a_run_without_steps_has_its_line(store: RunStore) -> None:
    group = scripted(store, script={"memory_ends_at": 1, "only": "nvfp4", "nan_at": [1]})
    lines = table(as_text(store, group, "csv"))
    failed = [line for line in lines if line["precision"] == "nvfp4"]
    assert [line["kind"] for line in failed] == ["run", "eval"]
    assert failed[0]["error"] and failed[0]["status"] == "failed"
    steps = [line for line in lines if line["kind"] == "step"]
    assert [int(line["step"]) for line in steps] == list(range(1, 61))
    assert float(steps[0]["loss"]) > 0 and steps[0]["energy_j"] == ""
    assert {line["how"] for line in steps} == {"emulated"}


def test_a_number_that_is_not_finite_stays_one(store: RunStore) -> None:
    group = scripted(store, script={"nan_at": [7]})
    lines = table(as_text(store, group, "csv"))
    nan = [line for line in lines if line["kind"] == "step" and math.isnan(float(line["loss"]))]
    assert [(line["precision"], line["step"]) for line in nan] == [("nvfp4", "7")]


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "＝", '"=', "'+", '"\t@', "“-"]
)
def test_a_spreadsheet_takes_no_text_for_a_formula(store: RunStore, start: str) -> None:
    assert text_cell(f"{start}1+1") == f"'{start}1+1"
    harmless = ["plain", "", "a=b", "1-2", '"quoted" = x', "it's"]
    assert [text_cell(text) for text in harmless] == harmless


def test_titles_and_answers_are_cells_of_text(store: RunStore) -> None:
    group = scripted(store, title=FORMULA, answers=(FORMULA, 'a,"b"\nc', "-2"))
    lines = table(as_text(store, group, "csv", rows=True))
    assert {line["title"] for line in lines} == {f"'{FORMULA}"}
    [first, _] = [line for line in lines if line["kind"] == "answer"]
    assert (first["prompt"], first["reference"]) == (f"'{FORMULA}", 'a,"b"\nc')
    assert first["answer"] == "'-2"


def test_what_a_process_printed_is_in_no_report(store: RunStore) -> None:
    group = scripted(store)
    store.run_folder(group.run_ids[0]).joinpath("log.txt").write_text("printed words")
    content = gather(store, group)
    assert content.answers is None
    assert "printed words" not in as_text(store, group, "html")
