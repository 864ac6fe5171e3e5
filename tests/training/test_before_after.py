"""An adapter that was trained does something, and each column of before and after has its model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from playground.config import RunConfig
from playground.events import Eval, Event
from playground.training import held_out as evaluations
from playground.training.evaluate import _answers, held_out_loss
from playground.training.loop import train
from tests.training.prepared import held_out, judged, only, ready, returned

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
