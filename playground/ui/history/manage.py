"""One comparison of the list: its name, its note, going on with it, again with one change, its end.

Plain functions and the widgets; ``__init__.py`` wires them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from playground.config import PRECISIONS, SettingsError, check_precision, private
from playground.presets import Preset
from playground.store import Belongings, Group, RunStore
from playground.ui import dialog, figures, form, recorded, text
from playground.ui.panels import chip, overall
from playground.ui.text import history as words
from playground.ui.text import labels
from playground.ui.widgets import Widgets

CHANGEABLE = ("model", "dataset", "precisions", "seeds", *form.SETTINGS)
"""What may be another when a comparison is run again: everything but its name."""


@dataclass(frozen=True)
class Panel(Widgets):
    """The widgets, in the order in which ``updates`` fills them."""

    column: gr.Column
    heading: gr.HTML
    title: gr.Textbox
    note: gr.Textbox
    resume: gr.Button


@dataclass(frozen=True)
class Actions:
    """What can be pressed, and what is read when it is."""

    close: gr.Button
    save: gr.Button
    delete: gr.Button
    setting: gr.Dropdown
    value: gr.Textbox
    again: gr.Button


def build() -> tuple[Panel, Actions]:
    """Draws the panel, hidden; call it inside ``gr.Blocks``."""
    with gr.Column(visible=False, elem_id="managed", elem_classes="sheet") as column:
        with gr.Row(elem_classes="managed-head"):
            heading = gr.HTML("", elem_id="managed-heading", apply_default_css=False)
            close = gr.Button(words.CLOSE, size="sm", elem_id="managed-close")
        title = gr.Textbox(label=words.TITLE, elem_id="managed-title", max_lines=1)
        note = gr.Textbox(
            label=words.NOTE, info=words.NOTE_INFO, lines=3, max_lines=8, elem_id="managed-note"
        )
        save = gr.Button(words.SAVE, size="sm", elem_id="managed-save")
        resume = gr.Button(words.RESUME, size="sm", variant="primary", elem_id="managed-resume")
        gr.HTML(f'<h4 class="eyebrow">{words.AGAIN_HEADING}</h4>', apply_default_css=False)
        setting = gr.Dropdown(
            [(label_of(key), key) for key in CHANGEABLE],
            value=None,
            label=words.AGAIN_SETTING,
            elem_id="again-setting",
        )
        value = gr.Textbox(label=words.AGAIN_VALUE, max_lines=1, elem_id="again-value")
        again = gr.Button(words.AGAIN, size="sm", elem_id="again-fill")
        delete = gr.Button(words.DELETE, size="sm", variant="stop", elem_id="managed-delete")
    panel = Panel(column, heading, title, note, resume)
    return panel, Actions(close, save, delete, setting, value, again)


def updates(group: Group | None, typing: bool = False) -> list[Any]:
    """What each widget of the panel becomes; without a comparison it is closed.

    Args:
        typing: it is shown already: name and note stay as they were typed, saved or not.
    """
    if group is None:
        return [gr.Column(visible=False), "", "", "", gr.Button(visible=False)]
    resumable = any(run.why_not_resumable is None for run in group.runs)
    return [
        gr.Column(visible=True),
        _heading(group),
        gr.skip() if typing else group.title,
        gr.skip() if typing else group.note,
        gr.Button(visible=resumable),
    ]


def _heading(group: Group) -> str:
    state = chip(overall({run.status for run in group.runs}))
    link = f'<a href="?group={escape(group.id)}">{words.OPEN}</a>'
    return (
        f"<h3>{escape(recorded.titled(group.title))}</h3><p>{state} {escape(group.id)} "
        f"<i>·</i> {figures.moment(group.created_at)} <i>·</i> {link}</p>"
    )


def goes(group: Group, found: Belongings) -> str:
    """The question before a comparison is deleted: what goes with it."""
    runs = words.ONE_RUN if found.runs == 1 else words.SEVERAL_RUNS.format(count=found.runs)
    adapters = {0: words.NO_ADAPTER, 1: words.ONE_ADAPTER}.get(
        found.adapters, words.SEVERAL_ADAPTERS.format(count=found.adapters)
    )
    size = f"{found.megabytes:,.1f}"
    return dialog.question(
        words.DELETE_HEADING.format(title=recorded.titled(group.title)),
        words.DELETE_GOES.format(runs=runs, adapters=adapters, size=size),
        words.DELETE_FOR_GOOD,
        words.KEEP,
    )


def label_of(key: str) -> str:
    """What the form calls a setting."""
    names = {
        "model": text.MODEL,
        "dataset": text.DATASET,
        "precisions": text.PRECISIONS,
        "seeds": text.SEEDS,
    }
    return names.get(key) or labels.LABELS[key]


def now(group: Group, key: str, home: Path) -> str:
    """The value that a comparison had, as the form shows it."""
    return shown(key, form.values(form.preset_of(group, home))[key])


def shown(key: str, value: Any) -> str:
    if key == "precisions":
        return ", ".join(PRECISIONS[name].label for name in value)
    return private(form.plain(value)) or words.NOTHING


def with_one_change(group: Group, key: str | None, typed: str, home: Path) -> tuple[Preset, str]:
    """The comparison's settings with one of them another, and a sentence about it.

    Raises:
        SettingsError: nothing was chosen, nothing is changed by it, or the value cannot be used.
    """
    if key not in CHANGEABLE:
        raise SettingsError(words.AGAIN_NOT_CHOSEN)
    preset = form.preset_of(group, home)
    filled = form.values(preset)
    old = shown(key, filled[key])
    if key == "precisions":
        names = {info.label.lower(): name for name, info in PRECISIONS.items()}
        asked = [part.strip() for part in typed.split(",") if part.strip()]
        filled[key] = [check_precision(names.get(part.lower(), part)) for part in asked]
    else:
        filled[key] = typed.strip()
    changed = form.read(preset.name, filled, home)
    changed = replace(changed, name=preset.name)
    if (changed.config, changed.precisions, changed.seeds) == (
        preset.config,
        preset.precisions,
        preset.seeds,
    ):
        raise SettingsError(words.AGAIN_SAME.format(label=label_of(key), value=old))
    new = shown(key, form.values(changed)[key])
    said = words.AGAIN_FILLED.format(
        title=recorded.titled(group.title), label=label_of(key), new=new, old=old
    )
    return changed, said


def find(store: RunStore, group_id: str | None) -> Group | None:
    """The comparison, or None where none is chosen or it is gone."""
    if group_id is None:
        return None
    try:
        return store.get_group(group_id)
    except SettingsError:
        return None
