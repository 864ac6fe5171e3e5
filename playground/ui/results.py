"""The right half of the Compare page: the widgets that show a comparison, and what they show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from playground.store import RunStore
from playground.ui import (
    arms,
    charts,
    details,
    export,
    form,
    marks,
    measured,
    panels,
    report,
    text,
)
from playground.ui.log import log
from playground.ui.watch import Scene
from playground.ui.widgets import Widgets


@dataclass(frozen=True)
class Page(Widgets):
    """The widgets that show a scene, in the order in which ``updates`` fills them."""

    shown: gr.Textbox  # the comparison's id, for what is done with it; the browser's word
    heading: gr.HTML
    again: gr.Button
    resume: gr.Button
    pause: gr.Button
    stop: gr.Button
    results: gr.Column
    progress: gr.HTML
    charts: gr.HTML
    outcome: gr.HTML
    details: gr.HTML
    memory: gr.HTML
    rounding: gr.HTML
    coverage: gr.HTML
    log: gr.HTML
    command: gr.Textbox


def updates(scene: Scene, may_change: bool = True, home: Path | None = None) -> list[Any]:
    """What each widget of the page becomes, in values that JSON has, too.

    Args:
        may_change: whether who looks may press what stops and resumes.
        home: where a person's own presets are, for the command that starts one.
    """
    group, over = scene.group, not scene.live
    return [
        scene.seen.group_id or "",
        panels.heading(scene),
        gr.update(visible=group is not None),
        gr.update(visible=scene.resumable, interactive=may_change),
        gr.update(
            value=text.PAUSING if scene.asked else text.PAUSE,
            visible=scene.live and "stop" not in scene.asked,
            interactive=may_change and not scene.asked,
        ),
        gr.update(
            value=text.STOPPING if "stop" in scene.asked else text.STOP,
            visible=scene.live,
            interactive=may_change and "stop" not in scene.asked,
        ),
        gr.update(visible=group is not None),
        arms.progress(scene),
        _charts(scene),
        panels.outcome(scene),
        details.table(scene.records, over),
        measured.memory(scene.records),
        measured.rounding(scene.records),
        details.coverage(scene.records),
        log(scene),
        form.command(group, home) if group else "",
    ]


def _charts(scene: Scene) -> dict[str, Any] | None:
    if scene.group is None:
        return None
    happened = {a.run.id: marks.of(a.run, a.last_step) for a in scene.arms}
    return charts.payload(scene.group.id, [a.record for a in scene.arms], happened)


def build(store: RunStore) -> tuple[Page, gr.HTML]:
    """Draws the widgets; call it inside ``gr.Blocks``. The second says what could not be done."""
    with gr.Row(elem_id="title-row"):
        heading = gr.HTML("", elem_id="heading", apply_default_css=False)
        again = gr.Button(text.SET_UP_AGAIN, size="sm", visible=False, elem_id="again")
        resume = gr.Button(
            text.RESUME, variant="primary", size="sm", visible=False, elem_id="resume"
        )
        pause = gr.Button(text.PAUSE, size="sm", visible=False, elem_id="pause")
        stop = gr.Button(text.STOP, variant="stop", size="sm", visible=False, elem_id="stop")
    refused = gr.HTML("", elem_id="refused", apply_default_css=False)
    shown = gr.Textbox("", visible="hidden", label="", elem_id="shown")
    with gr.Column(visible=False) as results:
        # What came of it is read first; while it runs, that is one line above the bars.
        with gr.Column(elem_classes="sheet"):
            outcome = gr.HTML("", elem_id="outcome", apply_default_css=False)
            progress = gr.HTML("", elem_id="progress", apply_default_css=False)
        with gr.Column(elem_classes="sheet"):
            drawn = charts.charts(store)
        with gr.Accordion(text.DETAILS, open=False, elem_classes="sheet fold", elem_id="details"):
            table = gr.HTML("", apply_default_css=False)
        with gr.Accordion(text.MEASURED, open=False, elem_classes="sheet fold", elem_id="measured"):
            gr.HTML(f"<h4>{text.MEMORY_HEADING}</h4>", apply_default_css=False)
            memory = gr.HTML("", apply_default_css=False)
            gr.HTML(f"<h4>{text.ROUNDING_HEADING}</h4>", apply_default_css=False)
            rounding = gr.HTML("", apply_default_css=False)
        with gr.Accordion(text.COVERAGE, open=False, elem_classes="sheet fold", elem_id="coverage"):
            coverage = gr.HTML("", apply_default_css=False)
        export.build(store, shown, heading)
        with gr.Accordion(text.LOG, open=False, elem_classes="sheet fold", elem_id="log"):
            said = gr.HTML("", apply_default_css=False)
        with gr.Column(elem_classes="sheet"):
            report.build(shown, heading)
        with gr.Column(elem_classes="sheet"):
            command = gr.Textbox(
                label=text.COMMAND,
                info=text.COMMAND_INFO,
                interactive=False,
                buttons=["copy"],
                lines=1,
                elem_id="command",
            )
    page = Page(
        shown=shown,
        heading=heading,
        again=again,
        resume=resume,
        pause=pause,
        stop=stop,
        results=results,
        progress=progress,
        charts=drawn,
        outcome=outcome,
        details=table,
        memory=memory,
        rounding=rounding,
        coverage=coverage,
        log=said,
        command=command,
    )
    return page, refused
