"""The model card: what an export is, how it was trained and what was measured, and no row of data.

Paths of this machine are nobody's business: a folder or file goes by its name alone.
"""

from __future__ import annotations

from typing import Any

import yaml
from huggingface_hub import EvalResult, ModelCardData

from playground.catalog import ModelEntry, resolve_dataset
from playground.catalog.names import public_name
from playground.commands import command
from playground.compare import RunRecord, verdict
from playground.config import PRECISIONS, SECTIONS, RunConfig, private
from playground.events import Eval
from playground.export.offers import Kind
from playground.presets import load_preset
from playground.store import Group, Run, RunStore

_LIBRARIES = ("torch", "transformers", "peft", "triton", "safetensors")
_BASE = "quick"  # whose settings the command starts from: it is always there


def card(
    store: RunStore, group: Group, run: Run, entry: ModelEntry, kind: Kind, check: dict[str, Any]
) -> str:
    """Markdown with the front matter that the Hugging Face hub reads.

    Args:
        check: the report of the export's check.
    """
    return private(
        f"---\n{_front(store, run, entry, kind).to_yaml()}\n---\n\n"
        f"# {_title(run, entry, kind)}\n\n{_how_to_load(entry, kind)}\n\n"
        f"## What it was trained on\n\n{_data(run)}\n\n"
        f"## How it was trained\n\n{_training(run)}\n\n"
        f"## What was measured\n\n{_measured(store, group, run)}\n\n"
        f"## How this export was checked\n\n{check['said']}\n\n"
        f"## The same again\n\n```\n{reproduce(run.config)}\n```\n\n"
        f"Settings:\n\n```yaml\n{_settings(run.config)}```\n"
    )


def reproduce(config: RunConfig) -> str:
    """The terminal command of this run, with every setting that differs from the preset's."""
    preset = load_preset(_BASE).config
    words = ["run", _BASE, "--precision", config.precision]
    ours, theirs = _flat(config), _flat(preset)
    for name, value in ours.items():
        if value != theirs[name] and name != "precision":
            words += ["--set", f"{name}={value}"]
    return command(*words)


def _flat(config: RunConfig) -> dict[str, str]:
    found = {
        "model": public_name(config.model),
        "dataset": public_name(config.dataset),
        "precision": config.precision,
    }
    for section in SECTIONS:
        for name, value in getattr(config, section):
            found[name] = _typed(value)
    return found


def _typed(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _front(store: RunStore, run: Run, entry: ModelEntry, kind: Kind) -> ModelCardData:
    """What the hub reads; a base model or a dataset that is not there has no place in it."""
    dataset = resolve_dataset(run.config.dataset).hub_id
    adapter = kind == "adapter"
    return ModelCardData(
        base_model=entry.hub_id,
        base_model_relation=("adapter" if adapter else "finetune") if entry.hub_id else None,
        datasets=[dataset] if dataset else None,
        library_name="peft" if adapter else "transformers",
        license=entry.licence.lower().replace(" ", "") if entry.licence else None,  # llama3.1
        pipeline_tag="text-generation",
        tags=["fp4-playground", "lora", "adapter" if adapter else "merged", run.precision],
        model_name=_title(run, entry, kind),
        eval_results=_results(store, run, dataset),
    )


def _results(store: RunStore, run: Run, dataset: str | None) -> list[EvalResult]:
    """The losses and answers after training, each with how and where it was measured."""
    found = next((e for e in reversed(store.evals(run.id)) if e.when == "after"), None)
    if found is None:
        return []
    name = public_name(run.config.dataset)
    about = {
        "task_type": "text-generation",
        "dataset_name": name,
        "dataset_type": dataset or name,
        "dataset_split": "held out",
    }
    measured = [("loss", found.loss, "Held-out loss, nats a token")]
    if _asked(found):
        measured.append(("exact_match", found.exact_match, "Answers right to the letter"))
    return [
        EvalResult(
            **about, metric_type=kind, metric_value=value, metric_name=f"{words}; {_ran(run)}"
        )
        for kind, value, words in measured
    ]


def _ran(run: Run) -> str:
    """``NVFP4, emulated, on AMD EPYC``."""
    where = (run.facts.device or {}).get("name")
    label = PRECISIONS[run.facts.effective or run.precision].label
    return f"{label}, {run.facts.how or 'how is not recorded'}{f', on {where}' if where else ''}"


def _title(run: Run, entry: ModelEntry, kind: Kind) -> str:
    label = PRECISIONS[run.precision].label
    what = "LoRA adapter" if kind == "adapter" else f"Merged model in {kind[-4:].upper()}"
    return f"{what} for {public_name(entry.id)}, trained on a base in {label}"


def _how_to_load(entry: ModelEntry, kind: Kind) -> str:
    base = entry.hub_id or public_name(entry.id)
    if kind == "adapter":
        return (
            "```python\nfrom peft import PeftModel\nfrom transformers import AutoModelForCausalLM"
            f'\n\nbase = AutoModelForCausalLM.from_pretrained("{base}")\n'
            'model = PeftModel.from_pretrained(base, "this folder")\n```'
        )
    return (
        "The adapter was added to the published weights in fp32, and each sum rounded once.\n\n"
        "```python\nfrom transformers import AutoModelForCausalLM\n\n"
        'model = AutoModelForCausalLM.from_pretrained("this folder")\n```'
    )


def _data(run: Run) -> str:
    rows = run.facts.rows or {}
    counts = (
        f" {rows['train']:,} rows to train on, {rows['eval']:,} held out."
        if {"train", "eval"} <= rows.keys()
        else ""
    )
    template = {
        "own": " Written in the base model's own chat template.",
        "plain": " Conversations were written in a plain template, which comes with the tokenizer.",
        "none": " Each prompt with its answer right behind it, without a chat template.",
    }.get(run.facts.template or "", "")
    return f"Dataset `{public_name(run.config.dataset)}`.{counts}{template}"


def _training(run: Run) -> str:
    facts, lora = run.facts, run.config.lora
    healed = f", healed to {facts.healed_to} at step {facts.healed_at_step}"
    lines = [
        f"- precision asked for: {run.precision}",
        f"- precision it ran in: {facts.effective or 'not recorded'}"
        + (healed if facts.healed_to else ""),
        f"- how it ran: {facts.how or 'not recorded'}"
        + (f" ({facts.how_reason})" if facts.how_reason else ""),
        f"- LoRA: rank {lora.lora_r}, alpha {lora.lora_alpha:g}, {facts.adapted_modules} layers",
        f"- {run.config.training.max_steps:,} optimizer steps, seed {run.config.training.seed}",
    ]
    environment, device = facts.environment or {}, facts.device or {}
    versions = [f"{name} {environment[name]}" for name in _LIBRARIES if environment.get(name)]
    lines += [f"- device: {device['name']}"] if device.get("name") else []
    lines += [f"- versions: {', '.join(versions)}"] if versions else []
    if revision := environment.get("model_revision"):
        lines.append(f"- the base model's commit on the hub: {revision}")
    return "\n".join(lines)


def _measured(store: RunStore, group: Group, run: Run) -> str:
    evals = {event.when: event for event in store.evals(run.id) if event.when != "during"}
    records = [
        RunRecord.of(
            r, store.step_figures(r.id), store.evals(r.id), eval_rows=store.eval_rows(r.id)
        )
        for r in group.runs
    ]
    rows = "".join(_loss_row(when, evals[when]) for when in ("before", "after") if when in evals)
    own = next(record for record in records if record.id == run.id)
    found = verdict(records).headline or "no verdict yet."
    return (
        f"In {_ran(run)}. Held-out loss in nats a token"
        f"{'; answers right to the letter' if any(_asked(e) for e in evals.values()) else ''}:\n\n"
        f"| | loss | right |\n|---|---|---|\n{rows}\n"
        f"{_speed(own)}Of the comparison it was part of: {found}"
    )


def _speed(record: RunRecord) -> str:
    speed, peak = record.tokens_per_s_median, record.facts.peak_mib
    if speed is None or peak is None:
        return ""
    said = f"Training took {peak:,.1f} MiB at its peak and ran at {speed:,.0f} tokens a second"
    why = ": emulated, which says nothing of the format" if record.facts.how == "emulated" else ""
    return f"{said}{why}.\n\n"


def _asked(event: Eval) -> bool:
    return event.exact_match is not None


def _loss_row(when: str, event: Eval) -> str:
    right = f"{event.exact_match:.1%} of {event.exact_match_rows}" if _asked(event) else "not asked"
    return f"| {when} training | {event.loss:.4f} | {right} |\n"


def _settings(config: RunConfig) -> str:
    values = config.model_dump(mode="json")
    values["model"], values["dataset"] = public_name(config.model), public_name(config.dataset)
    return yaml.safe_dump(values, sort_keys=False)
