"""Every awkward file is read as promised, or refused in a sentence that says what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from playground.catalog import resolve_dataset
from playground.config import RunConfig, SettingsError
from playground.data.formats import Sample
from playground.data.split import Split, load_split
from playground.presets import load_preset
from tests.data.awkward import AWKWARD, Awkward


def settings(path: Path, case: Awkward) -> RunConfig:
    return load_preset("quick", {"dataset": str(path), "columns": case.columns or ""}).config


def split_of(folder: Path, case: Awkward) -> Split:
    path = folder / case.name
    path.write_bytes(case.content)
    config = settings(path, case)
    return load_split(resolve_dataset(config.dataset), config)


def asked(sample: Sample) -> tuple[str | None, str]:
    if not sample.messages:
        return None, sample.text
    question, reply = (turn["content"] for turn in sample.messages)
    return question, reply


@pytest.mark.parametrize("name", [name for name, case in AWKWARD.items() if not case.refused])
def test_it_is_read_and_what_became_of_it_said(name: str, tmp_path: Path) -> None:
    case = AWKWARD[name]
    train, evaluation, counts, _, notes = split_of(tmp_path, case)
    assert sorted(map(asked, train + evaluation), key=str) == sorted(case.asked, key=str)
    assert len(evaluation) == 1
    for pattern in case.notes:
        assert any(re.search(pattern, note) for note in notes), notes
    assert len(notes) == len(case.notes)
    left_out = counts["duplicates"] + counts["no_answer"]
    assert counts["read"] - left_out == len(case.asked)  # no row is lost without a count
    assert {key: counts[key] for key in case.counts} == case.counts


@pytest.mark.parametrize("name", [name for name, case in AWKWARD.items() if case.refused])
def test_it_is_refused_with_the_place_and_the_remedy(name: str, tmp_path: Path) -> None:
    case = AWKWARD[name]
    with pytest.raises(SettingsError, match=case.refused) as refused:
        split_of(tmp_path, case)
    sentence = str(refused.value)
    assert ";" in sentence and sentence.endswith(".") and "\n" not in sentence
