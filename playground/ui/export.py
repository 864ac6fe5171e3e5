"""The section of Compare that exports a finished run, and the one file that can be downloaded."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.routing import Route

from playground.config import PRECISIONS, SettingsError
from playground.export import KINDS, archive_of, export, exported, folder_of, why_not
from playground.hardware import MIB
from playground.store import Group, Run, RunStore
from playground.ui import figures, gate, guard, recorded
from playground.ui.panels import notice
from playground.ui.quiet import QUIET
from playground.ui.text import export as text

_PATH = "exports/{run_id}/{kind}.zip"


def download(home: Path) -> Route:
    """Serves finished archives by run and kind, and no other file, whatever is asked for."""
    store = RunStore(home)

    def find(run_id: str, kind: str) -> Path:
        if kind not in KINDS:
            raise FileNotFoundError(kind)
        try:
            archive = archive_of(store, run_id, kind)
        except ValueError:
            raise FileNotFoundError(run_id) from None
        if archive.is_symlink():  # ours never is
            raise FileNotFoundError(kind)
        return archive

    return gate.file_route(f"/{_PATH}", find, home / "runs")


def exportable(store: RunStore, group: Group) -> list[Run]:
    return [run for run in group.runs if why_not(store, run) is None]


def _found(store: RunStore, group_id: str) -> Group | None:
    """What is shown; None for nothing, and for what a link names that is not there."""
    try:
        return store.get_group(group_id) if group_id else None
    except SettingsError:
        return None


def named(run: Run, group: Group) -> str:
    """An arm as people tell it apart: with its seed where there are several."""
    label = PRECISIONS[run.precision].label
    if sum(other.precision == run.precision for other in group.runs) == 1:
        return label
    return text.SEED.format(label=label, seed=run.config.training.seed)


def ready(store: RunStore, group: Group) -> str:
    """What of a comparison was built and checked, with a link to each archive."""
    lines = [
        _line(store, group, run, kind)
        for run in exportable(store, group)
        for kind in KINDS
        if exported(folder_of(store, run.id, kind))
    ]
    if not lines:
        return ""
    return f'<h4>{text.READY}</h4><ul class="exports">{"".join(lines)}</ul>'


def _line(store: RunStore, group: Group, run: Run, kind: Any) -> str:
    report, archive = exported(folder_of(store, run.id, kind)), archive_of(store, run.id, kind)
    largest = report["largest"]
    found = text.VERIFIED.format(largest=figures.number(largest, 2))
    said = found if largest else text.VERIFIED_EXACT
    link = f"<span>{text.UNPACKED}</span>"
    if archive.is_file():
        size = text.DOWNLOAD.format(size=figures.number(archive.stat().st_size / MIB, 3))
        # From the page's own address, wherever that is served.
        link = f'<a href="{_PATH.format(run_id=run.id, kind=kind)}" download>{size}</a>'
    what = text.READY_LINE.format(arm=named(run, group), kind=text.KINDS[kind])
    check = escape(recorded.said(report["said"]))
    return (
        f"<li><b>{escape(what)}</b> {link} "
        f'<span class="soft" title="{check}">{escape(said)}</span></li>'
    )


def build(store: RunStore, shown: gr.Textbox, changed: gr.HTML) -> None:
    """Draws the section and wires it; call it where it belongs inside ``gr.Blocks``.

    Args:
        shown: the id of the comparison that is shown.
        changed: changes its value when another comparison is shown, or this one's state changes.
    """
    with gr.Accordion(text.TITLE, open=False, elem_classes="sheet fold", elem_id="export"):
        gr.HTML(f'<p class="soft">{escape(text.INTRO)}</p>', apply_default_css=False)
        empty = gr.HTML("", apply_default_css=False)
        with gr.Column(visible=False) as form:
            arm = gr.Radio([], label=text.ARM, elem_id="export-arm")
            kinds = [(label, kind) for kind, label in text.KINDS.items()]
            kind = gr.Radio(kinds, value=KINDS[0], label=text.KIND, elem_id="export-kind")
            with gr.Row(elem_classes="actions"):
                make = gr.Button(text.MAKE, size="sm", elem_id="export-make")
            said = gr.HTML("", elem_id="export-said", apply_default_css=False)
            done = gr.HTML("", elem_id="export-ready", apply_default_css=False)

    def on_change(group_id: str, chosen: str | None) -> list[Any]:
        group = _found(store, group_id)
        runs = exportable(store, group) if group else []
        if not runs:
            sentence = f'<p class="soft">{text.NOTHING_YET}</p>' if group else ""
            return [sentence, gr.Column(visible=False), gr.Radio(choices=[], value=None), "", ""]
        ids = [run.id for run in runs]
        picked = chosen if chosen in ids else ids[0]
        kept = gr.skip() if chosen in ids else ""  # what was said is of another comparison
        choices = [(named(run, group), run.id) for run in runs]
        radio = gr.Radio(choices=choices, value=picked)
        return ["", gr.Column(visible=True), radio, kept, ready(store, group)]

    def on_make(run_id: str | None, chosen: str) -> Iterator[list[Any]]:
        if not run_id:
            yield [notice(text.PICK_ONE), gr.skip()]
            return
        try:
            run = store.get_run(run_id)
            for progress in export(store, run, chosen, archive=True):
                doing = text.DOING.format(doing=recorded.said(progress.doing))
                yield [notice(doing, "info"), gr.skip()]
            yield [notice(text.DONE, "info"), ready(store, store.get_group(run.group_id))]
        except SettingsError as error:
            yield [notice(str(error)), gr.skip()]

    changed.change(on_change, [shown, arm], [empty, form, arm, said, done], queue=False, **QUIET)
    make.click(guard.changes(on_make), [arm, kind], [said, done], concurrency_limit=2, **QUIET)
