"""What is known of a preset on this machine before it is started: how long, how, if it fits."""

from __future__ import annotations

from html import escape

from huggingface_hub import constants

from playground import fit
from playground.catalog import resolve_dataset, resolve_model
from playground.catalog.words import in_bytes
from playground.config import PRECISIONS, SettingsError, private
from playground.hardware import Device
from playground.presets import Preset
from playground.store import Group, Run, RunStore
from playground.ui import figures, recorded
from playground.ui import text as shared
from playground.ui.text import cards as text

# From which compute capability on a GPU has units for a format; the README's table says the same.
_NATIVE_FROM = {"fp32": (0, 0), "fp16": (7, 0), "bf16": (8, 0), "fp8": (8, 9)}
_DECODED_FROM = (8, 0)
_FP4 = ("nvfp4", "nvfp4-2d", "mxfp4")


def how(precision: str, device: Device) -> str:
    """``native``, ``weight-only`` or ``emulated``, as a run on this device will probably say."""
    if device.kind == "cpu":
        return "native" if precision == "fp32" else "emulated"
    capability = tuple(int(part) for part in (device.compute_capability or "0.0").split("."))
    if precision in _NATIVE_FROM:
        return "native" if capability >= _NATIVE_FROM[precision] else "emulated"
    if precision in _FP4:
        return "native" if device.fp4_native else "emulated"
    return "weight-only" if capability >= _DECODED_FROM else "emulated"


def facts(preset: Preset, store: RunStore, device: Device) -> str:
    """A card's lines: how long here, how it runs here, and whether it fits, if known."""
    lines = [("time", how_long(preset, store, device))]
    lines += [(f"how-{way}", said) for way, said in _ways(preset, device)]
    lines += [
        ("fetch", fetched(preset)),
        ("fit", fits(preset, store) or _fitted(preset, store, device)),
    ]
    items = "".join(f'<li class="{kind}">{escape(line)}</li>' for kind, line in lines if line)
    label = escape(text.FACTS.format(title=recorded.told(preset).title))
    return f'<ul class="card-facts" aria-label="{label}">{items}</ul>'


def fetched(preset: Preset) -> str:
    """What is not on this machine, or why it cannot be had; nothing where all is here."""
    try:
        model = resolve_model(preset.config.model)
        rows = resolve_dataset(preset.config.dataset)
    except SettingsError as error:
        return recorded.said(private(str(error)))
    if model.here and not rows.hub_id:
        return ""
    if constants.HF_HUB_OFFLINE:
        return text.OFFLINE
    if model.here:
        return text.FETCHED_ROWS
    size = in_bytes(model.size_bytes) if model.size_bytes else text.ITS_MODEL
    return (text.FETCHED_GATED if model.gated else text.FETCHED).format(size=size)


def how_long(preset: Preset, store: RunStore, device: Device) -> str:
    """A real figure where exactly this was run here, else the preset's own word, else neither."""
    if earlier := _earlier(preset, store, device):
        took = sum(run.ended_at - run.started_at for run in earlier.runs)
        ended = max(run.ended_at for run in earlier.runs)
        date = figures.moment(ended).split(" ")[0]
        return text.TOOK.format(time=figures.duration(took), date=date)
    return (
        text.TAKES.format(words=recorded.told(preset).takes) if preset.takes else text.TIME_UNKNOWN
    )


def _earlier(preset: Preset, store: RunStore, device: Device) -> Group | None:
    """The newest time that exactly this was run here to its end, in one go."""
    earlier = store.finished_like(preset.name, preset.configs)
    return earlier if earlier and all(_ran_on(run, device) for run in earlier.runs) else None


def _fitted(preset: Preset, store: RunStore, device: Device) -> str:
    """What has run here fits, whether or not anybody has asked for an estimate."""
    return text.FITS["fits"] if _earlier(preset, store, device) else ""


def _ran_on(run: Run, device: Device) -> bool:
    """In one go, on the device that is here now: a home folder may have come from elsewhere."""
    recorded = (run.facts.device or {}).get("name")
    timed = run.started_at is not None and run.ended_at is not None
    return timed and run.attempt == 1 and recorded in (None, device.name)


def how_it_runs(preset: Preset, device: Device) -> list[str]:
    """A line for each way in which some of its precisions run here."""
    return [said for _, said in _ways(preset, device)]


def _ways(preset: Preset, device: Device) -> list[tuple[str, str]]:
    ways: dict[tuple[str, str], list[str]] = {}
    for name in preset.precisions:
        way = how(name, device)
        proved = way == "native" and name in _FP4
        said = text.HOW_IF if proved else text.HOW[way]
        ways.setdefault((way, said), []).append(PRECISIONS[name].label)
    return [
        (way, said.format(labels=shared.COMMA.join(labels))) for (way, said), labels in ways.items()
    ]


def fits(preset: Preset, store: RunStore) -> str:
    """Whether it fits, where an estimate is kept already: making one takes seconds of a core."""
    try:
        found = fit.kept(preset, fit.budget(), store.home)
    except SettingsError:  # its model is not here, which the form says once it is asked
        return ""
    if found is None:
        return ""
    by_verdict: dict[str, list[str]] = {}
    for row in found["precisions"]:
        by_verdict.setdefault(row["verdict"], []).append(PRECISIONS[row["precision"]].label)
    if len(by_verdict) == 1:
        return text.FITS[next(iter(by_verdict))]
    return shared.SEMICOLON.join(
        text.FITS_BUT.format(labels=shared.COMMA.join(labels), verdict=text.FITS_SHORT[verdict])
        for verdict, labels in by_verdict.items()
        if verdict in text.FITS_SHORT
    )
