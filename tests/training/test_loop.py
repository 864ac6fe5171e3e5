"""A run is a stream of events that ends in one status, and the same one every time."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from playground.config import PRECISIONS, RunConfig, SettingsError
from playground.events import Eval, EvalRows, Event, Facts, Message, Stage, Status, Step
from playground.training import held_out, loop
from playground.training.loop import train
from tests.tiny import save_tiny, tiny_llama, tiny_tokenizer

Configure = Callable[..., RunConfig]


def run(config: RunConfig, folder: Path, **options: object) -> list[Event]:
    return list(train(config, folder=folder, **options))


def only(kind: type, events: list[Event]) -> list:
    return [event for event in events if isinstance(event, kind)]


def facts(events: list[Event]) -> dict:
    """All facts of a run together, as the store keeps them."""
    known: dict = {}
    for event in only(Facts, events):
        known |= event.model_dump(exclude_none=True)
    return known


def losses(events: list[Event]) -> list[float]:
    return [e.loss for e in events if isinstance(e, Step | Eval)]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_run_from_start_to_finish(precision: str, configure: Configure, tmp_path: Path) -> None:
    events = run(configure(precision=precision, eval_every=2, max_steps=5), tmp_path)
    assert [e.step for e in only(Step, events)] == [1, 2, 3, 4, 5]
    assert [(e.step, e.when) for e in only(Eval, events)] == [
        (0, "before"),
        (2, "during"),
        (4, "during"),
        (5, "after"),
    ]
    assert only(Status, events) == [events[-1]] == [Status(status="finished")]
    assert isinstance(events[0], Facts) and isinstance(events[1], Stage)
    shares: dict[str, list[float]] = {}
    for stage in only(Stage, events):
        if stage.progress is not None:
            shares.setdefault(stage.name, []).append(stage.progress)
    loaded, progress = shares["loading the model"], shares["evaluating"]
    assert loaded == sorted(set(loaded)) and len(loaded) > 5 and loaded[-1] == 1.0
    assert progress.count(0.0) == progress.count(1.0) == 4  # four evaluations
    assert (tmp_path / "adapter" / "adapter_model.safetensors").is_file()
    assert [p.name for p in tmp_path.iterdir()] == ["adapter"]


def test_the_adapter_comes_with_the_tokenizer_and_the_template_it_was_trained_on(
    configure: Configure, tmp_path: Path
) -> None:
    """A base model has no template; whoever loads the adapter must ask as the run did."""
    tiny_llama().save_pretrained(tmp_path / "base")
    tiny_tokenizer(None).save_pretrained(tmp_path / "base")
    turns = [
        [{"role": "user", "content": f"{i}+1="}, {"role": "assistant", "content": str(i + 1)}]
        for i in range(8)
    ]
    rows = "".join(json.dumps({"messages": each}) + "\n" for each in turns)
    (tmp_path / "rows.jsonl").write_text(rows)
    settings = {"model": str(tmp_path / "base"), "dataset": str(tmp_path / "rows.jsonl")}
    run(configure(max_steps=1, **settings), tmp_path / "run")
    adapter = tmp_path / "run" / "adapter"
    tokenizer = AutoTokenizer.from_pretrained(adapter)
    asked = tokenizer.apply_chat_template(turns[1][:1], add_generation_prompt=True, tokenize=False)
    assert asked == "User: 1+1=\n\nAssistant:"
    base = AutoModelForCausalLM.from_pretrained(tmp_path / "base")
    assert PeftModel.from_pretrained(base, adapter).peft_config["default"].r == 4


def test_evaluations_before_and_after_are_told_row_by_row(
    configure: Configure, tmp_path: Path
) -> None:
    events = run(configure(eval_every=1, max_steps=2), tmp_path)
    evals = {e.when: e for e in only(Eval, events)}
    rows = only(EvalRows, events)
    assert [(e.step, e.when) for e in rows] == [(0, "before"), (2, "after")]
    for e in rows:
        assert len(e.losses) == len(e.tokens) == 4 and sum(e.tokens) == evals[e.when].tokens
        assert math.fsum(e.losses) / sum(e.tokens) == evals[e.when].loss
    known = facts(events)["eval_sha256"]
    another = run(configure(precision="nvfp4", max_steps=1, seed=7), tmp_path)
    assert facts(another)["eval_sha256"] == known
    fewer = run(configure(eval_rows=3, max_steps=1), tmp_path)
    assert facts(fewer)["eval_sha256"] != known


@pytest.mark.parametrize("precision", PRECISIONS)
def test_it_learns(precision: str, configure: Configure, tmp_path: Path) -> None:
    events = run(configure(precision=precision, max_steps=30), tmp_path)
    before, after = only(Eval, events)
    assert after.loss < before.loss - 1.0


@pytest.mark.parametrize("precision", ["fp16", "nvfp4"])
def test_the_same_run_gives_the_same_curve_to_the_last_bit(
    precision: str, configure: Configure, tmp_path: Path
) -> None:
    config = configure(precision=precision, lora_dropout=0.1)
    first, second = run(config, tmp_path), run(config, tmp_path)
    assert losses(first) == losses(second)
    assert facts(first)["adapter_init_sha256"] == facts(second)["adapter_init_sha256"]


def test_only_the_precision_differs_within_a_group(configure: Configure, tmp_path: Path) -> None:
    config = configure(max_steps=2)
    known = [facts(run(config.with_precision(name), tmp_path)) for name in PRECISIONS]
    same = ("batches_sha256", "adapter_init_sha256", "rows", "environment", "device")
    for key in (*same, "total_parameters", "trainable_parameters"):
        assert all(k[key] == known[0][key] for k in known), key
    for k, info in zip(known, PRECISIONS.values(), strict=True):
        # And 4 bytes for each tensor's scale, where there is one.
        assert k["bits_per_converted_weight"] == pytest.approx(info.storage_bits, rel=0.02)


def test_a_run_says_what_it_is_made_of(configure: Configure, tmp_path: Path) -> None:
    known = facts(run(configure(precision="nvfp4", max_steps=1), tmp_path))
    assert (known["effective"], known["how"]) == ("nvfp4", "emulated")
    assert known["how_reason"].endswith(".")
    assert known["adapted_modules"] == 14
    assert known["coverage"]["converted"] == 14
    assert known["rows"] == {
        "read": 40, "duplicates": 0, "no_answer": 0, "train": 36, "eval": 4, "cut": 0,
        "dropped": 0, "kept": 40,
    }  # fmt: skip
    assert known["skipped_updates"] == 0
    assert known["memory_source"] == "counted tensor bytes (CPU)"
    # Two moments in fp32 and a step counter for each adapter matrix.
    counters = 2 * known["adapted_modules"] * 4 / 2**20
    assert known["optimizer_mib"] == pytest.approx(2 * known["adapters_mib"] + counters)
    assert known["trainable_parameters"] * 4 / 2**20 == known["adapters_mib"]
    assert known["peak_mib"] > known["weights_mib"] + known["optimizer_mib"]
    for name in ("torch", "transformers", "peft", "threads", "attention", "warmup_steps"):
        assert known["environment"][name] is not None


def test_accumulation_does_not_show_in_loss_or_update(configure: Configure, tmp_path: Path) -> None:
    split = {}
    for micro, accum in [(8, 1), (1, 8), (3, 3)]:
        config = configure(micro_batch_size=micro, grad_accum_steps=accum, max_steps=3)
        split[micro, accum] = only(Step, run(config, tmp_path))
    for whole, parts in zip(split[8, 1], split[1, 8], strict=True):
        assert parts.loss == pytest.approx(whole.loss, rel=1e-5)
        assert parts.grad_norm == pytest.approx(whole.grad_norm, rel=1e-4)
        assert parts.supervised_tokens == whole.supervised_tokens
        assert parts.tokens == whole.tokens
        assert parts.padded_tokens == 0


@pytest.mark.parametrize("precision", PRECISIONS)
def test_gradient_checkpointing_changes_memory_not_the_curve(
    precision: str, configure: Configure, tmp_path: Path
) -> None:
    plain = run(configure(precision=precision), tmp_path)
    checkpointed = run(configure(precision=precision, gradient_checkpointing=True), tmp_path)
    assert losses(plain) == losses(checkpointed)
    assert facts(checkpointed)["peak_mib"] < 0.8 * facts(plain)["peak_mib"]


def test_one_step_and_one_row(configure: Configure, tmp_path: Path) -> None:
    events = run(configure(max_steps=1, train_rows=1, micro_batch_size=4), tmp_path)
    (step,) = only(Step, events)
    assert (step.step, step.padded_tokens, step.warmup) == (1, 0, True)
    assert events[-1].status == "finished"


def test_throughput_counts_what_is_read_without_padding(
    configure: Configure, tmp_path: Path
) -> None:
    steps = only(Step, run(configure(), tmp_path))
    assert sum(step.padded_tokens for step in steps) > 0
    for step in steps:
        assert step.tokens_per_s == pytest.approx(step.tokens / step.step_ms * 1000)


# --- stopping ---


def stop_at(call: int) -> Callable[[], bool]:
    calls = iter(range(1, 10**9))
    return lambda: next(calls) >= call


def count_checks(config: RunConfig, folder: Path) -> int:
    calls = []
    run(config, folder, should_stop=lambda: bool(calls.append(1)))
    return len(calls)


@pytest.mark.slow
def test_stop_is_heard_at_every_stage(configure: Configure, tmp_path: Path) -> None:
    config = configure(precision="nvfp4", max_steps=2, eval_every=1, exact_match_rows=2)
    total = count_checks(config, tmp_path / "whole")
    assert total > 25  # load, each layer, tokenise, evaluations, each generated token, each step
    reached = set()
    for call in range(1, total + 1):
        folder = tmp_path / str(call)
        events = run(config, folder, should_stop=stop_at(call))
        assert only(Status, events) == [Status(status="stopped")]
        assert events[-1].status == "stopped"
        assert not (folder / "adapter").exists()
        stages = [e.name for e in only(Stage, events)]
        trained = "training" in stages
        assert trained == (stages[-1] == "saving a checkpoint")
        left = list((folder / "checkpoints").glob("*"))
        assert len(left) == trained and not any(p.name.endswith(".partial") for p in left)
        reached.add([name for name in stages if name != "saving a checkpoint"][-1])
    assert reached >= {
        "reading the data", "tokenising", "loading the model", "evaluating", "training",
        "saving the adapter",
    }  # fmt: skip


def test_a_stopped_run_says_what_it_was_trained_on(configure: Configure, tmp_path: Path) -> None:
    config = configure(max_steps=6)
    stopped: list[Event] = []
    for event in train(config, folder=tmp_path, should_stop=lambda: len(only(Step, stopped)) == 3):
        stopped.append(event)
    assert [e.step for e in only(Step, stopped)] == [1, 2, 3]
    three = facts(run(configure(max_steps=3), tmp_path))
    assert facts(stopped)["batches_sha256"] == three["batches_sha256"]


# --- going wrong ---


def test_a_loss_that_is_not_finite_ends_the_run_as_diverged(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def poisoned(model: torch.nn.Module, batch: object) -> torch.Tensor:
        calls.append(1)
        loss = summed(model, batch)
        return loss * math.nan if len(calls) == 3 else loss

    summed = loop.summed_loss
    monkeypatch.setattr(loop, "summed_loss", poisoned)
    for precision in ("bf16", "fp16"):
        calls.clear()
        events = run(configure(precision=precision, max_steps=9), tmp_path)
        steps = only(Step, events)
        assert [s.step for s in steps] == [1, 2, 3]
        assert math.isnan(steps[-1].loss) and steps[-1].skipped
        assert events[-1].status == "diverged"
        assert events[-1].error.startswith("At step 3 the loss became nan")
        assert [e.when for e in only(Eval, events)] == ["before"]
        assert not (tmp_path / "adapter").exists()


def test_a_last_update_that_breaks_the_model_is_no_success(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_after_training(*arguments: object, **options: object) -> Generator:
        found = yield from held_out_loss(*arguments, **options)
        calls.append(1)
        spoilt = (math.nan, *found.row_losses[1:])
        return found._replace(row_losses=spoilt) if len(calls) == 2 else found

    calls: list[int] = []
    held_out_loss = held_out.held_out_loss
    monkeypatch.setattr(held_out, "held_out_loss", broken_after_training)
    events = run(configure(max_steps=2), tmp_path)
    assert math.isnan(only(Eval, events)[-1].loss)
    assert events[-1].status == "diverged"
    assert events[-1].error.startswith("After step 2 the held-out loss became nan")
    assert not (tmp_path / "adapter").exists()


def test_fp16_skips_a_step_halves_the_scale_and_goes_on(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    class Explode(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
            return grad * math.inf

    def sometimes(model: torch.nn.Module, batch: object) -> torch.Tensor:
        calls.append(1)
        loss = summed(model, batch)
        return Explode.apply(loss) if len(calls) == 2 else loss

    summed = loop.summed_loss
    monkeypatch.setattr(loop, "summed_loss", sometimes)
    events = run(configure(precision="fp16", warmup_share=1.0, max_steps=4), tmp_path)
    steps = only(Step, events)
    assert [s.skipped for s in steps] == [False, True, False, False]
    assert [s.loss_scale for s in steps] == [65536, 65536, 32768, 32768]
    # The schedule counts real updates: the third step repeats the rate of the skipped second.
    assert [s.learning_rate for s in steps] == pytest.approx([0.0025, 0.005, 0.005, 0.0075])
    assert facts(events)["skipped_updates"] == 1
    assert events[-1].status == "finished"

    calls.clear()
    events = run(configure(precision="bf16", max_steps=4), tmp_path)
    assert events[-1].error.startswith("At step 2 the gradients became")


def test_a_run_without_one_real_update_is_no_result(
    configure: Configure, model_folder: Path, tmp_path: Path
) -> None:
    """The range of FP16 really is too small for this model: its last norm is enormous."""
    loud = AutoModelForCausalLM.from_pretrained(model_folder)
    loud.model.norm.weight.data.mul_(3000)
    loud.save_pretrained(tmp_path / "loud")
    AutoTokenizer.from_pretrained(model_folder).save_pretrained(tmp_path / "loud")
    config = configure(model=str(tmp_path / "loud"), precision="fp16", max_steps=4)
    events = run(config, tmp_path / "run")
    assert [step.skipped for step in only(Step, events)] == [True] * 4
    assert facts(events)["skipped_updates"] == 4
    assert events[-1].status == "diverged"
    assert events[-1].error.startswith("4 of 4 updates were skipped, because the gradients overfl")
    assert "max_steps higher" in events[-1].error
    assert [e.when for e in only(Eval, events)] == ["before"]
    assert not (tmp_path / "run" / "adapter").exists()

    events = run(config.with_precision("bf16"), tmp_path / "run")
    assert events[-1].status == "finished"


def test_rows_left_out_and_cut_are_said(configure: Configure, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lengths = [*range(1, 21), 500]
    rows = [{"prompt": "x" * n, "completion": "y" * n} for n in lengths]
    rows.append({"prompt": "x", "completion": None})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    events = run(configure(dataset=str(path), max_seq_len=48, max_steps=1), tmp_path)
    known = facts(events)["rows"]
    assert (known["kept"], known["dropped"], known["no_answer"], known["cut"]) == (20, 2, 1, 7)
    assert [m.text for m in only(Message, events)] == [
        "1 of 22 rows read have no answer. They were left out.",
        "1 of 21 rows have nothing to learn from within 48 tokens. They were left out.",
        "7 of 21 rows were cut to 48 tokens.",
        "A difference measured on so few held-out rows (1) says little; hold out more.",
    ]


def test_tokens_that_the_model_does_not_know_are_refused(
    configure: Configure, tmp_path: Path
) -> None:
    save_tiny(tmp_path / "m", vocab_size=200)
    with pytest.raises(
        SettingsError, match=r"writes token 2\d\d, .* knows 200 \(0 to 199\); the two"
    ):
        run(configure(model=str(tmp_path / "m")), tmp_path)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"max_seq_len": 513}, "max_seq_len is 513; model .* reads at most 512 tokens"),
        ({"max_seq_len": 8}, "rows of dataset .* have nothing to learn from within 8 tokens"),
        ({"target_modules": ("q_prj",)}, "names 'q_prj', .*Did you mean 'q_proj'"),
        ({"target_modules": ("c_attn",)}, "choose from down_proj, .*v_proj"),
    ],
)
def test_what_cannot_be_run_is_refused_before_training(
    settings: dict, sentence: str, configure: Configure, tmp_path: Path
) -> None:
    events = []
    with pytest.raises(SettingsError, match=sentence):
        for event in train(configure(**settings), folder=tmp_path):
            events.append(event)
    assert not only(Step, events) and not only(Eval, events)
