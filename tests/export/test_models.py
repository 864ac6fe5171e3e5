"""Every kind of base goes out as adapter and merged, and its card is one that the hub reads."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from transformers import AutoModelForCausalLM, AutoTokenizer

from playground.export.card import reproduce
from playground.export.writing import write_export
from playground.presets import load_preset
from playground.store import RunStore
from playground.training.parsed import beside
from tests.gguf_file import gguf_model, write_gguf
from tests.tiny import save_tiny, tiny_llama
from tests.trained import configured, train_into


def from_gguf(folder: Path) -> Path:
    """With the test's tokenizer where runs keep what they parsed."""
    folder.mkdir()
    file = write_gguf(tiny_llama(), folder / "m.gguf", "Q8_0")
    gguf_model(file, beside(folder.parent / "home" / "runs" / "self-tests.json"))
    return file


MODELS: dict[str, Callable[[Path], Path]] = {
    "tied": save_tiny,
    "untied": lambda folder: save_tiny(folder, tie_word_embeddings=False),
    "gguf": from_gguf,
}


@pytest.mark.parametrize("model", MODELS)
def test_both_load_alone_and_name_no_folder(model: str, tmp_path: Path) -> None:
    folder, rows = MODELS[model](tmp_path / "annas-base"), tmp_path / "rows.jsonl"
    lines = [{"prompt": f"{n}?", "completion": str(n * 7)} for n in range(24)]
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines))
    store = RunStore(tmp_path / "home")
    config = configured(
        "nvfp4", model=str(folder), dataset=str(rows), train_rows=16, eval_rows=4,
        exact_match_rows=0, max_steps=3, micro_batch_size=4, learning_rate=3e-2,
    )  # fmt: skip
    (run,) = train_into(store, config).runs
    assert run.status == "finished", run.error
    adapter, merged = tmp_path / "out" / "adapter", tmp_path / "out" / "merged"
    for kind, out in (("adapter", adapter), ("merged-bf16", merged)):
        report = write_export(store, run, kind, out, lambda *_: None)
        assert report["positions"] > 4 and report["relative"] <= report["tolerance"]
        card = ModelCard.load(out / "README.md", ignore_metadata_errors=False)
        assert card.data.library_name == ("peft" if kind == "adapter" else "transformers")
        assert card.data.base_model is None, "a folder of this machine is no model of the hub"
        (loss,) = card.data.eval_results
        assert loss.metric_value == store.evals(run.id)[-1].loss
        assert "NVFP4, emulated" in loss.metric_name and "- versions: torch" in card.text
        AutoTokenizer.from_pretrained(out)
    for file in (tmp_path / "out").rglob("*"):
        if file.suffix in (".md", ".json", ".jinja"):
            assert str(tmp_path) not in file.read_text(encoding="utf-8"), file.name
    again = AutoModelForCausalLM.from_pretrained(merged)
    tied = again.get_output_embeddings().weight is again.get_input_embeddings().weight
    assert tied == (model != "untied") and not hasattr(again.config, "quantization_config")


def test_the_command_of_a_card_makes_the_same_run() -> None:
    config = configured(
        "nvfp4", columns="prompt=Frage, answer=Ant wort", keep_layers=["layers.0.mlp.up"],
        target_loss=0.5, eval_rows=7, packing=True,
    )  # fmt: skip

    words = shlex.split(reproduce(config))
    typed = (words[at + 1] for at, word in enumerate(words) if word == "--set")
    settings = dict(word.split("=", 1) for word in typed)
    precision = words[words.index("--precision") + 1]
    made = load_preset(words[words.index("run") + 1], settings | {"precisions": precision})
    assert made.configs == [config]
