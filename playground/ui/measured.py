"""What was measured beside the loss, as HTML: memory by kind, rounding errors, other bases."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from html import escape

from playground.compare import Arm, Prediction, RunRecord, arms, predictions
from playground.compare.cross import cross_losses, own_base
from playground.config import PRECISIONS
from playground.events import LayerError
from playground.ui import figures, recorded, text
from playground.ui.panels import badge, swatch

_FAR_OFF = 0.02
"""Of a predicted part, as a share; less is not worth a word."""

TENSORS = ("weight", "activation", "gradient")


def memory(records: Sequence[RunRecord]) -> str:
    """A bar for each arm, of the kinds of tensors that fill the memory; all on one scale."""
    known = [(arm, kinds) for arm in arms(records) if (kinds := _kinds(arm))]
    if not known:
        return f"<p>{text.MEMORY_UNKNOWN}</p>"
    most = max((sum(kinds.values()) for _, kinds in known if _peak_seen(kinds)), default=0.0)
    note = recorded.said(next((s for r in records if (s := r.facts.memory_source)), ""))
    said = f'<p class="soft">{escape(note)}</p>' if note else ""
    return said + "".join(_memory_bar(arm, kinds, most) for arm, kinds in known)


def _kinds(arm: Arm) -> dict[str, float]:
    """MiB by kind in the arm's first run that told; repetitions hold the same tensors."""
    for run in arm.runs:
        found = {kind: getattr(run.facts, f"{kind}_mib") for kind in text.MEMORY_KINDS}
        if found["weights"] is not None:
            return {kind: mib for kind, mib in found.items() if mib is not None}
    return {}


def _peak_seen(kinds: dict[str, float]) -> bool:
    """Whether a batch was watched; before that there is only what rests, which is no peak."""
    return "activations" in kinds


def _memory_bar(arm: Arm, kinds: dict[str, float], most: float) -> str:
    how = next((r.facts.how for r in arm.runs if r.facts.how), None)
    total, parts = text.EM_DASH, ""
    if _peak_seen(kinds):
        total = figures.mib(sum(kinds.values()))
        parts = "".join(
            f'<i class="kind-{kind}" style="width:{mib / most:.2%}"></i>'
            for kind, mib in kinds.items()
        )
    listed = "".join(
        f'<li><i class="kind-{kind}"></i>{text.MEMORY_KINDS[kind]} '
        f"<b>{figures.number(mib)}</b></li>"
        for kind, mib in kinds.items()
    )
    return (
        f'<div class="kinds-of arm-{escape(arm.precision)}"><p>{swatch(arm.precision)}'
        f"<b>{arm.label}</b>{badge(how)}<span>{total}</span></p>"
        f'<div class="stack" aria-hidden="true">{parts}</div><ul>{listed}</ul>'
        f"{_told_before(arm)}</div>"
    )


def _told_before(arm: Arm) -> str:
    """The peak as it was predicted beside the measured one, and each part that was far off."""
    found = next((told for run in arm.runs if (told := predictions(run.facts))), {})
    if "peak" not in found:
        return ""
    peak = found.pop("peak")
    words = text.MEMORY_PREDICTED if peak.measured is None else text.MEMORY_PREDICTED_OFF
    said = [_beside(words, peak)]
    said += [
        _beside(text.MEMORY_PREDICTED_PART, part, kind=text.MEMORY_KINDS[name])
        for name, part in found.items()
        if part.off is not None and abs(part.off) > _FAR_OFF
    ]
    return f'<p class="soft">{escape(text.SEMICOLON.join(said))}</p>'


def _beside(words: str, part: Prediction, **more: str) -> str:
    off = figures.signed_share(part.off)
    measured = figures.mib(part.measured)
    return words.format(mib=figures.mib(part.predicted), measured=measured, off=off, **more)


def rounding(records: Sequence[RunRecord]) -> str:
    """The newest look at each arm: how far rounding is off in a few layers; all on one scale."""
    looks = [(arm, errors) for arm in arms(records) if (errors := _newest_look(arm))]
    if not looks:
        return f"<p>{text.ROUNDING_UNKNOWN}</p>"
    sizes = [e.relative_error for _, errors in looks for e in errors]
    most = max(filter(math.isfinite, sizes), default=0.0)
    return "".join(_looked_at(arm, errors, most) for arm, errors in looks)


def _newest_look(arm: Arm) -> list[LayerError]:
    errors = next((r.layer_errors for r in reversed(arm.runs) if r.layer_errors), ())
    newest = max((e.step for e in errors), default=0)
    return [e for e in errors if e.step == newest]


def _looked_at(arm: Arm, errors: Sequence[LayerError], most: float) -> str:
    found = {(e.layer, e.tensor): e for e in errors}
    layers = sorted({e.layer for e in errors}, key=_in_order)
    where = text.AFTER_STEP.format(step=errors[0].step) + _healed(arm, errors[0].step)
    heads = "".join(f'<th scope="col">{text.TENSOR_WORDS[t]}</th>' for t in TENSORS)
    rows = "".join(
        f'<tr><th scope="row">{escape(layer)}</th>'
        + "".join(f"<td>{_error(found.get((layer, t)), most)}</td>" for t in TENSORS)
        + "</tr>"
        for layer in layers
    )
    return (
        f'<div class="wide" tabindex="0"><table class="facts errors arm-{escape(arm.precision)}">'
        f"<caption>{swatch(arm.precision)}<b>{arm.label}</b> "
        f"{where}</caption>"
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _healed(arm: Arm, step: int) -> str:
    """The precision that rounds at ``step``, where that is no longer the arm's own."""
    for facts in (run.facts for run in arm.runs):
        if facts.healed_at_step is not None and facts.healed_at_step <= step:
            return text.HEALED_TO.format(label=PRECISIONS[facts.healed_to].label)
    return ""


def _in_order(layer: str) -> list[tuple[int, str]]:
    """Layer 2 before layer 10."""
    return [(int(n or 0), word) for n, word in re.findall(r"(\d+)|(\D+)", layer)]


def _error(error: LayerError | None, most: float) -> str:
    if error is None:
        return text.EM_DASH
    size = error.relative_error
    width = (size / most if most else 0) if math.isfinite(size) else 1
    zeroed = text.ZEROED.format(share=figures.fine_share(error.zeroed_share))
    return (
        f"{figures.fine_share(size)}"
        f'<i class="bar"><i style="width:{width:.1%}"></i></i><em>{zeroed}</em>'
    )


def crossed(records: Sequence[RunRecord], at_once: int | None = None) -> str:
    """Each finished adapter, a row, on each base that it was judged on, a column; or nothing.

    As several tables below each other with at most ``at_once`` columns each.
    """
    found = [(arm, losses) for arm in arms(records) if (losses := cross_losses(arm))]
    if not found:
        return ""
    every = {key for _, losses in found for key in losses}
    order = list(PRECISIONS)
    columns = sorted(every, key=lambda key: (key[1], order.index(key[0])))
    most = at_once or len(columns)
    parts = (columns[start : start + most] for start in range(0, len(columns), most))
    return "".join(_crossed(found, part) for part in parts)


def _crossed(
    found: Sequence[tuple[Arm, dict[tuple[str, bool], float]]], columns: Sequence[tuple[str, bool]]
) -> str:
    heads = "".join(f'<th scope="col">{_base(*key)}</th>' for key in columns)
    rows = "".join(
        f'<tr><th scope="row">{swatch(arm.precision)}{text.ADAPTER_OF.format(label=arm.label)}</th>'
        + "".join(_crossed_cell(arm, key, losses.get(key)) for key in columns)
        + "</tr>"
        for arm, losses in found
    )
    return (
        f'<div class="wide" tabindex="0"><table class="facts crossed">'
        f"<caption>{text.CROSSED}</caption><thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _base(base: str, merged: bool) -> str:
    words = text.MERGED_INTO if merged else text.ON_BASE
    return words.format(label=PRECISIONS[base].label)


def _crossed_cell(arm: Arm, key: tuple[str, bool], loss: float | None) -> str:
    own = key == (own_base(arm), False)
    shown = figures.number(loss)
    return f"<td>{f'<b>{shown}</b><em>{text.TRAINED_ON}</em>' if own else shown}</td>"
