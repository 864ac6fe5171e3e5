"""The form: which settings it has, how they are shown, and how what was typed becomes a Preset.

Numbers are text boxes on purpose: ``0,0002`` or ``nan`` must arrive as typed,
to be refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import gradio as gr

from playground import commands
from playground.catalog import list_datasets, resolve_dataset, resolve_model
from playground.config import (
    PRECISIONS,
    SECTIONS,
    RunConfig,
    SettingsError,
    field_of,
    private,
    setting_path,
)
from playground.data.check import check_rows
from playground.presets import Preset, load_preset
from playground.store import Group
from playground.ui import data, fit, models, preview, text
from playground.ui.text import cards as cards_text
from playground.ui.text import labels

MAIN = ("max_steps", "learning_rate", "micro_batch_size", "max_seq_len", "lora_r")
"""Settings that most people touch; all others are folded away."""

FALLBACK_PRESET = "quick"
"""What a command is said in terms of when a comparison's own preset is gone."""


def advanced(section: str) -> list[str]:
    """The settings of a section that are folded away, in the order of the config."""
    return [name for name in SECTIONS[section].model_fields if name not in MAIN]


SETTINGS = (*MAIN, *(name for section in SECTIONS for name in advanced(section)))
KEYS = ("title", "model", "dataset", "precisions", "seeds", *SETTINGS)
"""Every field of the form, in the order in which handlers take and return their values."""


@dataclass(frozen=True)
class Form:
    """The widgets, by key; ``base`` holds the name of the preset that the form started from."""

    base: gr.State
    fields: dict[str, Any]
    picker: models.Picker
    data: data.DataPart
    preview: preview.Preview
    fit: fit.FitPart
    folds: dict[str, gr.Accordion]

    @property
    def inputs(self) -> list[Any]:
        return [self.base, *self.fields.values()]


# Values.


def typed(value: Any) -> Any:
    """A setting as the form shows it: text, or a tick for yes and no."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return value
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value)


def plain(value: Any) -> str:
    """What the form holds as the text that ``--set`` would take."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value).strip()


def setting(config: RunConfig, key: str) -> Any:
    """``max_steps`` -> ``config.training.max_steps``."""
    value: Any = config
    for part in setting_path(key):
        value = getattr(value, part)
    return value


def values(preset: Preset) -> dict[str, Any]:
    """The form's values for a preset, by key."""
    settings = {key: typed(setting(preset.config, key)) for key in SETTINGS}
    return {
        "title": "",
        # A path under the user's home starts with ~, which we expand ourselves.
        "model": private(preset.config.model),
        "dataset": private(preset.config.dataset),
        "precisions": list(preset.precisions),
        "seeds": str(preset.seeds),
        **settings,
    }


def filled(preset: Preset, changed: str | None = None) -> list[dict[str, Any]]:
    """The update of each field, in their order; that of the setting ``changed`` is marked."""
    return [
        gr.update(value=value, elem_classes=["is-changed"] if key == changed else [])
        for key, value in values(preset).items()
    ]


def read(base: str, filled: Mapping[str, Any], home: Path | None = None) -> Preset:
    """What the form asks for: the preset ``base`` with everything that was changed.

    Args:
        home: where ``base`` may be one of the person's own.
    Raises:
        SettingsError: one sentence for each thing that is wrong: value, reason, remedy.
    """
    shown = values(load_preset(base, home=home))
    changed = {
        key: plain(filled[key])
        for key in ("model", "dataset", "seeds", *SETTINGS)
        if plain(filled[key]) != plain(shown[key])
    }
    wrong = [] if filled["precisions"] else [text.NO_PRECISION]
    if filled["precisions"] and set(filled["precisions"]) != set(shown["precisions"]):
        # Ticked in any order; the widest format first is the yardstick of the verdict.
        changed["precisions"] = ",".join(p for p in PRECISIONS if p in filled["precisions"])
    preset = _tried(wrong, load_preset, base, changed, home)
    for key, resolve in (("model", resolve_model), ("dataset", resolve_dataset)):
        if plain(filled[key]):  # an empty one has been refused already
            _tried(wrong, resolve, plain(filled[key]))
    if preset is None or wrong:
        raise SettingsError(" ".join(wrong))
    check_rows(resolve_dataset(preset.config.dataset), preset.config)
    return preset


def partly(base: str, filled: Mapping[str, Any], home: Path | None = None) -> Preset:
    """The preset ``base`` with these fields alone as they are, in every precision that may be.

    Raises:
        SettingsError: as ``read``, of these fields; the dataset is not looked at.
    """
    shown = values(load_preset(base, home=home))
    changed = {
        key: plain(value)
        for key, value in filled.items()
        if key != "precisions" and plain(value) != plain(shown[key])
    }
    preset = load_preset(base, changed, home)
    return replace(preset, precisions=tuple(filter(_may_run(preset.config), PRECISIONS)))


def _may_run(config: RunConfig) -> Callable[[str], bool]:
    def may(precision: str) -> bool:
        try:
            config.with_precision(precision)
        except SettingsError:  # it cannot heal to what it is set to
            return False
        return True

    return may


def _tried(wrong: list[str], check: Callable[..., Any], *values: Any) -> Any:
    """What ``check`` returns, or None and one more thing that is wrong."""
    try:
        return check(*values)
    except SettingsError as error:
        wrong.append(str(error))
        return None


# The same in a terminal.


def base_of(group: Group, home: Path | None = None) -> Preset:
    """The preset that a comparison was started from, or another where that is gone."""
    try:
        return load_preset(group.preset, home=home)
    except SettingsError:
        return load_preset(FALLBACK_PRESET)


def preset_of(group: Group, home: Path | None = None) -> Preset:
    """A comparison's own settings, to fill the form with; each precision has a run a seed."""
    precisions = tuple(dict.fromkeys(run.precision for run in group.runs))
    return replace(
        base_of(group, home),
        config=group.runs[0].config,
        precisions=precisions,
        seeds=len(group.runs) // len(precisions),
    )


def command(group: Group, home: Path | None = None) -> str:
    """The terminal command that starts the same comparison."""
    preset, asked = base_of(group, home), preset_of(group, home)
    overrides = {}
    for key in ("model", "dataset", *SETTINGS):
        value = setting(asked.config, key)
        if value != setting(preset.config, key):
            overrides[key] = private(plain(typed(value))) or "null"
    if asked.precisions != preset.precisions:
        overrides["precisions"] = ",".join(asked.precisions)
    words = ["compare", preset.name]
    for key, value in overrides.items():
        words += ["--set", f"{key}={value}"]
    if asked.seeds != preset.seeds:
        words += ["--seeds", str(asked.seeds)]
        overrides["seeds"] = str(asked.seeds)
    if group.title != load_preset(preset.name, overrides, home).title:
        words += ["--title", group.title]
    return commands.command(*words, home=home)


# Widgets.


def build(preset: Preset) -> Form:
    """Draws the form, filled with ``preset``; call it inside ``gr.Blocks``."""
    shown = values(preset)
    base = gr.State(preset.name)
    fields: dict[str, Any] = {}
    with _step(cards_text.STEP_MODEL):
        picker = models.build(shown["model"])
        fields["model"] = picker.field
    with _step(cards_text.STEP_DATA):
        fields["dataset"] = _choice(
            "dataset",
            text.DATASET,
            text.DATASET_INFO,
            [(d.title, d.id) for d in list_datasets()],
            shown,
        )
        described = data.build()
        previewed = preview.build()
    with _step(cards_text.STEP_SETTINGS):
        fields["precisions"] = gr.CheckboxGroup(
            [(info.label, name) for name, info in PRECISIONS.items()],
            value=shown["precisions"],
            label=text.PRECISIONS,
            info=text.PRECISIONS_INFO,
            elem_id="field-precisions",
        )
        fitted = fit.build()
        with gr.Row(elem_classes="grid-2"):
            fields["seeds"] = gr.Textbox(
                value=shown["seeds"],
                label=text.SEEDS,
                info=text.SEEDS_INFO,
                elem_id="field-seeds",
                min_width=120,
                max_lines=1,
            )
            for key in MAIN:
                fields[key] = _widget(key, shown[key])
        fields["title"] = gr.Textbox(
            value="",
            label=text.RUN_TITLE,
            info=text.RUN_TITLE_INFO,
            elem_id="field-title",
            max_lines=1,
        )
    gr.HTML(f'<h4 class="eyebrow">{text.ADVANCED}</h4>', apply_default_css=False)
    folds: dict[str, gr.Accordion] = {}
    for section, name in labels.SECTIONS.items():
        fold = {"elem_classes": "fold", "elem_id": f"advanced-{section}"}
        folds[section] = gr.Accordion(name, open=False, **fold)
        with folds[section], gr.Row(elem_classes="grid-2"):
            for key in advanced(section):
                fields[key] = _widget(key, shown[key])
    ordered = {key: fields[key] for key in KEYS}
    return Form(base, ordered, picker, described, previewed, fitted, folds)


@contextmanager
def _step(name: str) -> Iterator[None]:
    """One of the three, a column of its own where there is room for three."""
    with gr.Column(elem_classes="form-step"):
        gr.HTML(f'<h4 class="step">{name}</h4>', apply_default_css=False)
        yield


def _choice(
    key: str, label: str, info: str, choices: Sequence[tuple[str, str]], shown: Mapping[str, Any]
) -> gr.Dropdown:
    return gr.Dropdown(
        [(f"{title} ({name})" if title != name else name, name) for title, name in choices],
        value=shown[key],
        label=label,
        info=info,
        allow_custom_value=True,
        elem_id=f"field-{key}",
    )


def _widget(key: str, value: Any) -> Any:
    shared = {
        "label": labels.LABELS[key],
        "info": labels.INFO.get(key, field_of(key).description),
        "elem_id": f"field-{key}",
        "min_width": 120,
    }
    annotation = field_of(key).annotation
    if annotation is bool:
        return gr.Checkbox(value=value, **shared)
    if get_origin(annotation) is Literal:
        return gr.Dropdown(list(get_args(annotation)), value=value, filterable=False, **shared)
    if key == "heal_to":
        formats = [(info.label, name) for name, info in PRECISIONS.items()]
        return gr.Dropdown(formats, value=value, filterable=False, **shared)
    return gr.Textbox(value=value, max_lines=1, **shared)
