"""Settings are checked once, on construction; a wrong one is a sentence for a person."""

from __future__ import annotations

from typing import Any

import pytest

from playground.config import (
    PRECISIONS,
    SECTIONS,
    RunConfig,
    SettingsError,
    check_precision,
    field_of,
    nearest,
    parse_columns,
    parse_config,
    private,
    setting_path,
)
from playground.presets import defaults


@pytest.fixture
def values() -> dict[str, Any]:
    return {**defaults(), "model": "tiny", "dataset": "iso-dates", "precision": "fp16"}


def _with(values: dict[str, Any], section: str, key: str, value: Any) -> dict[str, Any]:
    return {**values, section: {**values[section], key: value}}


def test_a_config_survives_json(values: dict[str, Any]) -> None:
    config = parse_config(values)
    assert RunConfig.model_validate_json(config.model_dump_json()) == config


def test_another_precision_changes_nothing_else(values: dict[str, Any]) -> None:
    config = parse_config(values)
    other = config.with_precision("nvfp4")
    assert other.model_dump() == config.model_dump() | {"precision": "nvfp4"}
    with pytest.raises(SettingsError, match="'nvfp5' is unknown.*Did you mean 'nvfp4'"):
        config.with_precision("nvfp5")


def healing(values: dict[str, Any], precision: str, **settings: Any) -> RunConfig:
    quantization = {**values["quantization"], **settings}
    return parse_config({**values, "precision": precision, "quantization": quantization})


@pytest.mark.parametrize(
    ("share", "steps", "first"),
    [
        ("0.4375", 800, 351),  # MLPerf Training v5.1, llama2_70b_lora: FP8 after step 350 of 800
        ("0.1", 30, 4),  # 0.1 * 30 is a little above 3 in binary, and 3 steps are 0.1 of 30
        ("0.5", 3, 2),
        ("0.99", 2, 2),
        ("0.0001", 5, 1),
        ("1", 5, None),
    ],
)
def test_healing_begins_at_the_first_step_beyond_its_share(
    values: dict, share: str, steps: int, first: int | None
) -> None:
    values = _with(values, "training", "max_steps", steps)
    config = healing(values, "nvfp4", heal_after=share, heal_to="bf16")
    assert config.first_healed_step == first
    assert config.with_precision("bf16").first_healed_step is None  # nothing to heal
    assert config.with_precision("fp32").first_healed_step is None


def test_healing_that_does_not_widen_is_refused_for_the_arm_that_it_concerns(values: dict) -> None:
    sentence = "heal_to is 'nvfp4-weight-only', .* no more than nvfp4 .4.5 bits a weight and 4.5"
    to = "nvfp4-weight-only"
    with pytest.raises(SettingsError, match=f"{sentence}.; choose a wider .* heal_after to 1"):
        healing(values, "nvfp4", heal_after="0.5", heal_to=to)
    config = healing(values, "fp16", heal_after="0.5", heal_to=to)
    assert config.first_healed_step is None
    with pytest.raises(SettingsError, match=sentence):
        config.with_precision("nvfp4")
    assert healing(values, "nvfp4", heal_after="1", heal_to=to).first_healed_step is None


def test_fp8_beside_narrower_arms_that_heal_to_it_stays_as_it_is(values: dict) -> None:
    """MLPerf's own recipe: NVFP4 and then FP8, beside FP8 all along."""
    config = healing(values, "nvfp4", heal_after="0.5", heal_to="fp8")
    assert config.first_healed_step is not None
    assert config.with_precision("fp8").first_healed_step is None
    wider = healing(values, "fp8", heal_after="0.5", heal_to="bf16")
    assert wider.first_healed_step == config.first_healed_step


def test_a_config_cannot_be_changed(values: dict[str, Any]) -> None:
    with pytest.raises(Exception, match="frozen"):
        parse_config(values).training.max_steps = 3


@pytest.mark.parametrize(
    ("text", "number"), [("2e-4", 2e-4), ("0.0002", 2e-4), (" 3E-4 ", 3e-4), (1, 1.0)]
)
def test_a_number_as_text_is_the_number(values: dict, text: Any, number: float) -> None:
    config = parse_config(_with(values, "training", "learning_rate", text))
    assert config.training.learning_rate == number


@pytest.mark.parametrize(
    "value", ["nan", "inf", "-1", "1e400", "0,0002", "abc", "", None, True, [1]]
)
def test_what_is_no_learning_rate_is_refused_by_name(values: dict, value: Any) -> None:
    with pytest.raises(SettingsError) as refused:
        parse_config(_with(values, "training", "learning_rate", value))
    assert str(refused.value).startswith(f"learning_rate is {value!r}")


@pytest.mark.parametrize(
    ("section", "key", "value", "remedy"),
    [
        ("training", "max_steps", 0, "at least 1"),
        ("training", "max_steps", 2.5, "a whole number"),
        ("training", "max_steps", True, "yes/no"),
        ("training", "seed", -1, "at least 0"),
        ("training", "seed", 2**63, "below"),
        ("training", "warmup_share", 1.5, "at most 1"),
        ("training", "gradient_checkpointing", "maybe", "true or false"),
        ("training", "schedule", "cos", "'cosine', 'linear' or 'constant'"),
        ("lora", "lora_r", 0, "at least 1"),
        ("lora", "lora_dropout", 1.0, "below 1"),
        ("lora", "target_modules", "q_proj", "a list of layer names"),
        ("lora", "target_modules", ["a", 3], "a list of layer names"),
        ("lora", "target_modules", [], "a list of layer names"),
        ("data", "max_seq_len", 4, "at least 8"),
        ("data", "learn_from", "prompts", "'answers' or 'everything'"),
        ("data", "train_rows", 0, "at least 1"),
    ],
)
def test_one_sentence_with_the_name_and_the_remedy(
    values: dict, section: str, key: str, value: Any, remedy: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        parse_config(_with(values, section, key, value))
    text = str(refused.value)
    assert text.lower().startswith(f"{key} is {value!r}".lower())
    assert remedy in text
    assert text.endswith(".") and ". " not in text


def test_several_mistakes_are_all_named(values: dict) -> None:
    wrong = _with(_with(values, "training", "max_steps", 0), "lora", "lora_r", 0)
    with pytest.raises(SettingsError, match="lora_r is 0.*max_steps is 0"):
        parse_config(wrong)


def test_an_unknown_setting_and_a_missing_one(values: dict) -> None:
    with pytest.raises(SettingsError, match="'lr' is unknown; remove it"):
        parse_config(_with(values, "training", "lr", 1))
    del values["dataset"]
    with pytest.raises(SettingsError, match="'dataset' is missing; give it a value"):
        parse_config(values)


def test_setting_names_are_unique_across_sections() -> None:
    names = [name for part in SECTIONS.values() for name in part.model_fields]
    assert len(names) == len(set(names)) and not set(names) & set(RunConfig.model_fields)


def test_each_setting_is_found_and_explained() -> None:
    for section, part in SECTIONS.items():
        for name in part.model_fields:
            assert setting_path(name) == setting_path(f"{section}.{name}") == (section, name)
            assert field_of(name).description.endswith(".")
    assert setting_path("model") == ("model",)
    with pytest.raises(SettingsError, match="'lora.seed' is unknown"):
        setting_path("lora.seed")


def test_precisions_are_described() -> None:
    assert {"fp32", "bf16", "fp16", "nvfp4"} <= set(PRECISIONS)
    assert PRECISIONS["nvfp4"].storage_bits == 4.5
    assert check_precision("nvfp4") == "nvfp4"
    assert all(info.summary.endswith(".") for info in PRECISIONS.values())


def test_nearest() -> None:
    assert nearest("max_step", ["max_steps", "seed"]) == " Did you mean 'max_steps'?"
    assert nearest("zzz", ["max_steps", "seed"]) == ""


class TestPrivate:
    @pytest.fixture(autouse=True)
    def _a_person(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "/home/ann")
        monkeypatch.setenv("MY_API_KEY", "0123456789")
        monkeypatch.setenv("SHORT_TOKEN", "ab")

    @pytest.mark.parametrize(
        ("text", "safe"),
        [
            ("/home/ann/x.jsonl is gone", "~/x.jsonl is gone"),
            ("in '/home/ann'.", "in '~'."),
            ("see /home/ann. And", "see ~. And"),
            ("/home/anna/x and /home/ann-lee and /home/ann.old", None),
            ("token hf_abcDEF123456 refused", "token *** refused"),
            ("key 0123456789 refused", "key *** refused"),
            ("cab ab", None),
        ],
    )
    def test_hides_the_home_folder_and_secrets_and_nothing_else(
        self, text: str, safe: str | None
    ) -> None:
        assert private(text) == (safe or text)

    def test_every_settings_error_is_private(self) -> None:
        assert str(SettingsError("/home/ann/x is gone")) == "~/x is gone"

    def test_a_home_of_the_root_folder_hides_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "/")
        assert private("/data/x") == "/data/x"


@pytest.mark.parametrize(
    ("written", "columns"),
    [
        ("prompt=Frage, answer=Antwort", {"prompt": "Frage", "answer": "Antwort"}),
        ("Question = q ,output= a=b", {"prompt": "q", "answer": "a=b"}),
        ('prompt=Q, "answer=Antwort, kurz"', {"prompt": "Q", "answer": "Antwort, kurz"}),
        (
            "instruction=a,input=b,output=c,system=d",
            dict(prompt="a", input="b", answer="c", system="d"),
        ),
        ("conversations=chat", {"messages": "chat"}),
        ("text=Body", {"text": "Body"}),
    ],
)
def test_columns_are_mapped_by_hand(values: dict, written: str, columns: dict) -> None:
    config = parse_config(_with(values, "data", "columns", written))
    assert config.data.columns == written and parse_columns(written) == columns


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("Frage", "'Frage' names no column; write it such as prompt=Question, answer=Reply."),
        ("prompt=, answer=b", "'prompt=' names no column"),
        ("promt=a, answer=b", "'promt' is no part of a row; .* Did you mean 'prompt'?"),
        ("prompt=a, question=b, answer=c", "two columns for the prompt; keep one"),
        ("prompt=a", "a row is text, or messages, or a prompt and its answer"),
        ("text=a, answer=b", "a row is text, or messages"),
        (" ", "names no column"),
    ],
)
def test_a_mapping_that_makes_no_row_is_refused(values: dict, written: str, says: str) -> None:
    with pytest.raises(SettingsError, match=f"^Columns is '{written}': .*{says}"):
        parse_config(_with(values, "data", "columns", written))
