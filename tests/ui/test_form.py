"""The form's plain functions: what was typed becomes a preset, or one sentence."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from playground.config import SECTIONS, SettingsError
from playground.config.columns import SAID_IN_COLUMNS
from playground.presets import list_presets, load_preset
from playground.store import RunStore
from playground.ui import form
from playground.ui.labels import labelled
from playground.ui.text import labels

QUICK = load_preset("quick")


def filled(**changes) -> dict:
    return form.values(QUICK) | changes


def test_an_untouched_form_is_the_preset() -> None:
    assert form.read("quick", filled()) == QUICK


@pytest.mark.parametrize("preset", list_presets(), ids=lambda p: p.name)
def test_every_preset_survives_the_form(preset) -> None:
    # Read over another preset, so that every value really comes from the form.
    base = "quick" if preset.name != "quick" else "smollm2"
    back = form.read(base, form.values(preset))
    # Over another preset they run from wide to narrow, whichever came first here.
    assert set(back.precisions) == set(preset.precisions)
    assert back.config.with_precision(preset.config.precision) == preset.config
    assert back.seeds == preset.seeds


def test_every_setting_has_a_field_and_a_label() -> None:
    settings = [name for section in SECTIONS.values() for name in section.model_fields]
    assert sorted(form.SETTINGS) == sorted(settings)
    assert set(labels.LABELS) == set(settings)


def test_what_was_typed_reaches_the_config() -> None:
    preset = form.read(
        "quick",
        filled(
            max_steps=" 12 ", learning_rate="2e-4", gradient_checkpointing=True, train_rows="50"
        ),
    )
    training, data = preset.config.training, preset.config.data
    assert (training.max_steps, training.learning_rate) == (12, 2e-4)
    assert training.gradient_checkpointing is True
    assert data.train_rows == 50


def test_precisions_run_from_wide_to_narrow_however_they_were_ticked() -> None:
    assert form.read("quick", filled(precisions=["nvfp4", "fp32"])).precisions == ("fp32", "nvfp4")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("learning_rate", "0,0002", "'0,0002'"),
        ("learning_rate", "nan", "nan"),
        ("learning_rate", "1e400", "1e400"),
        ("max_steps", "-1", "-1"),
        ("max_steps", "12.5", "12.5"),
        ("max_steps", "", "max_steps"),
        ("seed", "true", "seed"),
        ("model", "tinny", "tiny"),
        ("model", "", "model"),
        ("dataset", "sentence-to-json", "sentences-to-json"),
        ("precisions", [], "Precisions is empty"),
        ("seeds", "0", "'0'"),
        ("seeds", "two", "how often each precision is repeated"),
        ("cross_precisions", "fp17", "Did you mean"),
    ],
)
def test_wrong_input_is_refused_by_name(key: str, value, said: str) -> None:
    with pytest.raises(SettingsError) as error:
        form.read("quick", filled(**{key: value}))
    assert said.lower() in str(error.value).lower()


def test_everything_that_is_wrong_is_named_at_once() -> None:
    wrong = filled(precisions=[], model="tinny", dataset="", max_steps="-1", grad_accum_steps="x")
    with pytest.raises(SettingsError) as error:
        form.read("quick", wrong)
    said = labelled(str(error.value))
    for words in ("Precisions is empty", "tinny", "Dataset is", "“Steps”", "“Passes per step”"):
        assert words in said
    with pytest.raises(SettingsError) as error:
        form.read("quick", filled(model="tinny", dataset="sentence-to-json"))
    assert "'tiny'" in str(error.value) and "'sentences-to-json'" in str(error.value)


def test_a_sentence_uses_the_labels_of_the_form() -> None:
    said = labelled("Lower micro_batch_size (now 4) or max_seq_len; title is max_steps=4.")
    assert said == "Lower “Rows per pass” (now 4) or “Longest row”; title is max_steps=4."
    assert "what is under Columns, above." in labelled(f"Say what is {SAID_IN_COLUMNS}.")
    assert labelled("A seed of the schedule.") == "A seed of the schedule."


def test_a_file_that_cannot_be_learned_from_is_refused(tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("foo,bar\n1,2\n")
    with pytest.raises(SettingsError, match="columns foo, bar are not a known format"):
        form.read("quick", filled(dataset=str(tmp_path / "rows.csv")))


def test_the_command_starts_the_same_comparison(tmp_path) -> None:
    asked = filled(max_steps="7", precisions=["fp32", "nvfp4"], train_rows="40", seed="3")
    preset = form.read("quick", asked)
    group = RunStore(tmp_path).create_group(preset.name, "a title", preset.configs, "1:1")
    words = shlex.split(form.command(group))
    assert words[:5] == [".venv/bin/python", "-m", "playground", "compare", "quick"]
    assert words[-2:] == ["--title", "a title"]
    assert shlex.split(form.command(group, tmp_path)) == [*words, "--home", str(tmp_path)]
    overrides = dict(word.split("=", 1) for word in words[6:-2:2])
    assert set(words[5:-2:2]) == {"--set"}
    assert overrides == {
        "max_steps": "7", "precisions": "fp32,nvfp4", "train_rows": "40", "seed": "3",
    }  # fmt: skip
    again = load_preset(words[4], overrides)
    assert (again.config, again.precisions) == (preset.config, preset.precisions)


def test_a_title_that_was_not_typed_is_not_in_the_command(tmp_path) -> None:
    preset = form.read("quick", filled(max_steps="7"))
    group = RunStore(tmp_path).create_group(preset.name, preset.title, preset.configs, "1:1")
    assert "--title" not in form.command(group)


def test_repetitions_are_one_number_in_the_form_and_in_the_command(tmp_path) -> None:
    preset = form.read("quick", filled(seeds="3", seed="7", precisions=["fp16", "nvfp4"]))
    assert [c.training.seed for c in preset.configs] == [7, 7, 8, 8, 9, 9]
    group = RunStore(tmp_path).create_group(preset.name, preset.title, preset.configs, "1:1")
    assert form.preset_of(group).configs == preset.configs
    assert form.read("quick", form.values(form.preset_of(group))) == preset
    words = shlex.split(form.command(group))
    assert words[5:] == ["--set", "seed=7", "--seeds", "3"]


def test_the_command_of_a_preset_that_is_gone_says_everything(tmp_path) -> None:
    other = load_preset("smollm2", {"dataset": "my data; rm -rf.jsonl"})
    group = RunStore(tmp_path).create_group("gone", "t", other.configs, "1:1")
    words = shlex.split(form.command(group))
    assert words[4] == "quick"
    assert load_preset("quick", dict(w.split("=", 1) for w in words[6:-2:2])).config == other.config


def test_the_command_names_nobody_s_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prompt": "a", "completion": "b"}\n' * 4)
    store = RunStore(tmp_path / "runs")
    config = load_preset("quick", {"dataset": str(rows)}).config
    group = store.create_group("quick", "t", [config], "1:1.0")
    assert "dataset=~/rows.jsonl" in form.command(group)
    assert str(tmp_path) not in form.command(group)
