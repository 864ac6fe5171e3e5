"""The Compare page: set a comparison up, and hand what it says to ``results`` to be shown.

Handlers are thin: they read their inputs, call a plain function, and return updates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import gradio as gr
from starlette.routing import Route

from playground.config import SettingsError
from playground.fit.background import Estimates
from playground.hardware import Device
from playground.launcher import Launcher
from playground.presets import Preset
from playground.preview import ask
from playground.store import Group, RunStore
from playground.ui import (
    cards,
    data,
    fit,
    form,
    guard,
    models,
    news,
    panels,
    preview,
    recorded,
    remembered,
    results,
    saving,
    text,
    visitors,
    wrong,
)
from playground.ui.quiet import QUIET
from playground.ui.scenes import Scenes
from playground.ui.watch import Scene

# Below the form, or above what is seen of it: the results are brought into view once it started.
_SHOW_RESULTS = """() => {
  const failed = document.querySelector("#notice .is-error");
  const target = document.getElementById(failed ? "notice" : "results");
  const unseen = innerWidth <= 1000 || target.getBoundingClientRect().top < 0;
  if (failed || unseen) target.scrollIntoView({block: failed ? "center" : "start"});
}"""
# The tab has to have come up, and the field's section to have unfolded, before it can be shown.
_SHOW_CHANGED = """() => {
  const until = Date.now() + 5000;
  const show = () => {
    const field = document.querySelector("#form .is-changed");
    if (field?.getBoundingClientRect().height) {
      field.scrollIntoView({block: "center"});
      field.querySelector("input, textarea")?.focus({preventScroll: true});
    } else if (Date.now() < until) requestAnimationFrame(show);
  };
  show();
}"""
_SHOW_FORM = """() => document.getElementById("form").scrollIntoView({block: "start"})"""


def start(
    store: RunStore, launcher: Launcher, base: str, filled: dict[str, Any]
) -> tuple[Group, bool]:
    """Starts what the form asks for.

    Returns:
        The comparison, and whether it is a new one: the same one asked for twice is one.
    Raises:
        SettingsError: something in the form cannot be used.
    """
    preset = form.read(base, filled, store.home)
    before = {run.group_id for run in store.live()}
    group = launcher.start(preset, title=filled["title"].strip() and filled["title"])
    return group, group.id not in before


@dataclass(frozen=True)
class Composer:
    """The form, for another page to fill.

    Attributes:
        fill: ``fill(preset, said, changed=key)`` gives the updates of ``outputs``; ``said`` is HTML
            for its notice, and the field of the setting ``changed`` is marked and unfolded.
        news: the address at which pages ask what is new.
        show_changed: script that brings the marked field into view.
    """

    fill: Callable[..., list[Any]]
    outputs: list[Any]
    news: Route
    show_changed: str = _SHOW_CHANGED


def build(
    app: gr.Blocks, store: RunStore, launcher: Launcher, presets: list[Preset], device: Device
) -> Composer:
    """Lays the page out and wires it; call it inside ``app``."""
    with gr.Row(elem_id="columns"):
        with gr.Column(elem_id="setup"):
            shown_cards = cards.build(presets, store, device)
            with gr.Column(elem_id="form", elem_classes="sheet"):
                based = gr.HTML(_based(presets[0]), apply_default_css=False)
                fields = form.build(presets[0])
                notice = wrong.build()
                go = gr.Button(text.START, variant="primary", elem_id="start")
                saved = saving.build()
        with gr.Column(elem_id="results"):
            page, refused = results.build(store)

    def fill(preset: Preset, said: str = "", changed: str | None = None) -> list[Any]:
        folds = [
            gr.Accordion(open=True) if changed in form.advanced(section) else gr.skip()
            for section in fields.folds
        ]
        name = preset.name if preset.own else ""
        return [_based(preset), preset.name, *form.filled(preset, changed), *folds, name, said]

    def drawn(scene: Scene, may_change: bool) -> list[Any]:
        return results.updates(scene, may_change, store.home)

    scenes = Scenes(store, launcher.log_tail, drawn)
    asker = news.build(page.outputs)
    outputs = [asker, *page.outputs]

    def show(group_id: str | None, may_change: bool = True) -> list[Any]:
        stamp, shown, *rest = scenes.show(group_id, may_change)
        return [news.shown(shown, stamp), shown, *rest]

    def on_open(request: gr.Request) -> list[Any]:
        asked = request.query_params.get("group") or None
        return show(asked, guard.may_change(request))

    def on_cards(request: gr.Request) -> list[str]:
        presets = [card.preset for card in shown_cards.ours]
        return cards.facts(presets, store, device, guard.may_change(request))

    def on_start(base: str, *answers: Any) -> list[Any]:
        try:
            filled_in = dict(zip(form.KEYS, answers, strict=True))
            group, new = start(store, launcher, base, filled_in)
        except SettingsError as error:
            said = models.elsewhere(str(error), form.plain(filled_in["model"]))
            return [wrong.told(str(error), said), *[gr.skip()] * len(outputs)]
        said = "" if new else panels.notice(text.STARTED_AGAIN, "info")
        return [said, *show(group.id)]

    def on_preview(request: gr.Request, base: str, *answers: Any) -> Iterator[str]:
        yield preview.waiting()
        filled_in = dict(zip(form.KEYS, answers, strict=True))
        may_change = guard.may_change(request)
        try:
            visitors.refuse_model(form.plain(filled_in["model"]), may_change)
            visitors.refuse_dataset(form.plain(filled_in["dataset"]), may_change)
            chosen = form.read(base, filled_in, store.home)
            visitors.refuse_unfetched(chosen.config.model, may_change)
            found = ask(chosen.config, home=store.home, offline=not may_change)
            yield preview.panel(found)
        except SettingsError as error:
            model = form.plain(filled_in["model"])
            said = models.elsewhere(str(error), model, stranger=not may_change)
            yield panels.notice(said)

    def on_mapping(request: gr.Request, looked: str, base: str, *answers: Any) -> Iterator[str]:
        """A preview that is open follows what the columns are said to mean."""
        if looked:
            yield from on_preview(request, base, *answers)

    def asking(act: Callable[[str], object]) -> Callable[[str], list[Any]]:
        """A handler that asks the launcher for something; what it refuses is said on the page."""

        def handler(shown: str) -> list[Any]:
            try:
                act(shown)
            except SettingsError as error:
                return [panels.notice(str(error)), *show(shown)]
            return ["", *show(shown)]

        return handler

    def on_again(shown: str) -> list[Any]:
        group = store.get_group(shown)
        said = panels.notice(text.SET_UP_FROM.format(title=recorded.titled(group.title)), "info")
        return fill(form.preset_of(group, store.home), said)

    filled = [
        based,
        fields.base,
        *fields.fields.values(),
        *fields.folds.values(),
        saved.name,
        notice,
    ]
    begin = guard.changes(on_start)
    go.click(begin, fields.inputs, [notice, *outputs], **QUIET).then(js=_SHOW_RESULTS)
    # A child computes it; more than two of them would take the cores from whatever trains.
    child = {"concurrency_limit": 2, "concurrency_id": "preview", **QUIET}
    # looked: the dataset whose rows the panel shows, or will in a moment; empty: none's.
    panel, looked, dataset = fields.preview.panel, gr.State(""), fields.fields["dataset"]
    fields.preview.button.click(lambda name: name, dataset, looked, queue=False, **QUIET)
    fields.preview.button.click(guard.costly(on_preview), fields.inputs, panel, **child)
    follow = guard.costly(on_mapping)
    models.wire(app, fields.picker, store.home)
    for mapped in data.wire(app, fields.data, fields.fields, store.home):
        mapped.then(follow, [looked, *fields.inputs], panel, **child)
    # What another dataset's rows were is no preview of this one's. A name that was just typed is
    # told of when its field is left, by which its preview may have been asked for.
    dataset.change(
        lambda name, shown: gr.skip() if name == shown else ("", ""),
        [dataset, looked],
        [panel, looked],
        queue=False,
        **QUIET,
    )
    fit.wire(
        app,
        fields.fit,
        fields.picker.fit,
        fields.fields,
        fields.base,
        lambda base, filled: form.partly(base, filled, store.home),
        Estimates(store.home),
    )
    for card in shown_cards.ours:
        fill_it = partial(fill, card.preset)
        if card.run:
            card.run.click(fill_it, None, filled, queue=False, **QUIET).then(
                begin, fields.inputs, [notice, *outputs], **QUIET
            ).then(js=_SHOW_RESULTS)
        card.adjust.click(fill_it, None, filled, queue=False, **QUIET).then(js=_SHOW_FORM)
    own = shown_cards.wire(store, device, fill, filled, on_start, fields.inputs, outputs)
    own.started.then(js=_SHOW_RESULTS)
    own.adjusted.then(js=_SHOW_FORM)
    saving.wire(saved, shown_cards.own, fields.inputs, store, device)
    app.load(on_cards, None, shown_cards.outputs, **QUIET)
    remembered.wire(app, based, fields.base, fields.fields, store.home, _based)
    page.again.click(on_again, page.shown, filled, queue=False, **QUIET).then(js=_SHOW_FORM)
    acts = {page.stop: launcher.stop, page.pause: launcher.pause, page.resume: launcher.resume}
    for button, act in acts.items():
        button.click(guard.changes(asking(act)), page.shown, [refused, *outputs], **QUIET)
    app.load(on_open, None, outputs, queue=False, **QUIET)
    return Composer(fill, filled, news.route(scenes))


def _based(preset: Preset) -> str:
    said, name = text.BASED_ON.format(name=preset.name), escape(preset.name)
    return f'<h3>{text.FORM_HEADING}</h3><p class="based" data-base="{name}">{escape(said)}</p>'
