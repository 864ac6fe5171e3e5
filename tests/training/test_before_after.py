"""An adapter that was trained does something, and each column of before and after has its model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from playground.config import RunConfig
from playground.events import Eval, EvalAnswers, Event, Message
from playground.training import held_out as evaluations
from playground.training.adapter import trainable
from playground.training.evaluate import _answers, held_out_loss
from playground.training.loop import train
from playground.training.moved import warn_if_silent
from tests.tiny import tiny_llama, tiny_tokenizer
from tests.training.prepared import facts, held_out, judged, only, ready, returned, train_a_little

Configure = Callable[..., RunConfig]
CPU = torch.device("cpu")


@pytest.mark.parametrize("precision", ["fp32", "fp16", "nvfp4", "nvfp4-2d"])
def test_training_moves_both_matrices_of_every_layer(
    precision: str, configure: Configure, tmp_path: Path
) -> None:
    list(train(configure(precision=precision), folder=tmp_path))
    saved = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    b = {name: float(t.norm()) for name, t in saved.items() if "lora_B" in name}
    assert len(b) == 14 and min(b.values()) > 0, b
    untrained = ready(configure(precision=precision)).model.state_dict()
    for name, tensor in saved.items():
        start = untrained[name.replace(".weight", ".default.weight")]
        assert not torch.equal(tensor, start), name


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["fp32", "nvfp4"])
def test_before_is_the_bare_base_and_after_the_adapted_one(
    precision: str, configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losses and answers; the answers are read from the very model that each evaluation used."""
    config = configure(precision=precision, max_steps=30, exact_match_rows=4)
    answers: list[list[str]] = []
    exact_match = evaluations.exact_match

    def overheard(model, tokenizer, rows, **options):  # type: ignore[no-untyped-def]
        answers.append(_answers(model.eval(), tokenizer, rows, CPU, lambda: None))
        model.train()
        return exact_match(model, tokenizer, rows, **options)

    monkeypatch.setattr(evaluations, "exact_match", overheard)
    events: list[Event] = list(train(config, folder=tmp_path))
    assert [e.when for e in only(Eval, events)] == ["before", "after"]

    bare = ready(config)
    with bare.model.disable_adapter():
        alone = returned(
            held_out_loss(
                bare.model,
                bare.eval,
                batch_size=config.training.micro_batch_size,
                pad_id=bare.pad_id,
                device=CPU,
            )
        )
        wanted = _answers(bare.model.eval(), bare.tokenizer, bare.eval, CPU, lambda: None)
    assert held_out(events, "before") == alone.loss
    assert held_out(events, "after") == judged(config, tmp_path / "adapter")
    assert held_out(events, "after") < alone.loss - 1
    assert answers[0] == wanted and answers[1] != wanted
    assert all(answers[1])
    told = {e.when: [a.answer for a in e.answers] for e in only(EvalAnswers, events)}
    if precision == "fp32":  # NVFP4 scales by the batch, and these were others
        assert told == {"before": wanted[:4], "after": answers[1]}
    assert told["before"] != told["after"]


def test_what_was_asked_and_answered_is_told_in_the_rows_own_words(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(max_steps=1, exact_match_rows=3)
    events = list(train(config, folder=tmp_path))
    before, after = only(EvalAnswers, events)
    assert (before.when, before.step, after.when, after.step) == ("before", 0, "after", 1)
    assert [a.row for a in before.answers] == [0, 1, 2]
    for answer in before.answers:  # no word of the template's
        a, b = answer.prompt.removesuffix("=").split("+")
        assert answer.reference == str(int(a) + int(b))
    right = {e.when: e.exact_match for e in only(Eval, events)}
    assert right["after"] == sum(a.right for a in after.answers) / 3


@pytest.mark.parametrize("template", ["own", "none"])
def test_what_the_rows_were_written_in_is_told(
    template: str, configure: Configure, model_folder: Path, tmp_path: Path
) -> None:
    folder = model_folder
    if template == "none":
        folder = tmp_path / "bare"
        tiny_llama().save_pretrained(folder)
        tiny_tokenizer(chat_template=None).save_pretrained(folder)
    events = list(train(configure(model=str(folder), max_steps=1), folder=tmp_path))
    assert facts(events)["template"] == template


def test_no_answers_without_rows_to_answer(configure: Configure, tmp_path: Path) -> None:
    assert only(EvalAnswers, list(train(configure(max_steps=1), folder=tmp_path))) == []


def test_an_adapter_that_did_not_move_is_told(configure: Configure, tmp_path: Path) -> None:
    """So small a rate that B, in fp32, stays zero."""
    events = list(train(configure(max_steps=2, learning_rate=1e-50), folder=tmp_path))
    (warning,) = [e.text for e in only(Message, events) if e.level == "warning"]
    assert warning.startswith("The adapter changes nothing")
    moved = list(train(configure(max_steps=2), folder=tmp_path))
    assert not [e for e in only(Message, moved) if e.level == "warning"]


def test_a_layer_that_did_not_move_is_counted(configure: Configure) -> None:
    run = ready(configure())
    train_a_little(run)
    assert list(warn_if_silent(run.model)) == []
    name, silent = next((n, p) for n, p in trainable(run.model).items() if "lora_B" in n)
    silent.data.zero_()
    (warning,) = warn_if_silent(run.model)
    assert warning.text.startswith("In 1 of 14 adapted layers"), name
