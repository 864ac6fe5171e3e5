"""Presets over defaults; settings typed as text; everything wrong is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from playground.catalog import resolve_dataset, resolve_model
from playground.config import PRECISIONS, SECTIONS, SettingsError
from playground.presets import FOLDER, defaults, list_presets, load_preset

NAMES = sorted(p.stem for p in FOLDER.rglob("*.yaml") if p.stem not in ("_defaults", "catalog"))


@pytest.fixture
def write(tmp_path: Path):
    def make(text: str, name: str = "mine.yaml") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return make


GOOD = "model: tiny\ndataset: iso-dates\nprecisions: [fp16]\n"


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_loads_and_names_what_the_catalog_has(name: str) -> None:
    preset = load_preset(name)
    assert preset.title and preset.summary and preset.expect
    assert preset.takes or preset.machine == "gpu"  # nobody has measured those
    assert preset.config.precision == preset.precisions[0]
    resolve_model(preset.config.model)
    resolve_dataset(preset.config.dataset)
    seeds = range(preset.config.training.seed, preset.config.training.seed + preset.seeds)
    assert preset.configs == [
        preset.config.with_precision(name).with_seed(seed)
        for seed in seeds
        for name in preset.precisions
    ]


def test_repetitions_differ_in_the_seed_alone_and_share_their_held_out_rows() -> None:
    first, _, second, _ = load_preset("quick", {"seeds": "2"}).configs
    assert (first.training.seed, second.training.seed) == (42, 43)
    assert second.with_seed(42) == first
    assert first.data.split_seed == second.data.split_seed


@pytest.mark.parametrize("seeds", ["0", "-1", "1.5", "101", "three", ""])
def test_seeds_that_cannot_be_are_refused(seeds: str) -> None:
    with pytest.raises(SettingsError, match="'seeds' is .*; give how often each precision is"):
        load_preset("quick", {"seeds": seeds})


@pytest.mark.parametrize("name", [n for n in NAMES if load_preset(n).machine == "gpu"])
def test_what_was_not_measured_says_so(name: str) -> None:
    preset = load_preset(name)
    assert preset.expect.startswith("We have measured nothing of this")
    decoded = {p for p in preset.precisions if PRECISIONS[p].activations.startswith("16")}
    assert not decoded & {"nf4", "nvfp4-weight-only"} or "slower" in preset.expect


def test_a_machine_that_is_none_is_refused(write) -> None:
    with pytest.raises(SettingsError, match="'machine' is 'tpu'; write any or gpu"):
        load_preset(write(GOOD + "machine: tpu\n"))


def test_the_ladder_has_every_precision_there_is() -> None:
    assert set(load_preset("precision-ladder").precisions) == set(PRECISIONS)


def test_quick_comes_first_and_is_what_the_contract_says() -> None:
    presets = list_presets()
    assert [p.name for p in presets][0] == "quick" and {"quick", "smollm2"} <= set(NAMES)
    quick, smollm2 = load_preset("quick"), load_preset("smollm2")
    assert (quick.config.model, quick.precisions) == ("tiny", ("fp16", "nvfp4"))
    assert smollm2.config.model == "smollm2-135m"


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.yaml")), ids=lambda p: p.stem)
def test_presets_read_like_advice(path: Path) -> None:
    """Each number has a word of why beside it."""
    section = ""
    for line in path.read_text().splitlines():
        if line.rstrip().removesuffix(":") in SECTIONS:
            section = line
        elif section and line.startswith("  "):
            assert "#" in line, f"{path.name}: '{line.strip()}' has no comment"


def test_the_defaults_name_each_setting_once_and_nothing_else() -> None:
    written = defaults()
    assert set(written) == set(SECTIONS)
    for name, part in SECTIONS.items():
        assert set(written[name]) == set(part.model_fields)


def test_a_file_anywhere_is_a_preset(write) -> None:
    preset = load_preset(write("\ufeff" + GOOD + "training: {max_steps: 7}\n"))
    assert (preset.name, preset.title, preset.config.training.max_steps) == ("mine", "mine", 7)
    assert preset.config.lora.lora_r == int(defaults()["lora"]["lora_r"])


def test_numbers_that_yaml_takes_for_text_are_read(write) -> None:
    preset = load_preset(write(GOOD + "training: {learning_rate: 2e-4}\n"))
    assert preset.config.training.learning_rate == 0.0002


def test_a_title_is_the_text_it_is_whatever_yaml_would_make_of_it(write) -> None:
    for title in ("2024-99-99", "1:30:00", "no", "0x10"):
        assert load_preset(write(f"title: {title}\n" + GOOD)).title == title


class TestOverrides:
    def test_by_name_by_path_and_precisions(self) -> None:
        typed = {"max_steps": "40", "training.seed": " 7 ", "precisions": "bf16, nvfp4"}
        preset = load_preset("quick", typed)
        assert (preset.config.training.max_steps, preset.config.training.seed) == (40, 7)
        assert preset.precisions == ("bf16", "nvfp4") and preset.config.precision == "bf16"

    def test_of_every_kind_of_value(self) -> None:
        config = load_preset(
            "quick",
            {
                "learning_rate": "2e-4",
                "gradient_checkpointing": "true",
                "train_rows": "100",
                "target_modules": "q_proj, v_proj",
                "schedule": "linear",
                "dataset": "iso-dates",
                "precision": "fp32",
            },
        ).config
        assert config.training.learning_rate == 0.0002
        assert config.training.gradient_checkpointing is True
        assert config.data.train_rows == 100
        assert config.lora.target_modules == ("q_proj", "v_proj")
        assert (config.training.schedule, config.dataset) == ("linear", "iso-dates")
        assert config.precision == "fp32"

    def test_names_may_stand_in_the_brackets_of_a_preset(self) -> None:
        loaded = load_preset(
            "quick", {"target_modules": " [q_proj, v_proj] ", "precisions": "[bf16,nvfp4]"}
        )
        assert loaded.config.lora.target_modules == ("q_proj", "v_proj")
        assert loaded.precisions == ("bf16", "nvfp4")

    @pytest.mark.parametrize("nothing", ["", "null", " "])
    def test_what_may_be_empty_can_be_emptied(self, nothing: str) -> None:
        config = load_preset(
            "quick", {"train_rows": nothing, "target_modules": "all-linear"}
        ).config
        assert config.data.train_rows is None and config.lora.target_modules == "all-linear"

    @pytest.mark.parametrize(
        ("typed", "says"),
        [
            ({"max_step": "3"}, "Setting 'max_step' is unknown. Did you mean 'max_steps'?"),
            ({"xyz": "3"}, "Setting 'xyz' is unknown. Known are model, dataset,"),
            ({"max_steps": "0"}, "max_steps is '0'; it must be at least 1."),
            ({"max_steps": "-1"}, "max_steps is '-1'; it must be at least 1."),
            ({"max_steps": "1.5"}, "max_steps is '1.5'; it must be a whole number"),
            ({"max_steps": ""}, "max_steps is ''; it must be a whole number"),
            ({"learning_rate": "nan"}, "learning_rate is 'nan'; it must be a finite number."),
            ({"learning_rate": "-1"}, "learning_rate is '-1'; it must be above 0"),
            ({"learning_rate": "1e400"}, "learning_rate is '1e400'; it must be a finite number."),
            ({"learning_rate": "0,0002"}, "learning_rate is '0,0002'; it must be a number with a"),
            (
                {"schedule": "cos"},
                "Schedule is 'cos'; it must be 'cosine', 'linear' or",
            ),
            ({"target_modules": ","}, "target_modules is []: write all-linear, or a list of layer"),
            ({"precisions": ""}, "'precisions' is []; give at least one"),
            ({"precisions": "fp16,fp16"}, "Precision 'fp16' is given twice"),
            ({"precision": "fp61"}, "Precision 'fp61' is unknown; choose from"),
            ({"model": ""}, "Model is ''; it must not be empty."),
        ],
    )
    def test_wrong_ones_are_named_with_value_and_remedy(self, typed: dict, says: str) -> None:
        with pytest.raises(SettingsError) as refused:
            load_preset("quick", typed)
        assert str(refused.value).startswith(says)


class TestTitle:
    """A comparison is recognised by what is its own."""

    @pytest.mark.parametrize(
        ("typed", "title"),
        [
            ({}, "Quick look"),
            ({"dataset": "iso-dates", "max_steps": "8"}, "dataset=iso-dates, max_steps=8"),
            ({"learning_rate": " 2e-4 "}, "learning_rate=2e-4"),
            ({"training.max_steps": "8", "max_steps": "9"}, "max_steps=9"),
            ({"precisions": "fp16,bf16", "seed": "7"}, "FP16, BF16, seed=7"),
            ({"seed": "7", "precisions": "nvfp4"}, "NVFP4, seed=7"),
            ({"seeds": "3", "max_steps": "8"}, "3 seeds, max_steps=8"),
            ({"precisions": "nvfp4, fp16"}, "NVFP4, FP16"),
            ({"dataset": "/some/where/my rows.jsonl"}, "dataset=my rows.jsonl"),
            ({"dataset": "./rows.csv", "model": "~/models/mine/"}, "dataset=rows.csv, model=mine"),
            ({"dataset": "someone/rows"}, "dataset=someone/rows"),  # a hub id is no path
            ({"target_modules": "q_proj,\n v_proj"}, "target_modules=q_proj, v_proj"),
            ({"train_rows": "9", "gradient_checkpointing": "true"},
             "train_rows=9, gradient_checkpointing=true"),
            # What the preset has anyway is no change.
            ({"max_steps": str(load_preset("quick").config.training.max_steps)}, "Quick look"),
            ({"learning_rate": "0.0015", "precisions": "fp16,nvfp4", "train_rows": ""},
             "Quick look"),
        ],
    )  # fmt: skip
    def test_says_what_was_changed(self, typed: dict[str, str], title: str) -> None:
        want = title if title == "Quick look" else f"Quick look: {title}"
        assert load_preset("quick", typed).title == want

    def test_is_no_longer_than_a_line(self) -> None:
        title = load_preset("quick", {"dataset": "x" * 200, "seed": "7"}).title
        assert len(title) == 80 and title.endswith("x…")

    def test_of_a_preset_that_is_complete_only_with_what_was_typed(self, write) -> None:
        bare = write("title: Mine\ndataset: iso-dates\nprecisions: [fp16]\n")
        assert load_preset(bare, {"model": "tiny"}).title == "Mine: model=tiny"

    def test_an_emptied_setting_is_shown_as_the_terminal_takes_it(self, write) -> None:
        some = write("title: Mine\n" + GOOD + "data: {train_rows: 9}\n")
        assert load_preset(some, {"train_rows": ""}).title == "Mine: train_rows=null"


class TestRefused:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "holds no settings"),
            ("- a\n", "holds no settings"),
            ("model: [tiny\n", "has a mistake in line 2"),
            ("a: b: c\n", "has a mistake in line 1"),
            (GOOD + "model: other\n", "'model' is written twice; keep one"),
            (GOOD + "training:\n  seed: 1\n  seed: 2\n", "in line 6: 'seed' is written twice"),
            (
                GOOD + "modle: tiny\n",
                "'modle' in preset 'mine.yaml' is unknown; remove it.",
            ),
            (
                GOOD + "max_steps: 3\n",
                "'max_steps' in preset 'mine.yaml' belongs under",
            ),
            (
                GOOD + "training: fast\n",
                "'training' in preset 'mine.yaml' is 'fast'; write",
            ),
            (
                GOOD + "training: {max_step: 3}\n",
                "Setting 'max_step' is unknown; remove it.",
            ),
            (GOOD + "training: {max_steps: true}\n", "max_steps is 'true'; it must be a whole"),
            (
                GOOD + "training: {learning_rate: .nan}\n",
                "learning_rate is '.nan'; it must be",
            ),
            ("dataset: iso-dates\nprecisions: [fp16]\n", "Setting 'model' is missing"),
            ("model: tiny\ndataset: iso-dates\n", "'precisions' is None; give at least one"),
            ("model: tiny\ndataset: iso-dates\nprecisions: fp16\n", "'precisions' is 'fp16'; give"),
            ("!!python/object/apply:os.system [ls]\n", "holds no settings"),
            ("? [a, b]\n: c\n", "has a mistake in line 1"),
            ("{? {a: b} : c}\n", "has a mistake in line 1"),
            ("a: " + "[" * 3000 + "\n", "is nested too deeply"),
            (GOOD + f"training: {{max_steps: {'9' * 5000}}}\n", "… (5002 characters); it must"),
        ],
    )
    def test_a_file_with_a_mistake(self, write, text: str, says: str) -> None:
        with pytest.raises(SettingsError) as refused:
            load_preset(write(text))
        assert says in str(refused.value)
        assert "\n" not in str(refused.value)

    def test_a_name_that_is_none(self) -> None:
        with pytest.raises(SettingsError, match="'quik' is unknown; choose from .*mean 'quick'"):
            load_preset("quik")
        for hidden in ("_defaults", "", "../presets"):
            with pytest.raises(SettingsError, match="is unknown|does not exist"):
                load_preset(hidden)

    def test_a_file_that_is_missing_binary_or_enormous(self, write, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match="does not exist; check the path"):
            load_preset(str(tmp_path / "none.yaml"))
        (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(SettingsError, match="cannot be read"):
            load_preset(str(tmp_path / "bytes.yaml"))
        with pytest.raises(SettingsError, match="over 100,000 bytes"):
            load_preset(write("# " + "x" * 200_000))


def test_the_presets_are_plain_yaml() -> None:
    for name in NAMES:
        assert yaml.safe_load((FOLDER / f"{name}.yaml").read_text())["model"]
