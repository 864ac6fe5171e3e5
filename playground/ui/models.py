"""The model's part of the form: a list that can be searched, and what is known of the chosen one.

Nothing here asks the hub: what is told comes from the catalog and from files on this machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr
from huggingface_hub import constants

from playground.catalog import ModelEntry, list_models, resolve_model
from playground.catalog.models import OWN_FOLDER, described
from playground.catalog.words import in_bytes, in_parameters
from playground.config import SettingsError, private
from playground.data.hub import page_of
from playground.ui import guard, panels, visitors
from playground.ui import text as page_text
from playground.ui.labels import labelled
from playground.ui.quiet import QUIET
from playground.ui.text import models as text


@dataclass(frozen=True)
class Picker:
    """The widgets. fit: below the card, for whether the model fits each precision.

    listed: what the field offers until ``wire`` has looked again.
    """

    listed: list[ModelEntry]
    field: gr.Dropdown
    card: gr.HTML
    fit: gr.HTML


def build(value: str) -> Picker:
    """Draws it, with the model ``value`` chosen; call it inside ``gr.Blocks``."""
    listed = list_models()
    field = gr.Dropdown(
        choices(listed),
        value=value,
        label=page_text.MODEL,
        info=page_text.MODEL_INFO,
        allow_custom_value=True,
        elem_id="field-model",
    )
    card = gr.HTML(told(value, stranger=True), elem_id="model-card", apply_default_css=False)
    return Picker(listed, field, card, gr.HTML("", elem_id="model-fit", apply_default_css=False))


def wire(app: gr.Blocks, picker: Picker, home: Path) -> None:
    """Keeps the card on the chosen model, and the list on what is here when the page is opened."""

    def on_model(name: str | None, request: gr.Request) -> str:
        return told(name or "", stranger=not guard.may_change(request))

    def on_open(request: gr.Request) -> gr.Dropdown | dict[str, Any]:
        if not guard.may_change(request):  # the list as it was when the page was built serves
            return gr.skip()
        here = list_models([home / OWN_FOLDER])
        # The same list once more would undo a search in it that has begun meanwhile.
        return gr.skip() if here == picker.listed else gr.Dropdown(choices(here))

    quiet = {"queue": False, **QUIET}
    gr.on([picker.field.change, app.load], on_model, picker.field, picker.card, **quiet)
    app.load(on_open, None, picker.field, **quiet)


def choices(models: list[ModelEntry]) -> list[tuple[str, str]]:
    """Labels and ids, in the order of the list."""
    return [(_choice(entry), entry.id) for entry in models]


def told(name: str, *, stranger: bool = False) -> str:
    """What is known of the model that ``name`` means, or the sentence why it means none.

    Args:
        stranger: a visitor, who learns nothing of this machine's folders.
    """
    name = name.strip()
    if not name:
        return ""
    try:
        return card(described(_meant(name, stranger)))
    except SettingsError as error:
        return panels.notice(str(error))


def elsewhere(sentence: str, name: str, *, stranger: bool = False) -> str:
    """A refusal for another place on the page: what the model's card says already is not repeated.

    Args:
        name, stranger: as of ``told``.
    """
    try:
        if name.strip():
            _meant(name.strip(), stranger)
    except SettingsError as error:
        if str(error) == sentence:
            return text.SEE_MODEL
    return labelled(sentence)


def _meant(name: str, stranger: bool) -> ModelEntry:
    visitors.refuse_model(name, not stranger)
    return resolve_model(name)


def card(entry: ModelEntry) -> str:
    """All that is known of a model, for a person to choose by."""
    place = text.HERE if entry.here else text.TO_FETCH
    badges = [f'<span class="badge{" is-here" if entry.here else ""}">{place}</span>']
    if entry.gated and not entry.here:
        badges.append(f'<span class="badge is-gated">{text.GATED}</span>')
    rows = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in _facts(entry))
    notes = "".join(f'<p class="soft">{note}</p>' for note in _notes(entry))
    title = escape(private(entry.title))
    return (
        f'<div class="model-told"><p><b>{title}</b> {" ".join(badges)}</p><dl>{rows}</dl>'
        f"{notes}</div>"
    )


def _choice(entry: ModelEntry) -> str:
    own_name = entry.hub_id is None and entry.title != entry.id
    name = f"{entry.title} ({private(entry.id)})" if own_name else private(entry.id)
    size = "?" if entry.size_bytes is None else in_bytes(entry.size_bytes)
    words = {"name": name, "size": size, "licence": entry.licence}
    if entry.here:
        return text.CHOICE_HERE.format(**words)
    return (text.CHOICE_GATED if entry.gated else text.CHOICE_HUB).format(**words)


def _facts(entry: ModelEntry) -> list[tuple[str, str]]:
    size = None if entry.size_bytes is None else in_bytes(entry.size_bytes)
    count = None if entry.parameters is None else in_parameters(entry.parameters)
    length = entry.max_length and text.TOKENS.format(count=entry.max_length)
    template = {True: text.OWN_TEMPLATE, False: text.NO_TEMPLATE, None: None}[entry.chat]
    known = [
        (text.PARAMETERS, count),
        (text.SIZE, size),
        (text.LICENCE, entry.licence),
        (text.LENGTH, length),
        (text.TEMPLATE, template),
        (text.WHERE, text.PLACES[entry.where]),
    ]
    return [(name, escape(value)) for name, value in known if value]


def _notes(entry: ModelEntry) -> list[str]:
    if entry.here:
        return []
    notes = []
    if entry.parameters is None:
        notes.append(escape(text.UNKNOWN))
    if entry.gated:
        page = f'<a href="{escape(page_of(entry.id))}" target="_blank" rel="noreferrer">'
        command = "<code>hf auth login</code>"
        notes.append(
            text.HOW_TO_LOG_IN.format(
                page=f"{page}{text.PAGE}</a>", command=command, variable="<code>HF_TOKEN</code>"
            )
        )
    elif entry.gated is None and entry.parameters is not None:
        notes.append(escape(text.MAY_ASK))
    if constants.HF_HUB_OFFLINE:
        notes.append(escape(text.OFFLINE))
    return notes
