"""The form saved as a preset of one's own, over an earlier one of that name once that is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from playground.commands import command
from playground.config import SettingsError
from playground.hardware import Device
from playground.own_presets import is_own, save_preset
from playground.store import RunStore
from playground.ui import cards, dialog, form, guard, panels
from playground.ui.labels import labelled
from playground.ui.quiet import QUIET
from playground.ui.text import cards as text


@dataclass(frozen=True)
class Saving:
    """The widgets. question: asks before one that is there is written over."""

    name: gr.Textbox
    button: gr.Button
    said: gr.HTML
    question: gr.HTML


def build() -> Saving:
    """Draws them, folded; call it inside ``gr.Blocks``."""
    with gr.Accordion(text.SAVE_HEADING, open=False, elem_classes="fold"):
        name = gr.Textbox(
            label=text.SAVE_NAME, info=text.SAVE_NAME_INFO, max_lines=1, elem_id="preset-name"
        )
        button = gr.Button(text.SAVE, size="sm", elem_id="save-preset")
        said = gr.HTML("", elem_id="saved", apply_default_css=False)
    return Saving(name, button, said, dialog.build("replace-question"))


def wire(
    saving: Saving, own: gr.HTML, inputs: Sequence[Any], store: RunStore, device: Device
) -> None:
    """Args: own: the cards of one's own presets. inputs: the form's."""

    def save(name: str, replace: bool, base: str, answers: Sequence[Any]) -> list[Any]:
        filled_in = dict(zip(form.KEYS, answers, strict=True))
        try:
            preset = form.read(base, filled_in, store.home)
            title = filled_in["title"] or ""
            path = save_preset(preset, name or "", store.home, title, replace=replace)
        except SettingsError as error:
            return [panels.notice(labelled(str(error))), gr.skip(), gr.skip()]
        run_it = command("compare", path.stem, home=store.home)
        said = text.SAVED.format(name=path.stem, command=run_it)
        return [panels.notice(said, "info"), cards.yours(store, device), gr.skip()]

    def on_save(name: str, base: str, *answers: Any) -> list[Any]:
        if not is_own((name or "").strip(), store.home):
            return save(name, False, base, answers)
        heading = text.REPLACE_HEADING.format(name=name.strip())
        asked = dialog.question(heading, text.REPLACE_SAID, text.REPLACE, text.KEEP)
        return ["", gr.skip(), asked]

    def on_replace(name: str, base: str, *answers: Any) -> list[Any]:
        return save(name, True, base, answers)

    asked, told = [saving.name, *inputs], [saving.said, own, saving.question]
    gr.on([saving.button.click, saving.name.submit], guard.changes(on_save), asked, told, **QUIET)
    saving.question.delete(guard.changes(on_replace), asked, told, **QUIET)
