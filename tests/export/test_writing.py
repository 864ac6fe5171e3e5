"""What is exported loads with peft and transformers alone, and says what the run's model says."""

from __future__ import annotations

import json
import zipfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from playground.catalog.models import TINY
from playground.config import SettingsError
from playground.export import __main__ as child
from playground.export import writing
from playground.export.__main__ import _carry_out, _foreseen
from playground.export.offers import archive_of, exported, folder_of, why_not
from playground.export.verify import UNIT, Difference, difference, merged_tolerance, objection
from playground.export.writing import write_archive, write_export
from playground.store import Run, RunStore
from playground.training.tuned import chat_of
from tests.tiny import tiny_llama, tiny_tokenizer
from tests.trained import configured, copied, train_into

IDS = torch.arange(5, 25)[None]


def quiet(*_: Any) -> None:
    """Nobody watches."""


@pytest.fixture(scope="module")
def store(trained_home: Path, tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    return copied(trained_home, tmp_path_factory.mktemp("export") / "home")


@pytest.fixture(scope="module")
def run(store: RunStore) -> Run:
    """The one on a base in NVFP4."""
    return store.list_groups()[0].runs[1]


@pytest.fixture(scope="module")
def adapter(store: RunStore, run: Run) -> Path:
    folder = folder_of(store, run.id, "adapter")
    write_export(store, run, "adapter", folder, quiet)
    return folder


@pytest.fixture(scope="module")
def merged(store: RunStore, run: Run) -> Path:
    folder = folder_of(store, run.id, "merged-bf16")
    write_export(store, run, "merged-bf16", folder, quiet)
    return folder


@torch.no_grad()
def logits(model: Any) -> torch.Tensor:
    return model.eval()(IDS).logits


def base() -> Any:
    return AutoModelForCausalLM.from_pretrained(TINY.path, dtype=torch.float32)


@pytest.mark.slow
def test_the_adapter_is_the_runs_own_bit_for_bit(store: RunStore, run: Run, adapter: Path) -> None:
    report = exported(adapter)
    assert report["largest"] == 0 and report["tolerance"] == 0 and report["positions"] > 50
    name = "adapter_model.safetensors"
    own = store.run_folder(run.id) / "adapter" / name
    assert (adapter / name).read_bytes() == own.read_bytes()
    tuned, plain = logits(PeftModel.from_pretrained(base(), adapter)), logits(base())
    assert not torch.allclose(tuned, plain, atol=0.1)  # and it does something


def test_adapter_and_merged_model_say_the_same(adapter: Path, merged: Path) -> None:
    """As others would load them; rounding the merged weights to 16 bits is all that differs."""
    tuned = logits(PeftModel.from_pretrained(base(), adapter))
    whole = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32)
    found = difference([logits(whole)[0]], [tuned[0]])
    report = exported(merged)
    assert found.relative < report["tolerance"] < difference([logits(base())[0]], [tuned[0]])[2]
    assert found.agreement > 0.9
    assert 0 < report["relative"] < report["tolerance"] and report["agreement"] > 0.9


def test_the_merged_model_is_whole(merged: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(merged, dtype="auto")
    assert {p.dtype for p in model.parameters()} == {torch.bfloat16}
    assert model.lm_head.weight is model.model.embed_tokens.weight  # tied, as it was published
    config = json.loads((merged / "config.json").read_text())
    assert config["use_cache"] is True and "quantization_config" not in config
    assert AutoTokenizer.from_pretrained(merged).chat_template
    assert (merged / "generation_config.json").exists() and not (merged / "scratch").exists()


def test_what_comes_along_names_nothing_private(
    store: RunStore, adapter: Path, merged: Path
) -> None:
    for folder in (adapter, merged):
        for path in folder.rglob("*"):
            if path.suffix != ".safetensors":
                said = path.read_text(encoding="utf-8")
                assert str(store.home) not in said and str(TINY.path) not in said, path.name


def test_the_card(run: Run, adapter: Path, merged: Path) -> None:
    _, front, body = (adapter / "README.md").read_text().split("---\n", 2)
    found = yaml.safe_load(front)
    ((result,),) = [model["results"] for model in found.pop("model-index")]
    assert result["dataset"] == {"name": "iso-dates", "type": "iso-dates", "split": "held out"}
    assert [metric["type"] for metric in result["metrics"]] == ["loss", "exact_match"]
    assert found == {
        "library_name": "peft",
        "license": "apache-2.0",
        "pipeline_tag": "text-generation",
        "tags": ["fp4-playground", "lora", "adapter", "nvfp4"],
    }
    for words in (
        "LoRA adapter for tiny, trained on a base in NVFP4",
        "Dataset `iso-dates`. 64 rows to train on, 8 held out.",
        "- how it ran: emulated",
        "| before training |",
        "| after training |",
        "bit for bit",
        "--precision nvfp4 --set dataset=iso-dates",
        "learning_rate: 0.003",
    ):
        assert words in body, words
    assert "ISO date:" not in body  # no row of the data
    _, front, body = (merged / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(front)["library_name"] == "transformers"
    assert "random walk" in body


def test_the_archive_holds_the_folder(store: RunStore, run: Run, adapter: Path) -> None:
    archive = archive_of(store, run.id, "adapter")
    write_archive(adapter, archive)
    with zipfile.ZipFile(archive) as packed:
        assert packed.testzip() is None
        names = {name.removeprefix("adapter/") for name in packed.namelist()}
    assert names == {path.name for path in adapter.iterdir()}
    assert [p.name for p in archive.parent.glob("*.partial")] == []


Wrong = Callable[[Any, str, torch.Tensor], torch.Tensor]
WRONG: dict[str, Wrong] = {
    "without the adapter": lambda base, name, weight: weight,
    "with a number too large": lambda base, name, weight: weight * 1e39,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_merge_that_went_wrong_leaves_nothing(
    wrong: str, store: RunStore, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "merged_weight", WRONG[wrong])
    with pytest.raises(SettingsError, match="does not say what|beyond what"):
        write_export(store, run, "merged-bf16", tmp_path / "out", quiet)
    assert list(tmp_path.iterdir()) == []


def test_an_adapter_that_came_back_different_leaves_nothing(
    store: RunStore, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = PeftModel.from_pretrained

    def damaged(*arguments: Any) -> Any:
        model = load(*arguments)
        next(p for name, p in model.named_parameters() if "lora_B" in name).data[0, 0] += 0.01
        return model

    monkeypatch.setattr(PeftModel, "from_pretrained", damaged)
    with pytest.raises(SettingsError, match="does not say what"):
        write_export(store, run, "adapter", tmp_path / "out", quiet)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing(
    store: RunStore, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "card", full)  # everything else is written by then
    with pytest.raises(OSError) as error:
        write_export(store, run, "merged-bf16", tmp_path / "out", quiet)
    assert list(tmp_path.iterdir()) == []
    assert _foreseen(error.value).startswith("The disk is full, so nothing was kept")


def test_a_full_disk_leaves_no_half_archive(
    adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "write", full)
    with pytest.raises(OSError):
        write_archive(adapter, tmp_path / "adapter.zip")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_after_the_check_keeps_what_was_checked(
    store: RunStore, run: Run, adapter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "write_export", lambda *_: exported(adapter))
    monkeypatch.setattr(writing, "write_archive", full)
    asked = Namespace(home=store.home, run=run.id, kind="adapter", folder=adapter, archive=True)
    with pytest.raises(SettingsError, match="whole and checked in the run's folder"):
        _carry_out(asked, quiet)
    assert exported(adapter)


def test_a_child_without_its_parent_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out.partial" / "deep").mkdir(parents=True)
    (tmp_path / "out.zip.partial").touch()
    ended: list[int] = []
    monkeypatch.setattr(child, "lines_from_parent", lambda: iter(()))  # it is gone
    monkeypatch.setattr(child.os, "_exit", ended.append)
    child._leave_with_parent(tmp_path / "out")
    assert ended == [1] and list(tmp_path.iterdir()) == []


def test_a_run_that_was_deleted_meanwhile_is_told_of(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    said = tmp_path / "said.jsonl"
    words = ["export", "r-gone", "adapter", str(tmp_path / "out"), "--say", str(said)]
    monkeypatch.setattr("sys.argv", [*words, "--home", str(store.home)])
    monkeypatch.setattr(child, "_carry_out", gone)
    monkeypatch.setattr(child, "_leave_with_parent", lambda folder: None)
    child.main()
    assert "was deleted while it was exported" in json.loads(said.read_text())["refused"]


def test_the_plain_template_travels_along(tmp_path: Path) -> None:
    """A base without a template that learned conversations is asked in the one it learned."""
    model, rows = tmp_path / "bare", tmp_path / "rows.jsonl"
    tiny_llama().save_pretrained(model)
    tiny_tokenizer(chat_template=None).save_pretrained(model)
    turns = [[("user", f"{a}?"), ("assistant", str(a))] for a in range(20)]
    lines = [{"messages": [{"role": r, "content": c} for r, c in row]} for row in turns]
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))
    small = {"model": str(model), "dataset": str(rows), "train_rows": 12, "eval_rows": 4}
    store = RunStore(tmp_path / "home")
    group = train_into(store, configured("fp32", max_steps=1, micro_batch_size=4, **small))
    (run,) = group.runs
    assert run.facts.template == "plain"
    write_export(store, run, "adapter", tmp_path / "out", quiet)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    chat = [{"role": "user", "content": "7?"}]
    asked = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    assert "User: 7?" in asked and asked.endswith("Assistant:")
    assert chat_of(tiny_tokenizer(None), run.facts).template == tokenizer.chat_template
    card = (tmp_path / "out" / "README.md").read_text()
    assert str(tmp_path) not in card and "LoRA adapter for bare" in card and "`rows.jsonl`" in card


def test_what_is_not_finished_has_nothing_to_export(store: RunStore, run: Run) -> None:
    assert why_not(store, run) is None
    waiting = store.create_group("quick", "Waiting", [run.config], "1:1.0").runs[0]
    try:
        assert "is queued; only a finished run" in why_not(store, waiting)
    finally:
        store.settle(waiting.id, "stopped", None, owner="1:1.0")


def test_what_must_not_be_offered() -> None:
    def off(relative: float) -> Difference:
        return Difference(positions=9, largest=1.0, relative=relative, agreement=1.0)

    assert objection(off(0.0), 0.0) is None and objection(off(0.01), 0.02, 0.5) is None
    assert "does not say what" in objection(off(1e-9), 0.0)
    assert "does not say what" in objection(off(float("nan")), 0.02)
    assert "takes away" in objection(off(0.01), 0.02, 0.015)  # a small adapter, lost in rounding
    assert objection(off(0.01), 0.02, 0.0) is None  # an adapter that changes nothing loses nothing


def test_logits_are_compared_position_by_position() -> None:
    a, b = torch.tensor([[3.0, 0.0], [0.0, 4.0]]), torch.tensor([[0.0, 3.0], [0.0, 4.0]])
    found = difference([a[:1], a[1:]], [b[:1], b[1:]])
    assert (found.positions, found.largest, found.agreement) == (2, 3.0, 0.5)
    assert found.relative == pytest.approx(18**0.5 / 5)


def test_the_tolerance_is_a_random_walk_of_roundings() -> None:
    assert merged_tolerance(100, torch.bfloat16) == pytest.approx(10 * 2**-8)
    for dtype, unit in UNIT.items():  # what the format itself does to numbers between 1 and 2
        x = torch.linspace(1, 2, 10_001, dtype=torch.float64)
        off = ((x.to(dtype).double() - x).abs() / x).max()
        assert unit / 2.1 < off <= unit
