"""What ``list`` and ``show`` print: words with units, whole ids, within 80 columns."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from playground.config import PRECISIONS, private
from playground.progress import number
from playground.store import Group, Run, RunStore

_LONGEST_ID = 24
_LONGEST_NAME = 16


def groups_table(store: RunStore, groups: Sequence[Group]) -> Table:
    """Two lines for each comparison: id and title, then when it was made and how far its runs came.

    Room is what a title may take; an id is for copying and stays whole.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=_LONGEST_ID)
    table.add_column(overflow="fold")
    for group in groups:
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(group.created_at))
        runs = ", ".join(
            f"{PRECISIONS[run.precision].label} {run.status} {steps_done(store, run)}"
            for run in group.runs
        )
        table.add_row(group.id, escape(group.title))
        table.add_row(made, runs)
    return table


def steps_done(store: RunStore, run: Run) -> str:
    """``3/60``."""
    last = store.last_step(run.id)
    return f"{last.step if last else 0}/{run.config.training.max_steps}"


def group_table(result: Mapping[str, Any]) -> Table:
    """A row for each run of a comparison, from its JSON."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, collapse_padding=True, pad_edge=False)
    for heading in ("precision", "how", "status"):
        table.add_column(heading, no_wrap=True)
    for heading in ("steps", "loss", "held-out loss", "weights"):
        table.add_column(heading, justify="right")
    for run in result["runs"]:
        table.add_row(
            PRECISIONS[run["requested"]].label,
            run["how"] or "–",
            run["status"],
            str(run["steps"]),
            number(run["train_loss_last"]),
            f"{number(run['eval_loss_before'])} → {number(run['eval_loss_after'])}",
            _with_unit(run["memory"]["weights_mib"], "MiB", 2) or "–",
        )
    return table


def run_table(run: Run, result: Mapping[str, Any]) -> Table:
    """One run in words, from its JSON; what was not measured has no line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=_LONGEST_NAME)
    table.add_column(overflow="fold")
    for name, text in (
        *_what(run, result),
        *_learned(run, result),
        *_cost(result),
        *_proof(result),
    ):
        if text:
            table.add_row(name, escape(private(text)))
    return table


Lines = Iterator[tuple[str, str]]


def _what(run: Run, result: Mapping[str, Any]) -> Lines:
    asked, effective = result["requested"], result["effective"]
    other = f", but ran as {PRECISIONS[effective].label}" if effective not in (None, asked) else ""
    yield "run", result["id"]
    yield "comparison", run.group_id
    yield "model", run.config.model
    yield "dataset", run.config.dataset
    yield "precision", PRECISIONS[asked].label + other
    yield "how it ran", ": ".join(filter(None, (result["how"], result["how_reason"])))
    yield "status", ": ".join(filter(None, (result["status"], result["error"])))


def _learned(run: Run, result: Mapping[str, Any]) -> Lines:
    rows = result["rows"] or {}
    yield "rows", ", ".join(f"{count:,} {name}" for name, count in rows.items())
    before, after = result["eval_loss_before"], result["eval_loss_after"]
    yield "held-out loss", _change(number(before), number(after), " nats a token")
    before, after = result["exact_match_before"], result["exact_match_after"]
    yield "answered exactly", _change(_percent(before), _percent(after))
    yield "steps", f"{result['steps']:,} of {run.config.training.max_steps:,}"
    if not result["steps"]:
        return
    yield "tokens", f"{result['tokens']:,}, and {result['padded_tokens']:,} of padding"
    first, last = result["train_loss_first"], result["train_loss_last"]
    yield "loss", _change(number(first), number(last), " nats a token")
    yield "updates skipped", f"{result['skipped_updates']:,} by the loss scaler"


def _cost(result: Mapping[str, Any]) -> Lines:
    """Speed and memory; a figure without how it ran would read as a claim about the precision."""
    how = f", {result['how']}" if result["how"] else ""
    left_out = f", {result['warmup_steps']} warm-up steps left out"
    for name, value, unit, digits in (
        ("speed", result["tokens_per_s_median"], "tokens/s", 0),
        ("time of a step", result["step_ms_median"], "ms", 1),
    ):
        figure = _with_unit(value, unit, digits)
        yield name, figure and f"{figure} (median{left_out}){how}"
    memory = result["memory"]
    source = f", {memory['source']}" if memory["source"] else ""
    for name, key in (
        ("weights", "weights_mib"),
        ("adapters", "adapters_mib"),
        ("optimizer", "optimizer_mib"),
        ("peak memory", "peak_mib"),
    ):
        figure = _with_unit(memory[key], "MiB", 2)
        yield name, figure and f"{figure}{source}{how}"


def _proof(result: Mapping[str, Any]) -> Lines:
    bits = _with_unit(result["bits_per_converted_weight"], "bits a weight", 2)
    if coverage := result["coverage"]:
        share, skipped = coverage["share_of_linear_weights"], len(coverage["skipped"])
        yield (
            "converted",
            f"{coverage['converted']} Linears, {share:.1%} of all Linear weights"
            + (f", {bits}" if bits else "")
            + (f"; {skipped} left as they were" if skipped else ""),
        )
    yield "batches", _hash(result["batches_sha256"])
    yield "adapter at start", _hash(result["adapter_init_sha256"])


def _change(before: str, after: str, unit: str = "") -> str:
    return "" if before == after == "–" else f"{before} → {after}{unit}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _with_unit(value: float | None, unit: str, digits: int) -> str:
    return "" if value is None else f"{number(value, digits)} {unit}"


def _hash(value: str | None) -> str:
    return f"sha256 {value[:16]}…" if value else ""  # whole in the JSON
