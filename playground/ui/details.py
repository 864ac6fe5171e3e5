"""Every number of a comparison in one table, the proof of fairness, and the layers kept as is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from playground.compare import RunRecord, arms, fairness
from playground.compare.arms import several_seeds
from playground.config import PRECISIONS
from playground.events import FINAL
from playground.ui import figures, recorded, text
from playground.ui.measured import crossed
from playground.ui.panels import badge, swatch

_Cell = Callable[[RunRecord], str]


def _how(r: RunRecord) -> str:
    reason = f"<em>{escape(recorded.said(r.facts.how_reason))}</em>" if r.facts.how_reason else ""
    return f"{badge(r.facts.how) or text.EM_DASH}{reason}"


def _precision(name: str | None) -> str:
    return PRECISIONS[name].label if name in PRECISIONS else text.EM_DASH


def _change(before: str, after: str) -> str:
    return text.EM_DASH if before == after == text.EM_DASH else f"{before} → {after}"


def _train(r: RunRecord) -> str:
    if not r.steps:
        return text.EM_DASH
    return _change(figures.number(r.steps[0].loss), figures.number(r.steps[-1].loss))


def _median(r: RunRecord, value: float | None, unit: str) -> str:
    if value is None:
        return text.EM_DASH
    warmup = sum(s.warmup for s in r.steps)
    said = text.MEDIAN_OF.format(count=len(r.timed_steps), warmup=warmup)
    return f"{figures.number(value)}{unit}<em>{said}</em>{_claim(r)}"


def _claim(r: RunRecord) -> str:
    """Beside every speed and every memory in use: whether it says anything about the format."""
    return f"<em>{text.EMULATED_FIGURE}</em>" if r.facts.how == "emulated" else ""


def _peak(r: RunRecord) -> str:
    known = r.facts.peak_mib is not None
    return figures.mib(r.facts.peak_mib) + (_claim(r) if known else "")


def _energy(r: RunRecord) -> str:
    joules, source = r.energy_j, r.facts.energy_source
    if joules is None:
        return text.EM_DASH
    of_token = text.ENERGY_A_TOKEN.format(
        joules=figures.number(r.joules_per_token, 3), source=escape(recorded.said(source or ""))
    )
    return f"{figures.number(joules)} J<em>{of_token}</em>{_claim(r)}"


def _weights(r: RunRecord) -> str:
    source = recorded.said(r.facts.memory_source or "")
    return figures.mib(r.facts.weights_mib) + (f"<em>{escape(source)}</em>" if source else "")


def _parameters(r: RunRecord) -> str:
    trained, total = r.facts.trainable_parameters, r.facts.total_parameters
    if trained is None or not total:
        return text.EM_DASH
    return f"{figures.count(trained)}<em>{figures.share(trained / total)}</em>"


def _converted(r: RunRecord) -> str:
    coverage = r.facts.coverage
    if coverage is None:
        return text.EM_DASH
    return text.CONVERTED_OF.format(
        converted=coverage.converted,
        total=coverage.converted + len(coverage.skipped),
        share=figures.share(coverage.share_of_linear_weights),
    )


def _rows(r: RunRecord) -> str:
    rows = r.facts.rows or {}
    if "train" not in rows or "eval" not in rows:
        return text.EM_DASH
    there = text.ROWS_THERE.format(
        train=figures.count(rows["train"]), eval=figures.count(rows["eval"])
    )
    # A row is drawn again once all were: so many rows were trained on, not so many different ones.
    training, steps = r.config.training, r.steps[-1].step if r.steps else 0
    seen = steps * training.micro_batch_size * training.grad_accum_steps
    return f"{text.ROWS_USED.format(seen=figures.count(seen))}<em>{there}</em>"


def _exact(r: RunRecord) -> str:
    return _change(figures.share(r.exact_match("before")), figures.share(r.exact_match("after")))


def _eval(r: RunRecord) -> str:
    return _change(figures.number(r.eval_loss("before")), figures.number(r.eval_loss("after")))


def _skipped(r: RunRecord) -> str:
    return figures.count(sum(s.skipped for s in r.steps) if r.steps else None)


CELLS: dict[str, _Cell] = {
    "requested": lambda r: _precision(r.config.precision),
    "effective": lambda r: _precision(r.facts.effective),
    "how": _how,
    "eval": _eval,
    "exact": _exact,
    "train": _train,
    "throughput": lambda r: _median(r, r.tokens_per_s_median, ""),
    "step_ms": lambda r: _median(r, r.step_ms_median, " ms"),
    "bits": lambda r: figures.number(r.facts.bits_per_converted_weight, 3),
    "weights": _weights,
    "adapters": lambda r: figures.mib(r.facts.adapters_mib),
    "optimizer": lambda r: figures.mib(r.facts.optimizer_mib),
    "peak": _peak,
    "reserved": lambda r: figures.mib(r.facts.peak_reserved_mib),
    "parameters": _parameters,
    "converted": _converted,
    "rows": _rows,
    "energy": _energy,
    "skipped": _skipped,
    "batches": lambda r: f"<code>{figures.short_hash(r.facts.batches_sha256)}</code>",
    "adapter": lambda r: f"<code>{figures.short_hash(r.facts.adapter_init_sha256)}</code>",
}


SOMETIMES = {"exact", "energy", "reserved"}
"""Rows that are left out where no run has anything to say."""


def table(records: Sequence[RunRecord], over: bool) -> str:
    """One column for each run, one row for each fact; what was not measured is a dash."""
    if not records:
        return ""
    more = text.SIDEWAYS.format(count=len(records))
    swipe = f'<p class="sideways">{more}</p>' if len(records) > 2 else ""
    return f"{fair(records, over)}{crossed(records)}{swipe}{columns(records)}"


def columns(records: Sequence[RunRecord], at_once: int | None = None) -> str:
    """The table alone; as several below each other with at most ``at_once`` columns each."""
    repeated, most = several_seeds(records), at_once or len(records)
    parts = (records[start : start + most] for start in range(0, len(records), most))
    return "".join(_columns(part, repeated) for part in parts)


def _columns(records: Sequence[RunRecord], repeated: bool) -> str:
    heads = "".join(
        f'<th scope="col">{swatch(r.config.precision)}{_name(r, repeated)}</th>' for r in records
    )
    body = ""
    for key, cell in CELLS.items():
        cells = [cell(r) for r in records]
        if key not in SOMETIMES or any(c != text.EM_DASH for c in cells):
            row = "".join(f"<td>{c}</td>" for c in cells)
            body += f'<tr><th scope="row">{text.ROWS[key]}</th>{row}</tr>'
    return (
        f'<div class="wide" tabindex="0"><table class="facts whole"><thead><tr><td></td>{heads}'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _name(r: RunRecord, repeated: bool) -> str:
    label = _precision(r.config.precision)
    return text.SEED_OF.format(label=label, seed=r.seed) if repeated else label


def fair(records: Sequence[RunRecord], over: bool) -> str:
    """Three answers: same batches, same adapter start, nothing else different, seed by seed."""
    if len(records) < 2:
        return f'<p class="fair">{text.ONE_ARM}</p>'
    found = fairness(records)
    unknown = text.FAIR_NOT_RECORDED if over else text.FAIR_UNKNOWN
    others = [name for name in found.only_difference if name != "precision"]
    answers = [
        (text.SAME_BATCHES, found.same_batches, unknown),
        (text.SAME_ADAPTER, found.same_adapter_init, unknown),
        (
            text.ONLY_PRECISION,
            not others,
            text.OTHER_DIFFERENCES.format(names=text.COMMA.join(others)),
        ),
    ]
    return f'<ul class="fair">{"".join(_answer(*a) for a in answers)}</ul>'


def _answer(name: str, value: bool | None, otherwise: str) -> str:
    state = {True: "yes", False: "no", None: "unknown"}[value]
    word = {True: text.FAIR_YES, False: text.FAIR_NO, None: otherwise}[value]
    if value is False and name == text.ONLY_PRECISION:
        word = otherwise
    return f'<li class="is-{state}"><b>{name}</b> <span>{escape(word)}</span></li>'


def coverage(records: Sequence[RunRecord]) -> str:
    """Which Linear layers a precision took over, and why each of the others stayed."""
    told = [next((r for r in a.runs if r.facts.coverage), a.runs[0]) for a in arms(records)]
    return "".join(map(_coverage, told))


def _coverage(r: RunRecord) -> str:
    label, found = _precision(r.config.precision), r.facts.coverage
    if found is None:
        words = text.COVERAGE_NEVER if r.status in FINAL else text.COVERAGE_UNKNOWN
        return f"<p>{words.format(label=label)}</p>"
    info = PRECISIONS[r.config.precision]
    formats = text.COVERAGE_FORMATS.format(weights=info.weights, activations=info.activations)
    facts = {"label": label, "converted": found.converted, "formats": formats}
    if not found.skipped:
        return f"<p>{text.COVERAGE_ALL.format(**facts)}</p>"
    kept = "".join(
        f"<li><code>{escape(s.name)}</code> {escape(recorded.said(s.reason))}</li>"
        for s in found.skipped
    )
    said = text.COVERAGE_SOME.format(**facts)
    return f'<p>{said}</p><ul class="kept">{kept}</ul>'
