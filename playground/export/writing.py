"""In the child: writes an export, loads it again, and keeps it only if it says the same."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor, nn

from playground.catalog import ModelEntry, resolve_model
from playground.config import PRECISIONS, RunConfig, SettingsError
from playground.events import Stage
from playground.export.card import card
from playground.export.offers import REPORT, Kind
from playground.export.verify import difference, logits_of, merged_tolerance, objection
from playground.precision.registry import recipe_of
from playground.precision.waiting import published
from playground.store import Run, RunStore
from playground.training.adapter import adapted_modules
from playground.training.durable import PARTIAL, whole_folder
from playground.training.model import load_base
from playground.training.parsed import beside
from playground.training.prepare import Prepared, prepare
from playground.training.pretrained import load_model
from playground.training.rebase import is_adapted, let_go, merged_weight, rebase
from playground.training.tuned import as_it_ended, read_adapter

SHARD = "2GB"
DTYPES = {"merged-bf16": torch.bfloat16, "merged-fp16": torch.float16}
ADAPTER_TOLERANCE = {"cpu": 0.0, "cuda": 1e-3}
"""Of ``Difference.relative``. The same tensors through the same code are the same numbers; a GPU
may take a sum in another order."""

Say = Callable[..., None]
"""Takes what is being done, and the share of it that is done where that is known."""


def write_export(store: RunStore, run: Run, kind: Kind, folder: Path, say: Say) -> dict[str, Any]:
    """Writes ``folder``, whole and checked or not at all; returns the report of its check.

    Raises:
        SettingsError: something it is made of cannot be had any more, or it failed its check.
        OSError: the disk is full.
    """
    prepared = _prepared(store, run, say)
    say("asking the run's own model")
    own = logits_of(prepared.model, prepared.eval)
    write = _adapter if kind == "adapter" else _merged
    with whole_folder(folder) as partial:
        report = write(prepared, store.run_folder(run.id) / "adapter", partial, kind, own, say)
        group = store.get_group(run.group_id)
        words = card(store, group, run, resolve_model(run.config.model), kind, report)
        (partial / "README.md").write_text(words, encoding="utf-8")
        files = sorted(path for path in partial.rglob("*") if path.is_file())
        report |= {
            "run": run.id,
            "kind": kind,
            "files": [path.relative_to(partial).as_posix() for path in files],
            "bytes": sum(path.stat().st_size for path in files),
        }
        (partial / REPORT).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return report


def write_archive(folder: Path, archive: Path) -> None:
    """All of ``folder`` in one file; complete after this, or absent."""
    partial = archive.with_name(archive.name + PARTIAL)
    try:
        # Weights do not shrink, so they are stored as they are.
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as packed:
            for path in sorted(folder.rglob("*")):
                packed.write(path, Path(archive.stem) / path.relative_to(folder))
        partial.replace(archive)
    finally:
        partial.unlink(missing_ok=True)


def _prepared(store: RunStore, run: Run, say: Say) -> Prepared:
    """The run as it ended, with its rows and its adapter."""
    config = as_it_ended(run.config, run.facts)
    plain = {"compile": "off", "gradient_checkpointing": False}
    config = config.model_copy(update={"training": config.training.model_copy(update=plain)})
    folder = store.run_folder(run.id)
    work = prepare(config, lambda: None, folder.parent / "self-tests.json")
    while True:
        try:
            event = next(work)
        except StopIteration as over:
            prepared: Prepared = over.value
            break
        if isinstance(event, Stage):
            say(event.name, event.progress)
    read_adapter(prepared.model, folder / "adapter")
    return prepared


def _adapter(
    run: Prepared, adapter: Path, partial: Path, kind: Kind, own: list[Tensor], say: Say
) -> dict[str, Any]:
    say("writing the adapter")
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        shutil.copyfile(adapter / name, partial / name)
    run.tokenizer.save_pretrained(partial)
    run.model = None  # before it is loaded again: there are never two
    say("loading it again")
    base = load_base(run.entry, run.config, run.recipe, run.device, self_tests=run.self_tests)
    model = PeftModel.from_pretrained(base.model, partial).to(run.device)
    found = difference(logits_of(model, run.eval), own)
    tolerance = ADAPTER_TOLERANCE[run.device.type]
    if sentence := objection(found, tolerance):
        raise SettingsError(sentence)
    said = (
        f"Loaded again through peft on a base in {PRECISIONS[run.config.precision].label} and "
        f"asked held-out rows ({found.positions} positions): "
    )
    if found.largest == 0:
        said += "its logits are those of the run's own model, bit for bit."
    else:
        said += f"its logits differ from the run's own by at most {found.largest:.2g}."
    return {"said": said, "tolerance": tolerance, **found._asdict()}


def _merged(
    run: Prepared, adapter: Path, partial: Path, kind: Kind, own: list[Tensor], say: Say
) -> dict[str, Any]:
    dtype = DTYPES[kind]
    trained_on = PRECISIONS[run.config.precision].label
    # What the merge must agree with: the same adapter on the weights as they were published.
    exact = "fp32" if run.device.type == "cpu" else kind.removeprefix("merged-")
    say("asking the adapter on the published weights")
    rebase(run, exact)
    reference = logits_of(run.model, run.eval)
    with run.model.disable_adapter():
        effect = difference(logits_of(run.model, run.eval), reference)
    layers = adapted_modules(run.model)
    let_go(run)
    say("merging")
    _write_merged(run, partial, dtype, say)
    run.model = None
    say("loading it again")
    model = _loaded_again(run, partial, exact)
    if model.config.tie_word_embeddings != _is_tied(model):
        raise SettingsError(
            "The merged model came back without its tied embeddings; export the adapter instead."
        )
    answers = logits_of(model, run.eval)
    found, own_found = difference(answers, reference), difference(answers, own)
    tolerance = merged_tolerance(layers, dtype)
    if sentence := objection(found, tolerance, effect.relative):
        raise SettingsError(sentence)
    said = (
        f"Loaded again and asked held-out rows ({found.positions} positions). Against the adapter "
        f"on the published weights its logits differ by at most {found.largest:.2g}, "
        f"{found.relative:.2%} of their size, and the likeliest token is the same at "
        f"{found.agreement:.1%}. {tolerance:.1%} are allowed: each merged weight is rounded once "
        f"more, and over {layers} layers such errors add up like a random walk. Against the run as "
        f"it was trained, on a base in {trained_on}, they differ by at most "
        f"{own_found.largest:.2g}, and the likeliest token is the same at "
        f"{own_found.agreement:.1%}."
    )
    run_figures = {f"own_{name}": value for name, value in own_found._asdict().items()}
    return {"said": said, "tolerance": tolerance, **found._asdict(), **run_figures}


@torch.no_grad()
def _write_merged(run: Prepared, partial: Path, dtype: torch.dtype, say: Say) -> None:
    """The published model with the adapter in it, each weight summed in fp32 and rounded once.

    A merged weight goes to a scratch file that is mapped into memory, and the published one is read
    from its own, so a model larger than this machine's memory passes through it.
    """
    model = load_model(
        run.entry,
        run.config.data.max_seq_len,
        dtype,
        linears_in_file=True,
        keep=beside(run.self_tests),
    )
    adapted = run.model.get_base_model()
    scratch = partial / "scratch"
    scratch.mkdir()
    parameters = list(model.named_parameters())
    for at, (name, parameter) in enumerate(parameters):
        layer, _, attribute = name.rpartition(".")
        weight = found = published(parameter)
        if name.endswith(".weight") and is_adapted(adapted.get_submodule(layer)):
            weight = merged_weight(adapted, layer, weight)
        if weight.dtype != dtype or weight is not found or parameter.is_meta:
            kept = torch.from_file(
                str(scratch / str(at)), shared=True, size=weight.numel(), dtype=dtype
            )
            kept.copy_(weight.flatten())
            weight = kept.view(weight.shape)
            if parameter.is_meta:  # a placeholder, whose data cannot be given it
                whole = nn.Parameter(weight, requires_grad=False)
                setattr(model.get_submodule(layer), attribute, whole)
            else:
                parameter.data = weight
        if not weight.isfinite().all():
            raise SettingsError(
                f"'{name}' has numbers beyond what {dtype} holds; export in bf16 instead."
            )
    model.hf_quantizer = None  # what was read from GGUF is in floats by now
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config.dtype = dtype
    model.config.use_cache = True  # it was turned off for training
    say("writing the merged model")
    model.save_pretrained(partial, max_shard_size=SHARD)
    run.tokenizer.save_pretrained(partial)
    del model, parameters
    shutil.rmtree(scratch)


def _loaded_again(run: Prepared, folder: Path, precision: str) -> Any:
    config: RunConfig = run.config.model_copy(update={"precision": precision})
    entry = ModelEntry(id=run.entry.id, title=run.entry.title, summary="", path=folder)
    recipe = recipe_of(config)
    return load_base(entry, config, recipe, run.device, self_tests=run.self_tests).model


def _is_tied(model: Any) -> bool:
    return model.get_output_embeddings().weight is model.get_input_embeddings().weight
