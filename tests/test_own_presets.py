"""A person's own presets: written to be read, found again by name, never in another's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from playground.config import SettingsError
from playground.own_presets import (
    as_yaml,
    delete_preset,
    own_presets,
    rename_preset,
    save_preset,
)
from playground.presets import list_presets, load_preset, own_folder

ALL = {preset.name: preset for preset in list_presets()}


@pytest.mark.parametrize("name", ALL)
def test_what_was_saved_is_what_is_loaded(name: str, home: Path) -> None:
    saved = ALL[name]
    path = save_preset(saved, "mine", home)
    assert path == own_folder(home) / "mine.yaml"
    found = load_preset("mine", home=home)
    assert (found.config, found.precisions, found.seeds) == (
        saved.config,
        saved.precisions,
        saved.seeds,
    )
    assert (found.name, found.title, found.own) == ("mine", "mine", True)


def test_the_file_names_only_what_is_not_the_default(home: Path) -> None:
    changes = {"max_steps": "7", "keep_layers": "down_proj, o_proj", "seeds": "3"}
    text = as_yaml(load_preset("quick", changes), 'A "title": with # all 🧪')
    assert (
        text.split("\n", 1)[1]
        == """\
title: 'A "title": with # all 🧪'
summary:   # what it is, in two lines: yours to write
expect:    # what one will probably see: yours to write

precisions: [fp16, nvfp4]
seeds: 3
model: tiny
dataset: sentences-to-json

data:
  max_seq_len: 128
  exact_match_rows: 64

training:
  max_steps: 7
  micro_batch_size: 16
  learning_rate: 0.0015
  eval_every: 10

quantization:
  keep_layers: [down_proj, o_proj]

measure:
  cross_precisions: [fp16, nvfp4]
  merge_check: true
"""
    )


@pytest.mark.parametrize(
    "name",
    ["", "Mine", "a b", "../x", "a/b", "/tmp/x", ".x", "-x", "_defaults", "ä", "x" * 41, "a\nb",
     "a.yaml", "$(touch x)"],
)  # fmt: skip
def test_a_name_that_cannot_be_is_one_sentence(name: str, home: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be used; take 1 to 40 small letters") as said:
        save_preset(ALL["quick"], name, home)
    assert "\n" not in str(said.value)
    assert not own_folder(home).exists()


def test_one_that_is_written_over_keeps_what_its_owner_wrote(home: Path) -> None:
    path = save_preset(ALL["quick"], "mine", home, "My title")
    path.write_text(path.read_text().replace("summary:  ", "summary: what I wrote"))
    with pytest.raises(SettingsError, match="is taken by one of yours"):
        save_preset(ALL["seeds"], "mine", home)
    save_preset(ALL["seeds"], "mine", home, replace=True)
    found = load_preset("mine", home=home)
    assert (found.title, found.summary, found.seeds) == ("My title", "what I wrote", 3)
    save_preset(ALL["quick"], "mine", home, "Another", replace=True)
    assert load_preset("mine", home=home).title == "Another"
    path.write_text("a: [\n")
    save_preset(ALL["quick"], "mine", home, replace=True)
    assert load_preset("mine", home=home).title == "mine"


def test_another_name_takes_everything_along(home: Path) -> None:
    save_preset(ALL["seeds"], "mine", home)
    save_preset(ALL["quick"], "other", home, "Title")
    assert rename_preset("mine", " third ", home) == "third"
    assert rename_preset("other", "fourth", home) == "fourth"
    found = [(p.name, p.title, p.seeds) for p in own_presets(home)[0]]
    assert found == [("fourth", "Title", 1), ("third", "third", 3)]
    for name, new, said in (
        ("third", "fourth", "taken by one of yours"),
        ("third", "quick", "comes with the project"),
        ("third", "../x", "cannot be used"),
        ("mine", "x", "none of yours"),
    ):
        with pytest.raises(SettingsError, match=said):
            rename_preset(name, new, home)
    assert sorted(p.name for p in own_folder(home).iterdir()) == ["fourth.yaml", "third.yaml"]


@pytest.mark.parametrize("name", ["quick", "catalog"])
def test_the_projects_names_stay_its_own(name: str, home: Path) -> None:
    with pytest.raises(SettingsError, match=f"'{name}' is taken by one that comes with"):
        save_preset(ALL["quick"], name, home)


def test_an_earlier_one_is_not_written_over(home: Path) -> None:
    save_preset(ALL["quick"], "mine", home)
    with pytest.raises(SettingsError, match="'mine' is taken by one of yours; delete that"):
        save_preset(ALL["smollm2"], "mine", home)
    assert load_preset("mine", home=home).config == ALL["quick"].config


def test_a_deleted_one_is_gone_and_only_own_ones_can_be(home: Path) -> None:
    save_preset(ALL["quick"], "mine", home)
    delete_preset("mine", home)
    assert own_presets(home) == ([], {})
    for name in ("mine", "quick", "../../etc/passwd", ""):
        with pytest.raises(SettingsError, match="is none of yours"):
            delete_preset(name, home)
    assert load_preset("quick").name == "quick"


def test_they_are_unknown_without_their_home(home: Path) -> None:
    save_preset(ALL["quick"], "mine", home)
    with pytest.raises(SettingsError, match="'mine' is unknown"):
        load_preset("mine")
    with pytest.raises(SettingsError, match="Did you mean 'mine'"):
        load_preset("mime", home=home)


def test_one_with_a_mistake_does_not_hide_the_others(home: Path) -> None:
    save_preset(ALL["quick"], "good", home)
    (own_folder(home) / "bad.yaml").write_text("model: tiny\nmodle: x\n")
    good, wrong = own_presets(home)
    assert [preset.name for preset in good] == ["good"]
    assert list(wrong) == ["bad"] and "'modle' in preset 'bad.yaml' is unknown" in wrong["bad"]


def test_a_file_that_came_to_have_one_of_our_names_does_not_take_its_place(home: Path) -> None:
    own_folder(home).mkdir(parents=True)
    (own_folder(home) / "quick.yaml").write_text("model: tiny\n")
    assert load_preset("quick", home=home) == ALL["quick"]
    assert own_presets(home) == ([], {})


def test_a_folder_that_cannot_be_written_is_one_sentence(home: Path) -> None:
    home.mkdir()
    (home / "presets").write_text("a file in its place")
    with pytest.raises(SettingsError, match="Preset 'mine' cannot be written"):
        save_preset(ALL["quick"], "mine", home)
