"""What ``list`` and ``show`` print: words with units, whole ids, within 80 columns."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group as Stack
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from playground.compare import Prediction
from playground.config import PRECISIONS, private
from playground.progress import by_precision, mean_and_spread, number
from playground.store import Group, Run, RunStore

_LONGEST_ID = 24
_LONGEST_NAME = 16
_MOST_BASES = 4  # columns of losses beside the adapter and its own


def groups_table(store: RunStore, groups: Sequence[Group]) -> Table:
    """Two lines for each comparison: id and title, then when it was made and how far its runs came.

    Room is what a title may take; an id is for copying and stays whole.
    """
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=_LONGEST_ID)
    table.add_column(overflow="fold")
    for group in groups:
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(group.created_at))
        table.add_row(group.id, escape(group.title))
        table.add_row(made, ", ".join(_how_far(store, group)))
    return table


def _how_far(store: RunStore, group: Group) -> Iterator[str]:
    """``FP16 finished 60/60``; with several seeds, how many runs of each precision are where."""
    for precision, runs in by_precision(group).items():
        label = PRECISIONS[precision].label
        if len(runs) == 1:
            yield f"{label} {runs[0].status} {steps_done(store, runs[0])}"
        else:
            states = Counter(run.status for run in runs)
            yield f"{label} {' and '.join(f'{count} {state}' for state, count in states.items())}"


def steps_done(store: RunStore, run: Run) -> str:
    """``3/60``."""
    last = store.last_step(run.id)
    return f"{last.step if last else 0}/{run.config.training.max_steps}"


def group_table(result: Mapping[str, Any]) -> Table:
    """A row for each run of a comparison, from its JSON; with several seeds, one each above it."""
    runs = result["runs"]
    if len({run["seed"] for run in runs}) > 1:
        return _seeds_table(result)
    table = _table(("precision", "how", "status"), ("steps", "loss", "held-out loss", "weights"))
    for run in runs:
        table.add_row(
            PRECISIONS[run["requested"]].label,
            run["how"] or "–",
            run["status"],
            str(run["steps"]),
            number(run["train_loss_last"]),
            _losses(run),
            _with_unit(run["memory"]["weights_mib"], "MiB", 2) or "–",
        )
    return table


def _seeds_table(result: Mapping[str, Any]) -> Table:
    """The mean of each precision with its spread and its noise, and below it each of its runs."""
    against = {c["candidate"]: c for c in result["verdict"]["comparisons"]}
    table = _table(("precision", "how", "status"), ("held-out loss", "difference"))
    table.caption = "mean ± deviation over seeds; difference ± noise at 95%, nats"
    table.caption_justify = "left"
    for precision in dict.fromkeys(run["requested"] for run in result["runs"]):
        runs = [run for run in result["runs"] if run["requested"] == precision]
        done = [run["eval_loss_after"] for run in runs if run["status"] == "finished"]
        losses = [loss for loss in done if loss is not None]
        found = against.get(precision)
        table.add_row(
            PRECISIONS[precision].label,
            next((run["how"] for run in runs if run["how"]), None) or "–",
            f"{len(done)} of {len(runs)} done",
            mean_and_spread(losses),
            _difference(found) if found else "–",
            style="bold",
        )
        for run in runs:
            table.add_row(f"  seed {run['seed']}", "", run["status"], _losses(run), "")
    return table


def cross_table(result: Mapping[str, Any]) -> RenderableType | None:
    """Each adapter on each base, then merged, in held-out loss, the mean of its seeds.

    Several tables one below the other where one would be too wide; None where nothing was judged.
    """
    losses: dict[tuple[str, bool, str], list[float]] = {}
    for run in result["runs"]:
        for cross in run["cross"]:
            key = (run["requested"], cross["merged"], cross["base"])
            losses.setdefault(key, []).append(cross["loss"])
    known = {(merged, base) for _, merged, base in losses}
    bases = [(merged, base) for merged in (False, True) for base in PRECISIONS]
    bases = [base for base in bases if base in known]
    parts = [bases[i : i + _MOST_BASES] for i in range(0, len(bases), _MOST_BASES)]
    return Stack(*(_cross_part(result, losses, part) for part in parts)) if parts else None


def _cross_part(
    result: Mapping[str, Any],
    losses: Mapping[tuple[str, bool, str], list[float]],
    bases: Sequence[tuple[bool, str]],
) -> Table:
    """The columns of ``bases``, for the adapters that were judged on one of them."""
    heads = [
        f"merged into {_label(base)}" if merged else f"on {_label(base)}" for merged, base in bases
    ]
    table = _table(("adapter of",), ("on its own", *heads))
    for precision in dict.fromkeys(name for name, *base in losses if tuple(base) in bases):
        own = [run["eval_loss_after"] for run in result["runs"] if run["requested"] == precision]
        table.add_row(
            _label(precision),
            _mean(own),
            *(_mean(losses.get((precision, *base), [])) for base in bases),
        )
    return table


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return number(fmean(known) if known else None)


def _table(words: Sequence[str], figures: Sequence[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, collapse_padding=True, pad_edge=False)
    for heading in words:
        table.add_column(heading, no_wrap=True)
    for heading in figures:
        table.add_column(heading, justify="right")
    return table


def _label(precision: str) -> str:
    return PRECISIONS[precision].label


def _losses(run: Mapping[str, Any]) -> str:
    return f"{number(run['eval_loss_before'])} → {number(run['eval_loss_after'])}"


def _difference(found: Mapping[str, Any]) -> str:
    """``+0.0021 ± 0.0034``."""
    delta, noise = found["loss_delta"], found["loss_delta_noise"]
    if delta is None:
        return "–"
    sign = "+" if delta >= 0 else "−"
    return f"{sign}{abs(delta):.4f}" + (f" ± {noise:.4f}" if noise is not None else "")


def run_table(run: Run, result: Mapping[str, Any]) -> Table:
    """One run in words, from its JSON; what was not measured has no line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=_LONGEST_NAME)
    table.add_column(overflow="fold")
    for name, text in (
        *_what(run, result),
        *_learned(run, result),
        *_other_bases(result),
        *_target(result),
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
    yield "seed", str(result["seed"])
    yield "how it ran", ": ".join(filter(None, (result["how"], result["how_reason"])))
    kind = f" ({result['cause']})" if result["cause"] else ""
    yield "status", ": ".join(filter(None, (result["status"] + kind, result["error"])))
    if result["healed_at_step"] is not None:
        to = _label(result["healed_to"]) if result["healed_to"] else "a higher precision"
        yield "healed", f"from step {result['healed_at_step']:,} on in {to}"


def _learned(run: Run, result: Mapping[str, Any]) -> Lines:
    rows = result["rows"] or {}
    yield "rows", ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in rows.items())
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


def _other_bases(result: Mapping[str, Any]) -> Lines:
    for cross in result["cross"]:
        base = _label(cross["base"])
        name = f"merged, {base}" if cross["merged"] else f"on {base}"
        yield name, f"{number(cross['loss'])} nats a token held out"


def _target(result: Mapping[str, Any]) -> Lines:
    target, found = result["target_loss"], result["time_to_target"]
    if target is None:
        return
    if found is None:
        yield "to the target", f"held-out loss {target:g} not reached"
        return
    how = f", {result['how']}" if result["how"] else ""
    energy = _with_unit(found["joules"], "J", 0)
    yield (
        "to the target",
        f"held-out loss {target:g} at step {found['steps']:,}, after {found['tokens']:,} tokens "
        f"and {found['seconds']:,.1f} s{f', {energy}' if energy else ''}{how}",
    )


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
    if result["joules_per_token"] is not None:
        total = _with_unit(result["energy_j"], "J", 0)
        beside = f", {total} in all steps" if total else ""
        yield "energy", f"{result['joules_per_token']:.3g} J/token{beside}{how}"
    memory = result["memory"]
    source = f", {memory['source']}" if memory["source"] else ""
    for name, key in (
        ("weights", "weights_mib"),
        ("adapters", "adapters_mib"),
        ("optimizer", "optimizer_mib"),
        ("peak memory", "peak_mib"),
    ):
        figure = _with_unit(memory[key], "MiB", 2)
        yield name, figure and f"{figure}{source}{how}{_predicted(result, key)}"
    if memory["peak_mib"] is None:
        yield "predicted peak", _with_unit(result["predicted"]["peak_mib"], "MiB", 2)


def _predicted(result: Mapping[str, Any], key: str) -> str:
    told = result["predicted"][key]
    if told is None:
        return ""
    off = Prediction(told, result["memory"][key]).off
    beside = "" if off is None else f" ({_signed_percent(off)})"
    return f"; predicted {number(told, 2)} MiB{beside}"


def _signed_percent(share: float) -> str:
    size = f"{abs(share):.1%}"
    sign = "±" if float(size[:-1]) == 0 else "+" if share > 0 else "−"
    return sign + size


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
