"""The presets as cards: ours for any machine, ours for a GPU, and the person's own.

Ours are Gradio buttons, drawn once. One's own come and go while the page is open, so they are HTML
whose buttons tell Python their name: ``select`` starts, ``edit`` fills the form, ``delete`` asks,
and ``input`` asks for another name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr
from gradio.events import Dependency

from playground import language
from playground.catalog import resolve_model
from playground.config import SettingsError
from playground.hardware import Device
from playground.own_presets import delete_preset, own_presets, rename_preset
from playground.presets import Preset, load_preset
from playground.store import RunStore
from playground.ui import dialog, expected, guard, panels, recorded
from playground.ui.quiet import QUIET
from playground.ui.text import cards as text
from playground.ui.text import share as share_text

_SCRIPT = """
element.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (button) trigger(button.dataset.do, { name: button.dataset.name });
});
"""


@dataclass(frozen=True)
class Card:
    """One of ours. run: None where one click would begin what this machine takes days for."""

    preset: Preset
    run: gr.Button | None
    adjust: gr.Button
    facts: gr.HTML


@dataclass(frozen=True)
class Chains:
    """What follows once one of one's own was started, or has filled the form."""

    started: Dependency
    adjusted: Dependency


@dataclass(frozen=True)
class Cards:
    """Every card. own: HTML, to be filled with ``yours``.

    question: asks before one is deleted; entry: asks for another name.
    """

    ours: list[Card]
    own: gr.HTML
    question: gr.HTML
    entry: gr.HTML

    @property
    def outputs(self) -> list[gr.HTML]:
        """What ``facts`` fills, in its order."""
        return [*(card.facts for card in self.ours), self.own]

    def wire(
        self,
        store: RunStore,
        device: Device,
        fill: Callable[[Preset], list[Any]],
        filled: Sequence[Any],
        on_start: Callable[..., list[Any]],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
    ) -> Chains:
        """One's own presets are started, adjusted and deleted by the name that their card tells.

        Args:
            fill: the updates of ``filled``, whose last is the form's notice.
            on_start: the handler of Start, from ``inputs`` to that notice and ``outputs``.
        """
        usable, named, notice = gr.State(False), gr.State(""), filled[-1]

        def on_fill(asked: gr.EventData) -> list[Any]:
            try:
                preset = load_preset(_name(asked), home=store.home)
            except SettingsError as error:
                said = panels.notice(str(error))
                return [*[gr.skip()] * (len(filled) - 1), said, False]
            return [*fill(preset), True]

        def on_start_own(usable: bool, *answers: Any) -> list[Any]:
            return on_start(*answers) if usable else [gr.skip()] * (len(outputs) + 1)

        def on_ask(asked: gr.EventData) -> tuple[str, str]:
            return ask(_name(asked)), _name(asked)

        def on_delete(name: str) -> list[str]:
            try:
                delete_preset(name, store.home)
                said = panels.notice(text.DELETED.format(name=name), "info")
            except SettingsError as error:
                said = panels.notice(str(error))
            return [said, yours(store, device)]

        def on_ask_name(asked: gr.EventData) -> tuple[str, str]:
            name = _name(asked)
            heading = text.RENAME_HEADING.format(name=name)
            said = dialog.entry(heading, text.SAVE_NAME_INFO, name, text.RENAME, text.KEEP)
            return said, name

        def on_rename(name: str, told: gr.EventData) -> list[str]:
            try:
                new = rename_preset(name, dialog.typed(told), store.home)
                said = panels.notice(text.RENAMED.format(name=name, new=new), "info")
            except SettingsError as error:
                said = panels.notice(str(error))
            return [said, yours(store, device)]

        filling = {"queue": False, **QUIET}
        started = self.own.select(on_fill, None, [*filled, usable], **filling).then(
            guard.changes(on_start_own), [usable, *inputs], [notice, *outputs], **QUIET
        )
        adjusted = self.own.edit(on_fill, None, [*filled, usable], **filling)
        self.own.delete(guard.changes(on_ask), None, [self.question, named], **QUIET)
        self.question.delete(guard.changes(on_delete), named, [notice, self.own], **QUIET)
        self.own.input(guard.changes(on_ask_name), None, [self.entry, named], **QUIET)
        self.entry.delete(guard.changes(on_rename), named, [notice, self.own], **QUIET)
        return Chains(started, adjusted)


def _name(asked: gr.EventData) -> str:
    return str(asked._data.get("name", ""))


def build(presets: Sequence[Preset], store: RunStore, device: Device) -> Cards:
    """Draws them; call it inside ``gr.Blocks``."""
    gpu = device.kind == "cuda"
    small = [preset for preset in presets if preset.machine == "any"]
    large = sorted((p for p in presets if p.machine == "gpu"), key=_parameters)
    _eyebrow(text.ANY_MACHINE)
    ours = [_card(preset, store, device, startable=True) for preset in small]
    with gr.Accordion(text.FOR_A_GPU, open=gpu, elem_id="gpu-presets", elem_classes="fold"):
        if not gpu:
            why = escape(text.NO_GPU.format(reason=recorded.said(device.reason)))
            gr.HTML(f'<p class="why">{why}</p>', apply_default_css=False)
        with gr.Column(elem_classes="preset-cards"):
            ours += [_card(preset, store, device, startable=gpu) for preset in large]
    _eyebrow(text.YOURS)
    own = gr.HTML("", js_on_load=_SCRIPT, elem_id="own-presets", apply_default_css=False)
    return Cards(ours, own, dialog.build("preset-question"), dialog.build("preset-name-question"))


def _parameters(preset: Preset) -> int:
    return resolve_model(preset.config.model).parameters or 0


def _eyebrow(words: str) -> None:
    gr.HTML(f'<h2 class="eyebrow">{words}</h2>', apply_default_css=False)


def _card(plain: Preset, store: RunStore, device: Device, startable: bool) -> Card:
    preset = recorded.told(plain)
    with gr.Column(elem_classes="sheet preset"):
        gr.HTML(
            f"<h3>{escape(preset.title)}</h3><p>{prose(preset.summary)}</p>",
            apply_default_css=False,
        )
        # Told anew whenever the page is opened; it is there from the start, so that no card moves.
        facts = gr.HTML(_known(plain, store, device), apply_default_css=False)
        with gr.Row(elem_classes="actions"):
            run = None
            if startable:
                start = text.START.format(name=preset.name)
                run = gr.Button(start, variant="primary", size="sm", elem_classes="starts")
            adjust = gr.Button(text.ADJUST, size="sm")
    return Card(plain, run, adjust, facts)


def _known(preset: Preset, store: RunStore, device: Device) -> str:
    """What is known of it on this machine and, folded, what is written about it."""
    told = recorded.told(preset)
    words = f"<p>{prose(told.expect)}</p>" if told.expect else ""
    fold = f"<details><summary>{text.EXPECT}</summary>{words}</details>" if words else ""
    return f"{expected.facts(preset, store, device)}{fold}"


def prose(words: str) -> str:
    """A preset's words as HTML."""
    return language.through(_prose, words)


def _prose(words: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words))


def facts(
    presets: Sequence[Preset], store: RunStore, device: Device, may_change: bool = True
) -> list[str]:
    """What is known of each of ours on this machine, and the person's own as they are now."""
    return [*(_known(p, store, device) for p in presets), yours(store, device, may_change)]


def yours(store: RunStore, device: Device, may_change: bool = True) -> str:
    """The person's own presets as HTML; one that cannot be read says why."""
    good, wrong = own_presets(store.home)
    shown = [_own_card(preset, store, device, may_change) for preset in good]
    shown += [_broken_card(name, why, may_change) for name, why in wrong.items()]
    return "".join(shown) or f'<p class="why">{text.YOURS_NONE}</p>'


def _own_card(preset: Preset, store: RunStore, device: Device, may_change: bool) -> str:
    said = preset.summary or text.NO_WORDS.format(file=f"`presets/{preset.name}.yaml`")
    start = _button("select", preset.name, escape(text.START.format(name=preset.name)), "primary")
    if not may_change:
        start = _button("select", preset.name, share_text.LOG_IN_TO_START, "primary", " disabled")
    return (
        f'<article class="sheet preset own"><h3>{escape(preset.title)}</h3><p>{prose(said)}</p>'
        f"{_known(preset, store, device)}<div>{start}"
        f"{_button('edit', preset.name, text.ADJUST)}"
        f"{_manage(preset.name) if may_change else ''}</div></article>"
    )


def _broken_card(name: str, why: str, may_change: bool) -> str:
    return (
        f'<article class="sheet preset own"><h3>{escape(name)}</h3>'
        f'<p class="wrong">{escape(why)}</p>'
        f"<div>{_manage(name) if may_change else ''}</div></article>"
    )


def _manage(name: str) -> str:
    rename, delete = (escape(said.format(name=name)) for said in (text.RENAME_ONE, text.DELETE_ONE))
    return _button("input", name, text.RENAME, "", f' aria-label="{rename}"') + _button(
        "delete", name, text.DELETE, "stop", f' aria-label="{delete}"'
    )


def _button(do: str, name: str, words: str, kind: str = "", more: str = "") -> str:
    return (
        f'<button type="button" class="{kind}" data-do="{do}" data-name="{escape(name)}"{more}>'
        f"{words}</button>"
    )


def ask(name: str) -> str:
    """The question before one of a person's own is deleted."""
    heading = text.DELETE_HEADING.format(name=name)
    return dialog.question(heading, text.DELETE_SAID, text.DELETE_FOR_GOOD, text.KEEP)
