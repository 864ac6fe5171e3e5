"""What is taken out of everything that a report says."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from urllib.parse import quote

import pytest

from playground.events import Facts
from playground.report import Cleaner

HOST = "vault-17.example.org"


@pytest.fixture
def ann(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The home folder of annika, who is logged in at ``HOST``."""
    home = tmp_path / "home" / "annika"
    home.mkdir(parents=True)
    for name, value in {"HOME": str(home), "USER": "annika", "LOGNAME": "annika"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HF_TOKEN", "secret/of the-hub")
    monkeypatch.setenv("DATABASE", "db7:a quiet place")
    monkeypatch.setattr(platform, "node", lambda: HOST)
    return home


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("read {home}/own/rows.jsonl", "read …/rows.jsonl"),
        ("hf_abcdefghijk and secret/of the-hub", "*** and ***"),
        ("secret%2Fof%20the-hub, secret%2Fof+the-hub", "***, ***"),
        ("db7:a quiet place", "***"),
        ("Annika's, on vault-17, vault-17.example.org", "***'s, on ***, ***"),
        ("annika_rows, %2Fannika%2F", "***_rows, %2F***%2F"),
        ("as\\nannika\\u002fannika", "as\\n***\\u002f***"),
        ("plans of joannika, annikas", "plans of joannika, annikas"),
        ("/home/bob/x, C:\\Users\\bob\\x, ~bob/y and ~/z", "…/x, …/x, …/y and …/z"),
        ("/srv/acme/deals/rows.csv, file:///srv/acme/r.csv", "…/rows.csv, …/r.csv"),
        ("%2Fsrv%2Facme%2Frows.csv and \\/srv\\/acme\\/rows.csv", "…/rows.csv and …/rows.csv"),
        ("https://hf.co/a/b, 1/2, tokens/s, a/b/c", "https://hf.co/a/b, 1/2, tokens/s, a/b/c"),
        ("git+https://ann:pw@x.org/r", "git+https://***@x.org/r"),
        ("token=abcd1234, password: hunter22", "token=***, password: ***"),
        ("sk-abcdefgh12345678 ghp_abcdefgh1234 AKIAABCDEFGHIJKL", "*** *** ***"),
        ("owner/annika-model", "owner/***-model"),
        ("pad_token, max_tokens=5", "pad_token, max_tokens=5"),
        ("plain", "plain"),
    ],
)  # fmt: skip
def test_no_secret_no_folder_and_no_name_is_left(ann: Path, said: str, left: str) -> None:
    assert Cleaner()(said.replace("{home}", str(ann))) == left


def test_a_secret_is_found_in_every_spelling(ann: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = 'é"pa/ss w&rd'
    monkeypatch.setenv("MY_PASSWORD", secret)
    for spelled in (secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1]):
        assert Cleaner()(f"with {spelled}.") == "with ***."


def test_texts_are_cleaned_wherever_they_stand(ann: Path) -> None:
    facts = Facts(how="native", environment={"path of annika": [f"{ann}/x", 3, None]})
    assert Cleaner()(facts).environment == {"path of ***": ["…/x", 3, None]}
    assert Cleaner()(facts).how == "native"


def test_folders_of_the_data_have_no_name_even_with_blanks(ann: Path) -> None:
    clean = Cleaner(folders=[Path("/srv/My Deals")])
    assert (
        clean("in /srv/My Deals/rows.csv, /srv/My Deals2/x.y") == "in …/rows.csv, …/My Deals2/x.y"
    )


def test_what_is_kept_is_told_whatever_the_environment_holds(
    ann: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL", "owner/model-7b")
    monkeypatch.setenv("TORCH_VERSION", "2.13.0+cpu")
    said = "owner/model-7b with torch 2.13.0+cpu"
    assert Cleaner(kept={"owner/model-7b"})(said) == said


@pytest.mark.parametrize("name", ["root", "native", "nvfp4", "max"])
def test_a_name_that_is_a_word_of_ours_stays(
    ann: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("USER", "LOGNAME"):
        monkeypatch.setenv(variable, name)
    assert Cleaner()(f"the {name}_steps of annika") == f"the {name}_steps of ***"
