"""Each bad end has one sentence and a kind: where it was, what was asked for, what would fit."""

from __future__ import annotations

from typing import Any

import pytest

from playground.config import RunConfig, SettingsError, parse_config
from playground.events import Facts, Stage
from playground.failures import Place, from_exception, from_exit_code
from tests import fakes

IN_STEP_4 = Place("training", 3)


class OutOfMemoryError(RuntimeError):
    """torch's, by name: this test needs no torch."""


def config(precision: str = "nvfp4", **training: Any) -> RunConfig:
    values = fakes.config(precision=precision).model_dump()
    for name, value in training.items():
        section = next(s for s in ("training", "data") if name in values[s])
        values[section][name] = value
    return parse_config(values)


def said(error: BaseException, config: RunConfig, place: Place = IN_STEP_4) -> str:
    return from_exception(error, config, place).error or ""


class TestPlace:
    def test_follows_what_a_run_says(self) -> None:
        place = Place()
        assert str(place) == "while starting"
        place = place.after(Stage(name="loading the model"))
        assert str(place) == "while loading the model"
        place = place.after(Stage(name="training"))
        assert str(place) == "in step 1" and place.training
        place = place.after(fakes.step(7))
        assert str(place) == "in step 8"
        place = place.after(Stage(name="evaluating"))
        assert str(place) == "while evaluating after step 7" and not place.training


class TestOutOfMemory:
    @pytest.mark.parametrize(
        ("error", "asked"),
        [
            (OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), "2.00 GiB"),
            (
                RuntimeError(
                    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't "
                    "allocate memory: you tried to allocate 8589934592 bytes. Error code 12"
                ),
                "8,192 MiB",
            ),
            (MemoryError("Unable to allocate 1.50 GiB for an array"), "1.50 GiB"),
            (MemoryError(), None),
            (RuntimeError("CUDA error: out of memory"), None),
            (RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"), None),
        ],
    )
    def test_is_known_in_all_its_forms(self, error: BaseException, asked: str | None) -> None:
        status = from_exception(error, config(), IN_STEP_4)
        assert (status.status, status.cause) == ("failed", "out of memory")
        more = f", asking for {asked} more" if asked else ""
        assert status.error and status.error.startswith(f"Out of memory in step 4{more}: ")

    def test_is_told_beside_what_was_predicted(self) -> None:
        place = Place("training", 3).after(Facts(predicted_peak_mib=12_345.0))
        assert place.after(Facts(peak_mib=1.0)) == place
        status = from_exception(MemoryError("Unable to allocate 2.00 GiB"), config(), place)
        assert status.error and status.error.startswith(
            "Out of memory in step 4, asking for 2.00 GiB more (predicted: 12.06 GiB in all): set "
        )

    @pytest.mark.parametrize("text", ["out of memory", "could not allocate", "no memory of it"])
    def test_is_not_read_into_other_errors(self, text: str) -> None:
        assert from_exception(ValueError(text), config(), IN_STEP_4).cause == "error"

    @pytest.mark.parametrize(
        ("micro", "accumulated", "want"),
        [(16, 1, (8, 2)), (2, 4, (1, 8)), (5, 1, (1, 5)), (6, 3, (3, 6)), (9, 2, (3, 6))],
    )
    def test_smaller_micro_batches_learn_from_the_same_rows(
        self, micro: int, accumulated: int, want: tuple[int, int]
    ) -> None:
        settings = config(micro_batch_size=micro, grad_accum_steps=accumulated)
        sentence = said(MemoryError(), settings)
        assert f"micro_batch_size to {want[0]} and grad_accum_steps to {want[1]}, " in sentence
        assert f"the same {micro * accumulated} rows a step" in sentence

    def test_the_remedies_are_those_not_taken_yet(self) -> None:
        one = {"micro_batch_size": 1}
        assert said(MemoryError(), config(**one)).endswith(
            ": turn gradient_checkpointing on, or lower max_seq_len from 128 to 64."
        )
        saved = one | {"gradient_checkpointing": True}
        assert said(MemoryError(), config("fp16", **saved)).endswith(
            ": lower max_seq_len from 128 to 64, or pick a precision that stores weights in fewer "
            "bits, such as nvfp4."
        )
        last = saved | {"max_seq_len": 64}
        assert said(MemoryError(), config(**last)).endswith(": pick a smaller model.")

    def test_before_a_row_was_read_only_the_weights_count(self) -> None:
        sentence = said(MemoryError(), config("fp16"), Place("loading the model"))
        assert sentence == (
            "Out of memory while loading the model: pick a precision that stores weights in fewer "
            "bits, such as nvfp4, or pick a smaller model."
        )

    def test_an_evaluation_saves_nothing_for_a_backward_pass(self) -> None:
        sentence = said(MemoryError(), config(), Place("evaluating", 3))
        assert sentence.startswith("Out of memory while evaluating after step 3: set micro_batch_")
        assert "checkpointing" not in sentence


class TestSurprise:
    def test_a_long_message_is_cut_and_an_empty_one_is_said(self) -> None:
        assert len(said(ValueError("x" * 5000), config())) < 400
        assert "ValueError in step 4: no message." in said(ValueError(), config())

    def test_lines_become_one_sentence(self) -> None:
        assert "\n" not in said(ValueError("one\n  two\nthree"), config())

    def test_a_settings_error_is_left_as_it_is(self) -> None:
        status = from_exception(SettingsError("Lower it."), config(), IN_STEP_4)
        assert (status.error, status.cause) == ("Lower it.", "refused")


@pytest.mark.parametrize(
    ("code", "cause", "says"),
    [
        (-9, "killed", "SIGKILL from outside, most often because memory ran out"),
        (-15, "killed", "SIGTERM from outside"),
        (-11, "crashed", "SIGSEGV in native code"),
        (3, "error", "exit code 3"),
        (None, "error", "exit code None"),
    ],
)
def test_a_process_that_ended_without_a_word(code: int | None, cause: str, says: str) -> None:
    status = from_exit_code(code)
    assert (status.status, status.cause) == ("failed", cause)
    assert status.error and says in status.error
