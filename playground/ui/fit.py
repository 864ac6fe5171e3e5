"""Whether the comparison in the form fits a device, precision by precision, before it is started.

A child process estimates (``playground/fit``), for torch never gets into this one. The form can be
used meanwhile, and what is shown is always about the form as it is: an answer to what it was before
is not taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from playground.catalog import resolve_model
from playground.catalog.architecture import architecture_file
from playground.catalog.weights import read_json
from playground.config import PRECISIONS, SettingsError, private
from playground.devices import DEVICES, TIGHT_SHARE
from playground.fit import budget
from playground.fit.background import Estimates
from playground.fit.weights import weights_mib
from playground.presets import Preset
from playground.ui import figures, guard, models, panels, visitors
from playground.ui.quiet import QUIET
from playground.ui.text import fit as text

MATTERS = (
    "model",
    "precisions",
    "micro_batch_size",
    "max_seq_len",
    "packing",
    "lora_r",
    "target_modules",
    "gradient_checkpointing",
    "keep_last_blocks",
    "keep_layers",
    "heal_after",
    "heal_to",
    "max_steps",
)
"""The fields whose values an estimate follows from; the steps only by where healing begins."""

_ASK_AGAIN_S = 1.0
_OF_WEIGHTS = ("fp16", "fp8", "nvfp4")


@dataclass(frozen=True)
class FitPart:
    """The widgets. looked: whether an estimate was asked for, so that it follows the form."""

    device: gr.Dropdown
    button: gr.Button
    panel: gr.HTML
    looked: gr.State
    again: gr.Timer


def build() -> FitPart:
    """Draws the device, the button and its empty panel; call it inside ``gr.Blocks``."""
    with gr.Row(elem_id="fit-row"):
        device = gr.Dropdown(
            [(text.THIS_MACHINE, ""), *((_named(name), name) for name in DEVICES)],
            value="",
            label=text.DEVICE,
            elem_id="fit-device",
            min_width=160,
        )
        button = gr.Button(text.ASK, size="sm", elem_id="fit-button")
    panel = gr.HTML("", elem_id="fit-panel", apply_default_css=False)
    return FitPart(device, button, panel, gr.State(False), gr.Timer(_ASK_AGAIN_S, active=False))


def _named(name: str) -> str:
    found = DEVICES[name]
    short = found.name.removeprefix("NVIDIA ").removeprefix("GeForce ")
    return text.DEVICE_CHOICE.format(name=short, memory=size(found.memory_mib))


def wire(
    app: gr.Blocks,
    part: FitPart,
    weights: gr.HTML,
    fields: Mapping[str, Any],
    base: gr.State,
    read: Callable[[str, Mapping[str, Any]], Preset],
    estimates: Estimates,
) -> None:
    """Connects it with the form.

    Args:
        weights: shows at once what the chosen model's weights alone take.
        read: ``read(base, filled)`` is the preset that the fields in ``MATTERS`` ask for.
    """

    def on_ask(request: gr.Request, device: str, base: str, *values: Any) -> list[Any]:
        said, waits = answer(request, device, base, dict(zip(MATTERS, values, strict=True)))
        return [said, gr.Timer(active=waits), True]

    def on_change(
        request: gr.Request, looked: bool, device: str, base: str, *values: Any
    ) -> list[Any]:
        return on_ask(request, device, base, *values) if looked else [gr.skip()] * 3

    def answer(
        request: gr.Request, device: str, base: str, filled: dict[str, Any]
    ) -> tuple[str, bool]:
        """What the panel shows, and whether it has to be asked for again."""
        if not guard.may_change(request):
            return panels.notice(text.LOG_IN, "info"), False
        try:
            preset = read(base, filled)
            into = budget(device or None)
            found = estimates.ask(preset, into)
        except SettingsError as error:
            stranger = not guard.may_change(request)
            said = models.elsewhere(str(error), filled["model"] or "", stranger=stranger)
            return panels.notice(said), False
        if found is None:
            return waiting(preset.config.model, estimates.waited_s(preset, into)), True
        return table(found, filled["precisions"]), False

    def on_model(request: gr.Request, name: str | None) -> str:
        return weights_alone(name or "", stranger=not guard.may_change(request))

    inputs = [part.device, base, *(fields[key] for key in MATTERS)]
    outputs = [part.panel, part.again, part.looked]
    quiet = {"queue": False, **QUIET}
    # Of a model that a person picks; a preset's card, which starts it too, only fills it in.
    gr.on([part.button.click, part.device.input, fields["model"].input], on_ask, inputs, outputs,
          **quiet)  # fmt: skip
    gr.on([fields["model"].change, app.load], on_model, fields["model"], weights, **quiet)
    changes = [fields[key].change for key in MATTERS]
    follow = {"trigger_mode": "always_last", **quiet}
    gr.on([*changes, part.again.tick], on_change, [part.looked, *inputs], outputs, **follow)


def weights_alone(name: str, *, stranger: bool = False) -> str:
    """What the model's weights take in some precisions, or nothing where that takes a child to say.

    Args:
        stranger: a visitor, who learns nothing of this machine's folders.
    """
    name = name.strip()
    try:
        visitors.refuse_model(name, not stranger)
        file = architecture_file(resolve_model(name))
    except SettingsError:  # said beside the field
        return ""
    if file is None or file.suffix != ".json":
        return ""
    told = read_json(file)
    known = {name: weights_mib(told, name, on_gpu=True) for name in _OF_WEIGHTS}
    each = text.AND.join(
        text.WEIGHTS_IN.format(size=size(mib), label=PRECISIONS[name].label)
        for name, mib in known.items()
        if mib is not None
    )
    return f'<p class="soft">{escape(text.WEIGHTS.format(each=each))}</p>' if each else ""


def waiting(model: str, seconds: float) -> str:
    """What is going on, and how long it has; only the first is read out, and once."""
    said = escape(text.WAITING.format(model=private(model)))
    waited = text.WAITED.format(time=figures.duration(seconds))
    return f'<p class="soft"><span role="status">{said}</span> {waited}</p>'


def table(found: Mapping[str, Any], ticked: Collection[str]) -> str:
    """The verdict on each precision, those of the comparison in bold; the parts are folded away."""
    rows = "".join(_row(row, row["precision"] in ticked) for row in found["precisions"])
    heads = "".join(
        f'<th scope="col">{name}</th>'
        for name in (text.PRECISION, text.PEAK, text.NEEDED, text.VERDICT)
    )
    notes = "".join(f'<p class="soft">{escape(note)}</p>' for note in _notes(found))
    return (
        f'<div class="fitted" role="status"><p>{escape(_about(found))}</p>'
        f'<table class="fits"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
        f"{_parts(found['precisions'])}{notes}</div>"
    )


def _row(row: Mapping[str, Any], ticked: bool) -> str:
    said = text.VERDICTS[row["verdict"]]
    kind = row["verdict"].replace(" ", "-")
    return (
        f'<tr{" class=is-ticked" if ticked else ""}><th scope="row">'
        f"{panels.swatch(row['precision'])}{PRECISIONS[row['precision']].label}</th>"
        f"<td>{size(row['peak_mib'])}</td><td>{size(row['needed_mib'])}</td>"
        f'<td><span class="fit-verdict is-{kind}">{said}</span></td></tr>'
    )


def _about(found: Mapping[str, Any]) -> str:
    device, checkpointing = found["device"], found["gradient_checkpointing"]
    memory = text.MEMORY_UNKNOWN
    if device["memory_mib"] is not None:
        memory = size(device["memory_mib"])
        memory = text.FREE.format(memory=memory) if device["kind"] == "cpu" else memory
    return text.ON.format(
        model=private(found["model"]),
        device=device["name"],
        memory=memory,
        sequences=found["largest_batch"]["sequences"],
        tokens=figures.count(found["largest_batch"]["tokens"]),
        how=text.WITH_CHECKPOINTING if checkpointing else text.WITHOUT_CHECKPOINTING,
    )


def _parts(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in text.PARTS.values())
    body = "".join(
        f'<tr><th scope="row">{PRECISIONS[row["precision"]].label}</th>'
        + "".join(f"<td>{figures.number(row[f'{part}_mib'])}</td>" for part in text.PARTS)
        + "</tr>"
        for row in rows
    )
    return (
        f'<details class="fit-parts"><summary>{text.PARTS_FOLD}</summary>'
        f'<div class="wide" tabindex="0"><table class="fits"><thead><tr><td></td>{heads}</tr>'
        f"</thead><tbody>{body}</tbody></table></div></details>"
    )


def _notes(found: Mapping[str, Any]) -> list[str]:
    notes = [
        text.HEALS.format(label=_label(row["precision"]), other=_label(row["counted_in"]))
        for row in found["precisions"]
        if row["counted_in"] != row["precision"]
    ]
    if found["built_by"] == "catalog":
        notes.append(text.BY_CATALOG)
    share = f"{TIGHT_SHARE:.0%}".replace("%", " %")
    return [*notes, text.ASSUMED.format(overhead=size(found["overhead_mib"]), share=share)]


def _label(precision: str) -> str:
    return PRECISIONS[precision].label


def size(mib: float) -> str:
    """``512 MiB``, ``31.8 GiB``."""
    if mib < 1024:
        return text.MIB.format(size=figures.number(mib, 3))
    return text.GIB.format(size=figures.number(mib / 1024, 3))
