"""What is taken out of everything that a report says."""

from __future__ import annotations

from pathlib import Path

import pytest

from playground.events import Facts
from playground.report import clean


@pytest.fixture
def ann(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The home folder of ann, who is logged in."""
    home = tmp_path / "home" / "ann"
    home.mkdir(parents=True)
    for name, value in {"HOME": str(home), "USER": "ann", "LOGNAME": "ann"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HF_TOKEN", "secret-of-the-hub")
    return home


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("read {home}/rows.jsonl", "read ~/rows.jsonl"),
        ("hf_abcdefghijk and secret-of-the-hub", "*** and ***"),
        ("Ann's run, by ann", "***'s run, by ***"),
        ("annual plans of joanna", "annual plans of joanna"),
        ("/home/bob/x and C:\\Users\\bob\\x", "/home/***/x and C:\\Users\\***\\x"),
        ("owner/ann-model", "owner/***-model"),
        ("plain", "plain"),
    ],
)
def test_no_token_no_folder_and_no_name_is_left(ann: Path, said: str, left: str) -> None:
    assert clean(said.format(home=ann)) == left


def test_texts_are_cleaned_wherever_they_stand(ann: Path) -> None:
    facts = Facts(how="native", environment={"path of ann": [f"{ann}/x", 3, None]})
    assert clean(facts).environment == {"path of ***": ["~/x", 3, None]}
    assert clean(facts).how == "native"


def test_the_folder_of_runs_has_a_name_of_its_own(ann: Path, tmp_path: Path) -> None:
    runs = tmp_path / "srv"
    assert clean(f"{runs}/uploads/x", runs) == "$PLAYGROUND_HOME/uploads/x"


@pytest.mark.parametrize("name", ["root", "native", "nvfp4"])
def test_a_name_that_is_a_word_of_ours_stays(
    ann: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("USER", "LOGNAME"):
        monkeypatch.setenv(variable, name)
    assert clean(f"the square {name} of ann") == f"the square {name} of ***"
